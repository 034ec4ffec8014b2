package io.github.lockboot.benchmarks;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;

import io.github.lockboot.fixture.RedisServer;

/** A connection that listens to channels, and throws away what it hears. */
final class Listener implements AutoCloseable {

    private final Socket socket;

    private Listener(Socket socket) {
        this.socket = socket;
    }

    static Listener on(RedisServer server, String command, List<String> channels) {
        try {
            Socket socket = new Socket(server.host(), server.port());
            String line = command + " " + String.join(" ", channels) + "\r\n";
            socket.getOutputStream().write(line.getBytes(StandardCharsets.US_ASCII));
            InputStream in = socket.getInputStream();
            Thread reader = new Thread(() -> drain(in));
            reader.setDaemon(true);
            reader.start();
            return new Listener(socket);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void drain(InputStream in) {
        byte[] heard = new byte[1 << 16];
        try {
            while (in.read(heard) >= 0) {}
        } catch (IOException closed) {
            // at the end
        }
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
