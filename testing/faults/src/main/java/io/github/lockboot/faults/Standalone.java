package io.github.lockboot.faults;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

import io.github.lockboot.fixture.RedisBinary;
import io.github.lockboot.fixture.RedisClock;
import io.github.lockboot.fixture.RedisProbe;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.fixture.TcpProxy;
import io.github.lockboot.harness.RedisAddress;
import org.jspecify.annotations.Nullable;

/** One server; each worker reaches it through a proxy of its own. */
final class Standalone implements Deployment {

    private static final List<String> DURABLE = List.of("--appendonly", "yes", "--appendfsync", "always");

    private static final String USER = "locks";

    private final @Nullable RedisClock clock;
    private final RedisServer server;
    private final List<TcpProxy> proxies = new ArrayList<>();
    private Duration fromTrueTime = Duration.ZERO;
    private @Nullable String password;

    private Standalone(@Nullable RedisClock clock, List<String> args) {
        this.clock = clock;
        RedisBinary program = clock == null ? RedisBinary.find() : clock.program();
        server = RedisServer.builder()
                .binary(program)
                .args(args.toArray(String[]::new))
                .start();
    }

    /** A server that keeps nothing. */
    static Standalone inMemory() {
        return new Standalone(null, List.of());
    }

    /** A server that has every write on disk before it answers. */
    static Standalone durable() {
        return new Standalone(null, DURABLE);
    }

    /** A server that may be told to sleep. */
    static Standalone debuggable() {
        return new Standalone(null, debugging());
    }

    /** A server that the processes log in to, as a user whose password can change. */
    static Standalone withUser() {
        Standalone redis = inMemory();
        redis.command("ACL", "SETUSER", USER, "on", "~*", "&*", "+@all");
        redis.addPassword();
        return redis;
    }

    /** A server with a wall clock of its own. */
    static Standalone clocked() {
        return new Standalone(
                RedisClock.of(RedisBinary.find())
                        .orElseThrow(() ->
                                new NotHereException("it needs Linux, a C compiler and a dynamically linked Redis;"
                                        + " SimulationTests has clocks that step, too")),
                List.of());
    }

    /**
     * A server to which all can happen that happens to one server; with a clock of its own only where that can be had.
     */
    static Standalone forEverything() {
        List<String> args = new ArrayList<>(DURABLE);
        args.addAll(debugging());
        return new Standalone(RedisClock.of(RedisBinary.find()).orElse(null), args);
    }

    private static List<String> debugging() {
        boolean asksForIt = !RedisBinary.find().version().startsWith("6.");
        return asksForIt ? List.of("--enable-debug-command", "local") : List.of();
    }

    RedisServer server() {
        return server;
    }

    boolean hasClock() {
        return clock != null;
    }

    /** Has its clock step from where it is. */
    synchronized void step(Duration by) {
        if (clock == null) {
            throw new IllegalStateException("it has the clock of this machine");
        }
        fromTrueTime = fromTrueTime.plus(by);
        clock.step(fromTrueTime);
    }

    /** Gives the user another password, beside those that it has; whoever connects from now on is to use it. */
    synchronized void addPassword() {
        password = "secret-" + System.nanoTime();
        command("ACL", "SETUSER", USER, ">" + password);
    }

    /** Leaves the user only the newest password, and kills all its connections. */
    synchronized void endOldPasswords() {
        command("ACL", "SETUSER", USER, "resetpass", ">" + password);
        command("CLIENT", "KILL", "USER", USER);
    }

    /** Kills the server, and deletes what it has on disk. */
    void killWithItsData() {
        Path folder =
                Path.of(String.valueOf(server.command("CONFIG", "GET", "dir")).replaceAll("^\\[dir, |]$", ""));
        server.kill();
        try (Stream<Path> files = Files.walk(folder)) {
            files.filter(file -> folder.relativize(file).toString().startsWith("appendonly"))
                    .sorted(Comparator.reverseOrder())
                    .forEach(Standalone::delete);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void delete(Path file) {
        try {
            Files.delete(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A command past the proxies. */
    @Nullable
    Object command(String... words) {
        try (RedisProbe probe = server.probe()) {
            return probe.command(words);
        }
    }

    /** What the worker of that number reaches Redis through. */
    synchronized TcpProxy proxy(int worker) {
        while (proxies.size() <= worker) {
            proxies.add(TcpProxy.to(server));
        }
        return proxies.get(worker);
    }

    @Override
    public synchronized RedisAddress address(int worker) {
        RedisAddress address =
                RedisAddress.standalone(proxy(worker).host(), proxy(worker).port());
        return password == null ? address : address.as(USER, password);
    }

    @Override
    public RedisServer serverOf(String key) {
        return server;
    }

    @Override
    public List<RedisServer> masters() {
        return List.of(server);
    }

    @Override
    public void close() {
        proxies.forEach(TcpProxy::close);
        server.close();
        if (clock != null) {
            clock.close();
        }
    }
}
