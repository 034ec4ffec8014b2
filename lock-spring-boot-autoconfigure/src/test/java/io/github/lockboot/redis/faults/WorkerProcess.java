package io.github.lockboot.redis.faults;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

import io.github.lockboot.Actor;
import io.github.lockboot.redis.faults.Event.Kind;

/** A {@link Worker} in a process of its own, started from here: told what to do, read, stopped, frozen and killed. */
final class WorkerProcess implements AutoCloseable {

    private static final Duration READY_WITHIN = Duration.ofSeconds(30);

    private final String name;
    private final Process process;
    private final PrintWriter in;
    private final Thread reader;
    private final EventLog log = new EventLog();
    private final Queue<String> otherLines = new ConcurrentLinkedQueue<>();

    private WorkerProcess(String name, Process process) {
        this.name = name;
        this.process = process;
        this.in = new PrintWriter(process.outputWriter(StandardCharsets.UTF_8), true);
        this.reader = new Thread(this::read, "read-" + name);
        reader.setDaemon(true);
        reader.start();
    }

    /** Starts the worker; {@link #awaitReady()} before it is told anything is not needed. */
    static WorkerProcess start(Worker.Setup setup) {
        List<String> command = java(Path.of(System.getProperty("java.home")), Worker.class.getName());
        command.addAll(setup.toArgs());
        return new WorkerProcess(setup.name(), launch(command));
    }

    /** The command line that runs a main class of the tests on this Java, before its arguments. */
    static List<String> java(Path home, String mainClass, String... options) {
        List<String> command =
                new ArrayList<>(List.of(home.resolve("bin/java").toString(), "-Xmx192m", "-XX:+UseSerialGC"));
        command.addAll(List.of(options));
        command.addAll(List.of(
                "-cp",
                System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                mainClass));
        return command;
    }

    static Process launch(List<String> command) {
        try {
            return new ProcessBuilder(command).redirectErrorStream(true).start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    WorkerProcess awaitReady() {
        await("ready", READY_WITHIN, () -> otherLines.contains(Worker.READY));
        return this;
    }

    /** Waits for a line of output that is no event, such as one that tells of an exception. */
    void awaitSaid(String part) {
        await(part, READY_WITHIN, () -> otherLines.stream().anyMatch(line -> line.contains(part)));
    }

    long pid() {
        return process.pid();
    }

    /** One line as {@link Worker} understands it. */
    void tell(String line) {
        in.println(line);
    }

    Collection<Event> events() {
        return log.events();
    }

    /** The first event that matches, once it is there. */
    Event await(Duration atMost, Kind kind, Predicate<Event> which) {
        await(kind.toString(), atMost, () -> find(kind, which).isPresent());
        return find(kind, which).orElseThrow();
    }

    /** Waits for something it does; when it does not, the failure tells what it did. */
    void await(String what, Duration atMost, BooleanSupplier condition) {
        try {
            Actor.await(what, atMost, condition);
        } catch (AssertionError late) {
            throw new AssertionError(late.getMessage() + " by " + this, late);
        }
    }

    Event await(Duration atMost, Kind kind) {
        return await(atMost, kind, event -> true);
    }

    Optional<Event> find(Kind kind, Predicate<Event> which) {
        return log.events().stream()
                .filter(event -> event.is(kind))
                .filter(which)
                .findFirst();
    }

    /** SIGKILL; returns when the process is gone. */
    void kill() {
        process.destroyForcibly();
        try {
            process.waitFor(10, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
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
            int status =
                    new ProcessBuilder("kill", "-" + signal, "" + pid()).start().waitFor();
            if (status != 0) {
                throw new IllegalStateException("no SIG" + signal + " to " + this);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Kills it and reads what is left of its output. */
    @Override
    public void close() {
        kill();
        try {
            reader.join(TimeUnit.SECONDS.toMillis(10));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
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
        return "worker " + name + " (pid " + pid() + ", said " + otherLines + ", did last " + last.values() + ")";
    }
}
