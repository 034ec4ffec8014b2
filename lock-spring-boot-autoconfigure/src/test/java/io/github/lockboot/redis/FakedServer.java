package io.github.lockboot.redis;

import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;

import io.github.lockboot.Actor;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.NamedLock;
import io.github.lockboot.fixture.FakeRedis;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.redis.protocol.LuaScript;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** A fake before a real server, an application instance that sees the fake, and one that does not; closed together. */
public final class FakedServer implements AutoCloseable {

    public static final Duration COMMAND_TIMEOUT = Duration.ofMillis(500);
    public static final Duration TTL = Duration.ofSeconds(3);
    public static final Duration SLACK = Duration.ofSeconds(4);

    public final FakeRedis fake;
    public final RedisLockRegistry registry;

    /** Sees the fake, too, and does not give up an answer that a busy machine owes. */
    public final RedisLockRegistry patient;

    public final RedisLockRegistry other;
    private final RedisServer server;
    private final TestRegistries registries;
    private final TestRegistries others;

    /** The server is emptied. */
    public FakedServer(RedisServer server) {
        this.server = server;
        server.command("FLUSHALL");
        fake = FakeRedis.before(server);
        registries = TestRegistries.at(fake.host(), fake.port());
        registry = registries.registry(FakedServer::quick);
        patient = registries.registry(
                builder -> builder.commandTimeout(Duration.ofSeconds(10)).retryInterval(Duration.ofMillis(200)));
        others = TestRegistries.on(server);
        other = others.registry();
        Actor.await("connected", () -> canLock(registry));
    }

    public static RedisLockRegistry.Builder quick(RedisLockRegistry.Builder builder) {
        return builder.commandTimeout(COMMAND_TIMEOUT)
                .retryInterval(Duration.ofMillis(200))
                .defaults(LockOptions.defaults().withTtl(TTL));
    }

    public static boolean canLock(RedisLockRegistry registry) {
        NamedLock lock = registry.get("connecting");
        try {
            if (!lock.tryLock()) {
                return false;
            }
            lock.unlock();
            return true;
        } catch (LockUnavailableException notYet) {
            return false;
        }
    }

    /** The commands that run this script on that lock. */
    public static Predicate<List<String>> script(LuaScript script, String name) {
        return anyScript(name)
                .and(command -> command.get(1).equals(script.getSha1())
                        || command.get(1).equals(script.getScriptAsString()));
    }

    public static Predicate<List<String>> anyScript(String name) {
        return command -> command.size() > 4 && command.get(3).equals("lock:" + name);
    }

    public static Duration timeUntilUnavailable(Actor.Step step) {
        long start = System.nanoTime();
        assertThatThrownBy(step::run).isInstanceOf(LockUnavailableException.class);
        return Duration.ofNanos(System.nanoTime() - start);
    }

    /** Of a try that may come out either way. */
    public static Duration timeOfTry(NamedLock lock) {
        long start = System.nanoTime();
        try {
            if (lock.tryLock()) {
                lock.unlock();
            }
        } catch (LockUnavailableException unavailable) {
            // It may be.
        }
        return Duration.ofNanos(System.nanoTime() - start);
    }

    public boolean exists(String name) {
        return server.command("EXISTS", "lock:" + name).equals(1L);
    }

    public void awaitFree(String name) {
        Actor.await(name + " is free", Duration.ofSeconds(10), () -> !exists(name));
    }

    public void awaitNothingLeft() {
        Actor.await(
                "nothing in use",
                () -> registry.inspector().inUse() + patient.inspector().inUse() == 0);
        Actor.await("no key is left", () -> server.command("DBSIZE").equals(0L));
    }

    @Override
    public void close() {
        fake.pass();
        registries.close();
        others.close();
        fake.close();
    }
}
