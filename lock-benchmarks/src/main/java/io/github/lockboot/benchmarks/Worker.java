package io.github.lockboot.benchmarks;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.locks.Lock;

import org.jspecify.annotations.Nullable;

/**
 * One application instance: a process with one contender's client, which does a round for each line it reads and answers with
 * one line. It ends with its standard input.
 */
final class Worker {

    static final String READY = "ready ";
    static final String DONE = "done ";
    static final String FAILED = "failed ";

    private Worker() {}

    /** @param args contender, host, port */
    public static void main(String[] args) throws Exception {
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try {
            Contender.Client client = Contenders.named(args[0]).connect(args[1], Integer.parseInt(args[2]));
            Lock first = client.lock("first");
            first.lock();
            first.unlock();
            System.out.println(READY);
            for (String order = orders.readLine(); order != null; order = orders.readLine()) {
                System.out.println(answerTo(client, order));
            }
        } catch (Throwable failure) {
            System.out.println(FAILED + reason(failure));
        }
        Runtime.getRuntime().halt(0);
    }

    private static String answerTo(Contender.Client client, String order) {
        try {
            return DONE + Crew.run(client, Round.parse(order)).encode();
        } catch (Throwable failure) {
            return FAILED + reason(failure);
        }
    }

    private static String reason(Throwable failure) {
        Throwable root = failure;
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            root = cause;
        }
        String text = root.getClass().getSimpleName() + ": " + firstLine(root.getMessage());
        return text.length() > 160 ? text.substring(0, 160) : text;
    }

    private static String firstLine(@Nullable String message) {
        return message == null ? "" : message.lines().findFirst().orElse("");
    }
}
