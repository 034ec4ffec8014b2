package io.github.lockboot.redis;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockboot.Actor;
import io.github.lockboot.Lease;
import io.github.lockboot.LockLostException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.NamedLock;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.fixture.TcpProxy;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.aop.target.HotSwappableTargetSource;
import org.springframework.beans.factory.ObjectFactory;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanDefinitionHolder;
import org.springframework.beans.factory.config.Scope;
import org.springframework.beans.factory.support.BeanDefinitionBuilder;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.data.redis.RedisConnectionFailureException;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** The application gets another connection factory, or other settings, while it runs: locks follow it. */
class RefreshedFactoryTests {

    private static final Duration LONG = Duration.ofSeconds(60);

    private final RedisServer first = RedisServer.start();
    private final RedisServer second = RedisServer.start();
    private final RedisStandaloneConfiguration settings = new RedisStandaloneConfiguration(first.host(), first.port());
    private final RefreshScope scope = new RefreshScope();
    private final GenericApplicationContext context = new GenericApplicationContext();

    @AfterEach
    void close() {
        context.close();
        first.close();
        second.close();
    }

    /** As that of Spring Cloud: each refresh destroys its beans, and the next call of a proxy makes another. */
    private static final class RefreshScope implements Scope {

        private Object bean;
        private Runnable destruction;

        @Override
        public synchronized Object get(String name, ObjectFactory<?> factory) {
            if (bean == null) {
                bean = factory.getObject();
            }
            return bean;
        }

        synchronized void refresh() {
            bean = null;
            destruction.run();
        }

        @Override
        public synchronized Object remove(String name) {
            return null;
        }

        @Override
        public synchronized void registerDestructionCallback(String name, Runnable callback) {
            destruction = callback;
        }

        @Override
        public Object resolveContextualObject(String key) {
            return null;
        }

        @Override
        public String getConversationId() {
            return "refresh";
        }
    }

    private LettuceConnectionFactory refreshable() {
        context.getBeanFactory().registerScope("refresh", scope);
        BeanDefinition bean = BeanDefinitionBuilder.genericBeanDefinition(
                        LettuceConnectionFactory.class,
                        () -> new LettuceConnectionFactory(new RedisStandaloneConfiguration() {
                            {
                                setHostName(settings.getHostName());
                                setPort(settings.getPort());
                                setUsername(settings.getUsername());
                                setPassword(settings.getPassword());
                            }
                        }))
                .setScope("refresh")
                .getBeanDefinition();
        BeanDefinitionHolder proxy =
                ScopedProxyUtils.createScopedProxy(new BeanDefinitionHolder(bean, "redis"), context, true);
        context.registerBeanDefinition(proxy.getBeanName(), proxy.getBeanDefinition());
        context.refresh();
        return context.getBean("redis", LettuceConnectionFactory.class);
    }

    private static RedisLockRegistry.Builder builder(LettuceConnectionFactory factory, boolean sharing) {
        RedisLockRegistry.Builder builder = RedisLockRegistry.builder(factory).commandTimeout(Duration.ofSeconds(5));
        return sharing ? builder.sharingConnections() : builder;
    }

    private static boolean locksOn(RedisServer server, RedisLockRegistry registry) {
        NamedLock lock = registry.get("where");
        try {
            if (!lock.tryLock()) {
                return false;
            }
        } catch (RuntimeException unavailable) {
            return false;
        }
        boolean there = Long.valueOf(1).equals(server.command("EXISTS", "lock:where"));
        try {
            lock.unlock();
        } catch (LockLostException moved) {
            return false;
        }
        return there;
    }

    private static void awaitLocksOn(RedisServer server, RedisLockRegistry registry) {
        Actor.await("locks are there", () -> locksOn(server, registry));
    }

    private void moveToSecond() {
        settings.setHostName(second.host());
        settings.setPort(second.port());
    }

