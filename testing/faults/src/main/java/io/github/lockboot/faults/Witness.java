package io.github.lockboot.faults;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The resource that the locks guard, outside Redis: a list per lock that holders read, change and write back, so that
 * two who do so at once lose items. Writes with a token older than the newest seen are refused, as the resource of a
 * careful application does. Jepsen's set test: every item whose adding was acknowledged has to stay.
 */
final class Witness implements AutoCloseable {

    /** What became of the list of one lock. */
    static final class Account {

        private long length;
        private long newestToken;
        private long accepted;
        private long lost;
        private long disturbed;
        private long refused;

        private synchronized long read(long token) {
            if (isStale(token)) {
                return WitnessClient.REFUSED;
            }
            return length;
        }

        private synchronized long write(long token, long read) {
            if (isStale(token)) {
                refused++;
                return WitnessClient.REFUSED;
            }
            lost += Math.max(0, length - read);
            length = read + 1;
            accepted++;
            return length;
        }

        private synchronized long look(long token, long read) {
            if (isStale(token)) {
                return WitnessClient.REFUSED;
            }
            disturbed += length == read ? 0 : 1;
            return length;
        }

        private boolean isStale(long token) {
            if (token == 0) {
                return false;
            }
            boolean stale = token < newestToken;
            newestToken = Math.max(newestToken, token);
            return stale;
        }

        /** What one who was alone, or a reader among readers, could not have seen or done; a sentence each. */
        synchronized List<String> complaints() {
            List<String> complaints = new ArrayList<>();
            if (lost > 0) {
                complaints.add(lost + " of " + accepted + " acknowledged writes were lost");
            }
            if (disturbed > 0) {
                complaints.add(disturbed + " looks showed what another wrote meanwhile");
            }
            return complaints;
        }

        /** Items that were acknowledged. */
        synchronized long accepted() {
            return accepted;
        }

        /** Items that were acknowledged and are gone, because somebody wrote the list back without them. */
        synchronized long lost() {
            return lost;
        }

        /** Writes that were refused for their token. */
        synchronized long refused() {
            return refused;
        }
    }

    private final ServerSocket listener;
    private final Map<String, Account> accounts = new ConcurrentHashMap<>();

    Witness() {
        try {
            listener = new ServerSocket(0, 100, InetAddress.getByName("127.0.0.1"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        daemon(this::acceptAll);
    }

    int port() {
        return listener.getLocalPort();
    }

    Account account(String lock) {
        return accounts.computeIfAbsent(lock, l -> new Account());
    }

    @Override
    public void close() {
        try {
            listener.close();
        } catch (IOException ignored) {
            // It accepts no more, which is all that is wanted.
        }
    }

    private void acceptAll() {
        while (!listener.isClosed()) {
            try {
                Socket client = listener.accept();
                client.setTcpNoDelay(true);
                daemon(() -> serve(client));
            } catch (IOException closed) {
                return;
            }
        }
    }

    private void serve(Socket client) {
        try (client;
                BufferedReader in =
                        new BufferedReader(new InputStreamReader(client.getInputStream(), StandardCharsets.UTF_8));
                PrintWriter out = new PrintWriter(client.getOutputStream(), false, StandardCharsets.UTF_8)) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                String[] words = line.split(" ");
                Account account = account(words[1]);
                long token = Long.parseLong(words[2]);
                out.println(
                        switch (words[0]) {
                            case "read" -> account.read(token);
                            case "look" -> account.look(token, Long.parseLong(words[3]));
                            default -> account.write(token, Long.parseLong(words[3]));
                        });
                out.flush();
            }
        } catch (IOException ended) {
            // The process of the client was killed.
        }
    }

    private static void daemon(Runnable task) {
        Thread thread = new Thread(task, "witness");
        thread.setDaemon(true);
        thread.start();
    }
}
