package io.github.lockboot.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadFactory;

import io.github.lockboot.Actor;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.autoconfigure.LockAutoConfiguration;
import io.github.lockboot.fixture.RedisServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** To end a registry that nobody has used, nothing is made that would have to be ended. */
class UnusedRegistryTests {

    /** The names of the threads that were asked for: all that is made of an engine has some. */
    private final List<String> made = new CopyOnWriteArrayList<>();

    private final List<Thread> threads = new CopyOnWriteArrayList<>();

    private final RedisServer server = RedisServer.start();
    private final LettuceConnectionFactory factory = new LettuceConnectionFactory(server.host(), server.port());

    private RedisLockRegistry registry() {
        return RedisLockRegistry.builder(factory)
                .threads(name -> {
                    made.add(name);
                    ThreadFactory daemons = task -> {
                        Thread thread = new Thread(task, name);
                        thread.setDaemon(true);
                        threads.add(thread);
                        return thread;
                    };
                    return daemons;
                })
                .build();
    }

    @AfterEach
    void stop() {
        factory.destroy();
        server.close();
    }

    @Test
    void aRegistryThatWasNeverUsedIsClosedWithoutMakingItsEngine() throws Exception {
        RedisLockRegistry registry = registry();
        registry.stopGranting();
        assertThat(registry.inspector().inUse()).isZero();
        Actor.get(registry.drain(Duration.ofMinutes(1)));
        registry.close();
        registry.close();
        assertThat(registry.describe()).startsWith("Redis (standalone)");
        assertThat(made).isEmpty();
    }

    @Test
    void anApplicationThatUsesNoLocksEndsWithoutMakingTheEngine() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(LockAutoConfiguration.class))
                .withPropertyValues("lock.startup-check=off")
                .withBean(RedisLockRegistry.class, this::registry)
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(made).isEmpty();
    }

    @Test
    void oneThatIsUsedAfterItsEndGrantsNothingAndLeavesNoThread() throws Exception {
        start();
        RedisLockRegistry registry = registry();
        registry.close();
        assertGrantsNothing(registry);
        Actor.await("its threads end", () -> threads.stream().noneMatch(Thread::isAlive));
    }

    @Test
    void oneThatHasStoppedBeforeItsFirstUseGrantsNothing() throws Exception {
        start();
        try (RedisLockRegistry registry = registry()) {
            registry.stopGranting();
            assertGrantsNothing(registry);
        }
    }

    private void start() {
        factory.afterPropertiesSet();
        factory.start();
    }

    private static void assertGrantsNothing(RedisLockRegistry registry) {
        assertThatExceptionOfType(LockUnavailableException.class)
                .isThrownBy(() -> registry.get("a").tryLock())
                .withMessageContaining("the registry is closing");
        assertThatThrownBy(() -> Actor.get(registry.acquireAsync("a"))).isInstanceOf(LockUnavailableException.class);
    }
}