    private static void awaitChannelOn(RedisServer server, RedisLockRegistry registry) {
        Actor.await(
                "the channel is live there",
                () -> GrantChannels.isLive(registry)
                        && String.valueOf(server.command("PUBSUB", "CHANNELS")).contains("lock:"));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void afterARefreshToAnotherAddressLocksAreThere(boolean sharing) throws Exception {
        try (RedisLockRegistry registry = builder(refreshable(), sharing).build();
                RedisLockRegistry moved = RedisLockRegistry.builder(
                                context.getBean("redis", LettuceConnectionFactory.class))
                        .build();
                Actor waiter = new Actor()) {
            registry.connect().get(20, TimeUnit.SECONDS);
            awaitLocksOn(first, registry);
            awaitChannelOn(first, registry);
            moveToSecond();
            scope.refresh();
            awaitLocksOn(second, registry);
            awaitChannelOn(second, registry);
            assertThat(String.valueOf(first.command("PUBSUB", "CHANNELS"))).isEqualTo("[]");
            NamedLock lock = moved.get("where");
            lock.lock();
            NamedLock here = registry.get("where");
            CompletableFuture<Boolean> waiting = waiter.start(() -> here.tryLock(20, TimeUnit.SECONDS));
            Actor.await("it waits", () -> registry.inspector().inUse() > 0);
            assertThat(waiting).isNotDone();
            lock.unlock();
            assertThat(waiting.get(20, TimeUnit.SECONDS)).isTrue();
            waiter.run(here::unlock);
        }
    }

    /** Nobody looks for it there any more, so it protects nothing. */
    @Test
    void aHoldOnTheFormerServerIsLostSoon() throws Exception {
        try (RedisLockRegistry registry = builder(refreshable(), false)
                .defaults(LockOptions.defaults().withTtl(Duration.ofMinutes(10)))
                .build()) {
            NamedLock lock = registry.get("held");
            AtomicInteger losses = new AtomicInteger();
            lock.lock();
            lock.onLost(losses::incrementAndGet);
            moveToSecond();
            scope.refresh();
            Actor.await("the loss is known", () -> losses.get() == 1);
            assertThat(lock.isHeldByCurrentThread()).isFalse();
            assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::unlock);
        }
    }

    /** Its connection is closed. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aCallerWhoseRequestIsOnItsWayToTheFormerServerGetsTheLockOnTheNewOne(boolean sharing) throws Exception {
        try (TcpProxy proxy = TcpProxy.to(first)) {
            settings.setPort(proxy.port());
            try (RedisLockRegistry registry = builder(refreshable(), sharing)
                    .commandTimeout(Duration.ofSeconds(20))
                    .build()) {
                awaitLocksOn(first, registry);
                proxy.swallowReplies();
                CompletableFuture<Lease> acquired =
                        registry.acquireAsync("wanted", LockOptions.defaults().withWaitTime(Duration.ofMinutes(1)));
                Actor.await("it asks", () -> Long.valueOf(1).equals(first.command("EXISTS", "lock:wanted")));
                moveToSecond();
                scope.refresh();
                try (Lease lease = acquired.get(60, TimeUnit.SECONDS)) {
                    assertThat(lease.isValid()).isTrue();
                    assertThat(second.command("EXISTS", "lock:wanted")).isEqualTo(1L);
                }
            }
        }
    }

    /** Its other end is gone, and no call shows it: the former server would answer. */
    @Test
    void withAFormerServerThatHasGoneLocksAreOnTheNewOne() throws Exception {
        try (RedisLockRegistry registry = builder(refreshable(), false).build()) {
            awaitLocksOn(first, registry);
            first.stop();
            moveToSecond();
            scope.refresh();
            awaitLocksOn(second, registry);
        }
    }

    @Test
    void afterARotatedPasswordLocksHaveTheNewOne() throws Exception {
        first.command("ACL", "SETUSER", "app", "on", ">old", "~*", "&*", "+@all");
        settings.setUsername("app");
        settings.setPassword("old");
        LettuceConnectionFactory factory = refreshable();
        try (RedisLockRegistry registry = builder(factory, false).build()) {
            registry.connect().get(20, TimeUnit.SECONDS);
            awaitLocksOn(first, registry);
            awaitChannelOn(first, registry);
            first.command("ACL", "SETUSER", "app", "resetpass", ">new");
            first.command("CLIENT", "KILL", "USER", "app");
            settings.setPassword("new");
            scope.refresh();
            assertThat(new StringRedisTemplate(factory).hasKey("application")).isFalse();
            awaitLocksOn(first, registry);
            awaitChannelOn(first, registry);
        }
    }

