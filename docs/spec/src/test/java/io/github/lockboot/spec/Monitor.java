package io.github.lockboot.spec;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import io.github.lockboot.fixture.Await;
import io.github.lockboot.fixture.RedisServer;

/** Notes all that a server runs, with the calls of scripts, by MONITOR. */
final class Monitor implements AutoCloseable {

    private static final String END = "the end";

    private final RedisServer server;
    private final Socket socket;
    private final Thread reader;
    private final List<String> lines = new ArrayList<>();

    Monitor(RedisServer server) {
        this.server = server;
        try {
            socket = new Socket(server.host(), server.port());
            socket.getOutputStream().write("MONITOR\r\n".getBytes(StandardCharsets.US_ASCII));
            BufferedReader in =
                    new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
            if (!"+OK".equals(in.readLine())) {
                throw new IllegalStateException("MONITOR is refused");
            }
            reader = new Thread(() -> read(in), "monitor");
            reader.start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void read(BufferedReader in) {
        try {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                synchronized (lines) {
                    lines.add(line);
                }
            }
        } catch (IOException closed) {
            // By close().
        }
    }

    /** Returns once so many more scripts ran on keys with this in their names. */
    void awaitRuns(String name, int more) {
        int begin = lines(0).size();
        Await.until(
                more + " more runs on " + name,
                () -> lines(begin).stream()
                                .filter(line -> line.contains("\"EVALSHA\"") && line.contains("\"lock:" + name))
                                .count()
                        >= more);
    }

    /** {@return all that ran up to now} */
    List<String> all() {
        int begin = lines(0).size();
        server.command("ECHO", END);
        Await.until("the end is shown", () -> lines(begin).stream().anyMatch(line -> line.contains(END)));
        return lines(0);
    }

    private List<String> lines(int begin) {
        synchronized (lines) {
            return List.copyOf(lines.subList(begin, lines.size()));
        }
    }

    @Override
    public void close() {
        try {
            socket.close();
            reader.join();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
