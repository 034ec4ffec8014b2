package io.github.lockboot.faults;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.LongSupplier;

import io.github.lockboot.fixture.RedisServer;

/**
 * Lets a server answer no more than so much in a time: when it has answered more, SIGSTOP stops it until it may answer
 * the next tenth of a second's. What it does not use is not saved up. It counts answers rather than time, so the
 * machine makes no difference.
 */
final class Throttle implements AutoCloseable {

    private static final long PERIOD_NANOS = Duration.ofMillis(100).toNanos();
    private static final long LOOKS_AGAIN_NANOS = Duration.ofMillis(1).toNanos();

    private final LongSupplier answered;
    private final Process shell;
    private final PrintWriter signals;
    private final Thread thread = new Thread(this::run, "throttle");
    private final double rate;
    private volatile boolean closed;

    /**
     * @param answered how much the server has answered so far
     * @param rate what it may answer in a nanosecond
     */
    Throttle(RedisServer server, LongSupplier answered, double rate) {
        this.answered = answered;
        this.rate = rate;
        try {
            // Its kill is no process of its own. When this process ends, the server goes on.
            String script =
                    "while read signal; do kill -$signal " + server.pid() + "; done; kill -CONT " + server.pid();
            shell = new ProcessBuilder("sh", "-c", script)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        signals = new PrintWriter(shell.outputWriter(StandardCharsets.US_ASCII), true);
        thread.start();
    }

    private void run() {
        double atOnce = rate * PERIOD_NANOS;
        double left = atOnce;
        boolean stopped = false;
        long time = System.nanoTime();
        long before = answered.getAsLong();
        while (!closed) {
            Pause.nanos(stopped ? (long) ((atOnce - left) / rate) : LOOKS_AGAIN_NANOS);
            long now = System.nanoTime();
            long soFar = answered.getAsLong();
            left = Math.min(atOnce, left + rate * (now - time) - (soFar - before));
            time = now;
            before = soFar;
            if (stopped != left < 0) {
                stopped = !stopped;
                signals.println(stopped ? "STOP" : "CONT");
            }
        }
    }

    /** The server answers as it can again. */
    @Override
    public void close() {
        closed = true;
        try {
            thread.join();
            signals.close();
            shell.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
