package io.github.lockboot;

import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BiConsumer;

import io.github.lockboot.fixture.Await;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.memory.MemoryLockRegistry;
import io.github.lockboot.redis.RedisLockRegistry;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A container replaces an application and keeps its threads. What such a thread has done with locks must not keep the
 * class loader of the application, and with it all its classes.
 */
class UndeployTests {

    /** What a thread of the container leaves behind when the application ends. */
    enum Left {
        NOTHING {
            @Override
            void leave(NamedLock lock) {
                lock.lock();
                lock.unlock();
            }
        },
        /** By the usual way to release a lock only if it is held. */
        A_LOST_LOCK {
            @Override
            void leave(NamedLock lock) {
                lock.lock();
                Actor.await("it is lost", () -> !lock.isHeldByCurrentThread());
            }

            @Override
            LockOptions options() {
                return LockOptions.defaults().withTtl(LockOptions.MIN_TTL).withoutRenewal();
            }
        },
        A_HELD_LOCK {
            @Override
            void leave(NamedLock lock) {
                lock.lock();
            }
        },
        A_LOCK_THAT_WAS_CLOSED_LATER {
            @Override
            void leave(NamedLock lock) {
                lock.lock();
                lock.asLease().closeAfter(Duration.ofMillis(50)).join();
            }
        };

        abstract void leave(NamedLock lock);

        LockOptions options() {
            return LockOptions.defaults().withTtl(Duration.ofSeconds(2));
        }
    }

    /** Loaded anew for each application. */
    public static final class Application implements BiConsumer<String, @Nullable RedisConnectionFactory> {

        @Override
        public void accept(String left, @Nullable RedisConnectionFactory redis) {
            if (redis != null) {
                try (RedisLockRegistry registry = RedisLockRegistry.builder(redis)
                        .commandTimeout(Duration.ofSeconds(20))
                        .build()) {
                    leave(Left.valueOf(left), registry);
                }
            } else {
                try (MemoryLockRegistry registry = new MemoryLockRegistry()) {
                    leave(Left.valueOf(left), registry);
                }
            }
        }

        private static void leave(Left left, LockRegistry registry) {
            left.leave(registry.get("left " + left, left.options()));
        }
    }

    /** The JDK keeps the last record that was compared. */
    private record OtherRecord(String text) {}

    private final Map<String, WeakReference<ClassLoader>> undeployed = new LinkedHashMap<>();

    @Test
    void noThreadOfTheContainerKeepsTheClassLoaderOfAnApplicationThatHasUsedLocks() throws Exception {
        try (Actor container = new Actor();
                RedisServer server = RedisServer.start()) {
            onRedis(
                    server,
                    redis -> new Application().accept("NOTHING", redis)); // Lettuce has a thread for all of the JVM
            for (Left left : Left.values()) {
                container.run(() -> runApplication("memory", left.name(), null));
                onRedis(server, redis -> container.run(() -> runApplication("Redis", left.name(), redis)));
            }
            assertThat(new OtherRecord("a")).isEqualTo(new OtherRecord("a"));
            Await.until(Duration.ofMinutes(1), this::isAllCollected, () -> "still there: " + undeployed.keySet());
        }
    }

    private interface WithRedis {
        void run(RedisConnectionFactory redis) throws Exception;
    }

    private static void onRedis(RedisServer server, WithRedis step) throws Exception {
        LettuceConnectionFactory redis = new LettuceConnectionFactory(server.host(), server.port());
        redis.start();
        step.run(redis);
        redis.destroy();
    }

    private boolean isAllCollected() {
        Actor.pass(Duration.ofMillis(200)); // a collection costs the other tests time
        System.gc();
        undeployed.values().removeIf(loader -> loader.get() == null);
        return undeployed.isEmpty();
    }

    private void runApplication(String kind, String left, @Nullable RedisConnectionFactory redis) throws Exception {
        ClassLoader before = Thread.currentThread().getContextClassLoader();
        ClassLoader loader = new PoorClassLoader("io.github.lockboot.");
        Thread.currentThread().setContextClassLoader(loader);
        try {
            @SuppressWarnings("unchecked")
            BiConsumer<String, @Nullable RedisConnectionFactory> application =
                    (BiConsumer<String, @Nullable RedisConnectionFactory>) loader.loadClass(Application.class.getName())
                            .getConstructor()
                            .newInstance();
            application.accept(left, redis);
        } finally {
            Thread.currentThread().setContextClassLoader(before);
        }
        undeployed.put(kind + ": " + left, new WeakReference<>(loader));
    }
}
