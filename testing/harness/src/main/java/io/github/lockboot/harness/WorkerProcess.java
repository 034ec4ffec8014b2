package io.github.lockboot.harness;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/** A {@link Worker} as the process that started it sees it: told lines, heard, frozen and killed. */
public class WorkerProcess implements AutoCloseable {

    private static final Duration READY_WITHIN = Duration.ofSeconds(120);
    private static final long GONE_WITHIN_MILLIS = 60_000;

    /** Those that run: one that is frozen, or that connects, would outlive this process. */
    private static final Set<Process> RUNNING = ConcurrentHashMap.newKeySet();

    private static volatile boolean ending;

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(WorkerProcess::killAll, "workers-exit"));
    }

    private final Process process;
    private final PrintWriter in;
    private final BlockingQueue<String> said = new LinkedBlockingQueue<>();
    private final Thread reader;

    /**
     * Starts it, without waiting until it is ready.
     *
     * @param jdk its home
     * @param options of the JVM
     * @param main whose main method runs the worker
     * @param args of that method
     * @param takes each line the worker says; those for which it answers false can be waited for
     */
    public WorkerProcess(Path jdk, List<String> options, Class<?> main, List<String> args, Predicate<String> takes) {
        this(
                jdk,
                options,
                System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                main,
                args,
                takes);
    }

    /** The same with another class path than that of this process. */
    public WorkerProcess(
            Path jdk,
            List<String> options,
            String classPath,
            Class<?> main,
            List<String> args,
            Predicate<String> takes) {
        List<String> command =
                new ArrayList<>(List.of(jdk.resolve("bin").resolve("java").toString()));
        command.addAll(options);
        command.add("-cp");
        command.add(classPath);
        command.add(main.getName());
        command.addAll(args);
        try {
            process = new ProcessBuilder(command).redirectErrorStream(true).start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        RUNNING.add(process);
        if (ending) {
            killAll();
        }
        in = new PrintWriter(process.outputWriter(StandardCharsets.UTF_8), true);
        reader = reader(process, takes, said);
        reader.start();
    }

    private static void killAll() {
        ending = true;
        RUNNING.forEach(Process::destroyForcibly);
    }

    /** Waits until it has connected. */
    public void awaitReady() {
        awaitSaid(Worker.READY, READY_WITHIN);
    }

    /**
     * Waits for a line that begins so; lines before it are forgotten.
     *
     * @return the rest of that line
     * @throws FailedException if the worker says that it failed, ends, or says nothing in time
     */
    public String awaitSaid(String beginning, Duration atMost) {
        long end = System.nanoTime() + atMost.toNanos();
        try {
            while (true) {
                String line = said.poll(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
                if (line == null) {
                    throw new FailedException("not " + beginning.strip() + " within " + atMost.toSeconds() + " s");
                } else if (line.startsWith(Worker.FAILED)) {
                    throw new FailedException(line.substring(Worker.FAILED.length()));
                } else if (line.startsWith(beginning)) {
                    return line.substring(beginning.length());
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new FailedException("interrupted");
        }
    }

    /** Gives it one line of input. */
    public void tell(String order) {
        in.println(order);
    }

    /** Forgets what it said so far. */
    public void forget() {
        said.clear();
    }

    public boolean isAlive() {
        return process.isAlive();
    }

    /** SIGKILL; does not wait until the process is gone. */
    public void beginKill() {
        process.destroyForcibly();
    }

    /** SIGKILL; returns when the process is gone and what it said is read to the end. */
    public void kill() {
        beginKill();
        try {
            process.waitFor(GONE_WITHIN_MILLIS, TimeUnit.MILLISECONDS);
            RUNNING.remove(process);
            reader.join(GONE_WITHIN_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** SIGSTOP. */
    public void pause() {
        signal("STOP");
    }

    /** SIGCONT. */
    public void resume() {
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

    /** With what it said that nobody waited for, for a failure to show. */
    @Override
    public String toString() {
        return "pid " + process.pid() + ", said " + said.stream().limit(10).toList();
    }

    private static Thread reader(Process process, Predicate<String> takes, BlockingQueue<String> said) {
        Thread reader = new Thread(
                () -> {
                    try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
                        lines.lines().filter(takes.negate()).forEach(said::add);
                    } catch (IOException | UncheckedIOException ended) {
                        // As the end of its output: it is gone.
                    }
                    said.add(Worker.FAILED + "the process ended");
                },
                "worker-" + process.pid());
        reader.setDaemon(true);
        return reader;
    }

    /** A worker that did not do what it was told. */
    public static final class FailedException extends IllegalStateException {

        private static final long serialVersionUID = 1L;

        public FailedException(String reason) {
            super(reason);
        }
    }
}
