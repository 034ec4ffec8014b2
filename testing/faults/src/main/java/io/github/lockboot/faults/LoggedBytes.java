package io.github.lockboot.faults;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

import io.github.lockboot.harness.Worker;

/** Counts what a process logs on its standard output, between the lines by which it answers. */
final class LoggedBytes {

    /** So much is left to be shown, if something fails. */
    private static final long SHOWN = 4_000;

    private final List<String> answers;
    private final AtomicLong count = new AtomicLong();

    /** @param answers the beginnings of further lines that are not its log */
    LoggedBytes(List<String> answers) {
        this.answers = new ArrayList<>(answers);
        this.answers.addAll(List.of(Worker.READY, Worker.FAILED));
    }

    /** Whether the line is of the log, and more than is to be shown of it. */
    boolean takes(String line) {
        return answers.stream().noneMatch(line::startsWith)
                && count.addAndGet(line.getBytes(StandardCharsets.UTF_8).length + 1L) > SHOWN;
    }

    long count() {
        return count.get();
    }

    void forget() {
        count.set(0);
    }
}
