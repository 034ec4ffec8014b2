package io.github.lockboot.spec;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;

import io.github.lockboot.fixture.Await;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.fixture.TcpProxy;

/** Processes that use locks, each through a proxy of its own. */
final class Fleet implements AutoCloseable {

    private final RedisServer server;
    private final String classPath;
    private final List<Member> members = new ArrayList<>();
    private final Set<String> scripts = new ConcurrentSkipListSet<>();
    private String names = "";
    private int started;

    Fleet(RedisServer server, String classPath, int size) {
        this.server = server;
        this.classPath = classPath;
        for (int i = 0; i < size; i++) {
            members.add(new Member());
        }
        members.forEach(Member::awaitReady);
    }

    /** Lines {@code script <name> <SHA-1>}. */
    Set<String> scripts() {
        return scripts;
    }

    Member member(int index) {
        return members.get(index);
    }

    void use(List<String> locks) {
        names = String.join(" ", locks);
        members.forEach(Member::use);
    }

    void signal(String signal) {
        members.forEach(member -> member.signal(signal));
    }

    /** Kills a member and starts another in its place. */
    void replace(int index) {
        members.get(index).close();
        members.set(index, new Member());
        members.get(index).awaitReady();
        members.get(index).use();
    }

    @Override
    public void close() {
        members.forEach(Member::close);
    }

    final class Member {

        private final TcpProxy proxy = TcpProxy.to(server);
        private final Process process;
        private volatile boolean ready;

        private Member() {
            try {
                process = new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java")
                                        .toString(),
                                "-XX:TieredStopAtLevel=1",
                                "-XX:+UseSerialGC",
                                "-Xmx128m",
                                "-cp",
                                classPath,
                                FleetMember.class.getName(),
                                proxy.host(),
                                "" + proxy.port(),
                                "" + started++)
                        .redirectErrorStream(true)
                        .start();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            Thread reader = new Thread(this::read);
            reader.setDaemon(true);
            reader.start();
        }

        private void read() {
            try (BufferedReader in = process.inputReader(StandardCharsets.UTF_8)) {
                for (String line = in.readLine(); line != null; line = in.readLine()) {
                    if (line.startsWith("script ")) {
                        scripts.add(line);
                    } else if (line.equals("ready")) {
                        ready = true;
                    } else {
                        System.out.println(line);
                    }
                }
            } catch (IOException gone) {
                // It was killed.
            }
        }

        private void awaitReady() {
            Await.until("the process is ready", () -> ready || !process.isAlive());
            if (!ready) {
                throw new IllegalStateException("the process ended");
            }
        }

        private void use() {
            try {
                process.outputWriter().write(names + "\n");
                process.outputWriter().flush();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        TcpProxy proxy() {
            return proxy;
        }

        /** SIGSTOP, or SIGCONT. */
        void signal(String signal) {
            try {
                new ProcessBuilder("kill", "-" + signal, "" + process.pid())
                        .start()
                        .waitFor();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        private void close() {
            process.destroyForcibly();
            process.onExit().join();
            proxy.close();
        }
    }
}
