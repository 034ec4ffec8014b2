package io.github.lockboot.faults;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

import io.github.lockboot.faults.Event.Kind;
import io.github.lockboot.fixture.Await;
import org.jspecify.annotations.Nullable;

/** A {@link Worker} in a process of its own, started from here: told what to do, read, stopped, frozen and killed. */
final class WorkerProcess implements AutoCloseable {

    private static final Duration READY_WITHIN = Duration.ofSeconds(60);

    private final Worker.Setup setup;
    private final Process process;
    private final PrintWriter in;
    private final Thread reader;
    private final EventLog log = new EventLog();
    private final Queue<String> otherLines = new ConcurrentLinkedQueue<>();
    private volatile boolean usable = true;

    private WorkerProcess(Worker.Setup setup, Process process) {
        this.setup = setup;
        this.process = process;
        this.in = new PrintWriter(process.outputWriter(StandardCharsets.UTF_8), true);
        this.reader = new Thread(this::read, "read-" + setup.name());
        reader.setDaemon(true);
        reader.start();
    }

    /** Starts the worker; {@link #awaitReady()} before it is told anything is not needed. */
    static WorkerProcess start(Worker.Setup setup) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                Worker.class.getName()));
        command.addAll(setup.toArgs());
        try {
            return new WorkerProcess(
                    setup, new ProcessBuilder(command).redirectErrorStream(true).start());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    String name() {
        return setup.name();
    }

    Worker.Setup setup() {
        return setup;
    }

    WorkerProcess awaitReady() {
        awaitSaid(Worker.READY, READY_WITHIN);
        return this;
    }

    /** Waits for a line of output that is no event and begins so. */
    String awaitSaid(String beginning, Duration atMost) {
        Await.until(atMost, () -> said(beginning) != null, () -> "\"" + beginning + "\" was not said by " + this);
        return String.valueOf(said(beginning));
    }

    private @Nullable String said(String beginning) {
        return otherLines.stream()
                .filter(line -> line.startsWith(beginning))
                .findFirst()
                .orElse(null);
    }

    /** One line as {@link Worker} understands it. */
    void tell(String line) {
        in.println(line);
    }

    EventLog log() {
        return log;
    }

    /** The first event that matches, once it is there. */
    Event await(Duration atMost, Kind kind, Predicate<Event> which) {
        Await.until(atMost, () -> log.find(kind, which) != null, () -> "no " + kind + " by " + this);
        Event found = log.find(kind, which);
        if (found == null) {
            throw new IllegalStateException("the log was forgotten meanwhile");
        }
        return found;
    }

    /** Forgets what it did and said so far. */
    void forget() {
        log.forget();
        otherLines.removeIf(line -> !line.equals(Worker.READY));
    }

    /** Whether it lives and was neither killed nor closed. */
    boolean isUsable() {
        return usable && process.isAlive();
    }

    /** SIGKILL; returns when the process is gone and its log is read to the end. */
    void kill() {
        usable = false;
        process.destroyForcibly();
        try {
            process.waitFor(10, TimeUnit.SECONDS);
            reader.join(TimeUnit.SECONDS.toMillis(10));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Has it shut down its locks in order; the process stays. */
    void beginClosing() {
        usable = false;
        tell(Worker.AT_ONCE + " close");
    }

    /** SIGSTOP. */
    void pause() {
        signal("STOP");
    }

    /** SIGCONT. */
    void resume() {
        signal("CONT");
    }

    private void signal(String signal) {
        try {
            int status = new ProcessBuilder("kill", "-" + signal, "" + process.pid())
                    .start()
                    .waitFor();
            if (status != 0) {
                throw new IllegalStateException("no SIG" + signal + " to " + this);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        kill();
    }

    private void read() {
        try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (Event.isLine(line)) {
                    log.accept(Event.parse(line));
                } else {
                    otherLines.add(line);
                }
            }
        } catch (IOException ended) {
            otherLines.add("reading ended: " + ended);
        }
    }

    /** With the last thing each of its threads did, for a failure to show. */
    @Override
    public String toString() {
        Map<String, Event> last = new TreeMap<>();
        log.events().forEach(event -> last.put(event.actor(), event));
        List<String> said = otherLines.stream().limit(10).toList();
        return "worker " + name() + " of " + setup.contestant().title() + " (pid " + process.pid() + ", said " + said
                + ", did last " + last.values() + ")";
    }
}