    /** The factory is no proxy, and has read its settings again. */
    @Test
    void afterANewPasswordOfTheSameFactoryLocksHaveIt() throws Exception {
        first.command("ACL", "SETUSER", "app", "on", ">old", "~*", "&*", "+@all");
        settings.setUsername("app");
        settings.setPassword("old");
        LettuceConnectionFactory factory = new LettuceConnectionFactory(settings);
        factory.afterPropertiesSet();
        factory.start();
        try (RedisLockRegistry registry = builder(factory, false).build()) {
            awaitLocksOn(first, registry);
            first.command("ACL", "SETUSER", "app", "resetpass", ">new");
            first.command("CLIENT", "KILL", "USER", "app");
            settings.setPassword("new");
            factory.resetConnection();
            assertThatExceptionOfType(RedisConnectionFailureException.class)
                    .as("it has not read its settings again")
                    .isThrownBy(() -> new StringRedisTemplate(factory).hasKey("application"));
            factory.stop();
            factory.start();
            awaitLocksOn(first, registry);
        } finally {
            factory.destroy();
        }
    }

    @Test
    void afterANewAddressOfTheSameFactoryLocksAreThere() throws Exception {
        LettuceConnectionFactory factory = new LettuceConnectionFactory(settings);
        factory.afterPropertiesSet();
        factory.start();
        try (RedisLockRegistry registry = builder(factory, false).build()) {
            awaitLocksOn(first, registry);
            factory.stop();
            assertThat(locksOn(first, registry)).as("as long as it is stopped").isTrue();
            moveToSecond();
            factory.start();
            awaitLocksOn(second, registry);
        } finally {
            factory.destroy();
        }
    }

    /** The former one is still open. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void afterAnExchangedTargetLocksAreOnItsServer(boolean sharing) throws Exception {
        LettuceConnectionFactory former = new LettuceConnectionFactory(settings);
        LettuceConnectionFactory other =
                new LettuceConnectionFactory(new RedisStandaloneConfiguration(second.host(), second.port()));
        former.afterPropertiesSet();
        other.afterPropertiesSet();
        HotSwappableTargetSource targets = new HotSwappableTargetSource(former);
        ProxyFactory proxy = new ProxyFactory();
        proxy.setTargetSource(targets);
        proxy.setProxyTargetClass(true);
        try (RedisLockRegistry registry =
                builder((LettuceConnectionFactory) proxy.getProxy(), sharing).build()) {
            registry.connect().get(20, TimeUnit.SECONDS);
            awaitChannelOn(first, registry);
            targets.swap(other);
            awaitLocksOn(second, registry);
            awaitChannelOn(second, registry);
        } finally {
            former.destroy();
            other.destroy();
        }
    }

    /** The connection is that of the former one, which is still open. */
    @Test
    void aTargetThatIsExchangedWhileLocksConnectIsFollowed() throws Exception {
        LettuceConnectionFactory former = new LettuceConnectionFactory(settings);
        LettuceConnectionFactory other =
                new LettuceConnectionFactory(new RedisStandaloneConfiguration(second.host(), second.port()));
        former.afterPropertiesSet();
        other.afterPropertiesSet();
        HotSwappableTargetSource targets = new HotSwappableTargetSource(former);
        ProxyFactory proxy = new ProxyFactory();
        proxy.setTargetSource(targets);
        proxy.setProxyTargetClass(true);
        proxy.addAdvice((MethodInterceptor) call -> {
            Object result = call.proceed();
            if (call.getMethod().getName().equals("getConnection")) {
                targets.swap(other);
            }
            return result;
        });
        try (RedisLockRegistry registry =
                builder((LettuceConnectionFactory) proxy.getProxy(), true).build()) {
            awaitLocksOn(second, registry);
        } finally {
            former.destroy();
            other.destroy();
        }
    }

    /** Ten refreshes leave one connection for commands and one for the channel. */
    @Test
    void refreshesLeaveNoConnectionBehind() throws Exception {
        try (RedisLockRegistry registry = builder(refreshable(), false).build()) {
            registry.connect().get(20, TimeUnit.SECONDS);
            for (int i = 0; i < 10; i++) {
                RedisServer to = i % 2 == 0 ? second : first;
                settings.setHostName(to.host());
                settings.setPort(to.port());
                scope.refresh();
                awaitLocksOn(to, registry);
            }
            awaitChannelOn(first, registry);
            Actor.await("no connection to the other", LONG, () -> clientsOf(second) == 0);
            Actor.await("two to this one", LONG, () -> clientsOf(first) == 2);
        }
    }

    /** Without the one that asks. */
    private static long clientsOf(RedisServer server) {
        return String.valueOf(server.command("CLIENT", "LIST"))
                .lines()
                .filter(client -> client.contains("id="))
                .filter(client -> !client.contains("cmd=client"))
                .count();
    }
}
