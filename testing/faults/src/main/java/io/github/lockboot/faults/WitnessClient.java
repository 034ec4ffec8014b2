package io.github.lockboot.faults;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** What one thread writes under a lock: a list at the {@link Witness}, read, changed and written back. */
final class WitnessClient {

    /** The answer to one whose token is older than another that was seen. */
    static final long REFUSED = -1;

    private final PrintWriter out;
    private final BufferedReader in;

    WitnessClient(int port) {
        try {
            Socket socket = new Socket(InetAddress.getByName("127.0.0.1"), port);
            socket.setTcpNoDelay(true);
            out = new PrintWriter(socket.getOutputStream(), false, StandardCharsets.UTF_8);
            in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** How many items are in the list of that lock, or {@link #REFUSED}. */
    long read(String lock, long token) {
        return ask("read " + lock + " " + token);
    }

    /**
     * Writes the list back as it was read, with one item more.
     *
     * @param length what was read
     * @return how many items are in it then, or {@link #REFUSED}
     */
    long write(String lock, long token, long length) {
        return ask("write " + lock + " " + token + " " + length);
    }

    /**
     * Looks whether the list is still as it was read.
     *
     * @param length what was read
     * @return how many items are in it, or {@link #REFUSED}
     */
    long look(String lock, long token, long length) {
        return ask("look " + lock + " " + token + " " + length);
    }

    private long ask(String question) {
        try {
            out.println(question);
            out.flush();
            String answer = in.readLine();
            if (answer == null) {
                throw new IOException("the witness is gone");
            }
            return Long.parseLong(answer);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
