package io.github.lockboot.benchmarks;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A {@link Worker} as the process that started it sees it. */
final class WorkerProcess implements AutoCloseable {

    private static final long READY_WITHIN_MILLIS = 30_000;

    private final Process process;
    private final Writer orders;
    private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();

    private WorkerProcess(Process process) {
        this.process = process;
        this.orders = process.outputWriter(StandardCharsets.UTF_8);
        Thread reader = new Thread(this::readAnswers, "worker-" + process.pid());
        reader.setDaemon(true);
        reader.start();
    }

    /** Starts one; it answers {@link Worker#READY} when it has connected. */
    static WorkerProcess start(Path jdk, Contender contender, String host, int port) throws IOException {
        List<String> command = List.of(
                jdk.resolve("bin").resolve("java").toString(),
                "-XX:+UseSerialGC",
                "-Xmx1g",
                "-cp",
                System.getProperty("java.class.path"),
                Worker.class.getName(),
                contender.name(),
                host,
                Integer.toString(port));
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        return new WorkerProcess(process);
    }

    void awaitReady() throws InterruptedException, FailedException {
        answerWithin(READY_WITHIN_MILLIS, Worker.READY);
    }

    void order(Round round) {
        try {
            orders.write(round.encode() + "\n");
            orders.flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    Sample sampleWithin(long millis) throws InterruptedException, FailedException {
        return Sample.parse(answerWithin(millis, Worker.DONE));
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }

    private String answerWithin(long millis, String expected) throws InterruptedException, FailedException {
        String answer = answers.poll(millis, TimeUnit.MILLISECONDS);
        if (answer == null) {
            throw new FailedException("not done within " + millis / 1_000 + " s");
        }
        if (!answer.startsWith(expected)) {
            throw new FailedException(
                    answer.startsWith(Worker.FAILED) ? answer.substring(Worker.FAILED.length()) : answer);
        }
        return answer.substring(expected.length());
    }

    private void readAnswers() {
        try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (line.startsWith(Worker.READY) || line.startsWith(Worker.DONE) || line.startsWith(Worker.FAILED)) {
                    answers.add(line);
                }
            }
        } catch (IOException ended) {
            // As the end of its output: it is gone.
        }
        answers.add(Worker.FAILED + "the process ended");
    }

    /** A contender that could not do what was asked. */
    static final class FailedException extends Exception {

        private static final long serialVersionUID = 1L;

        FailedException(String reason) {
            super(reason);
        }
    }
}
