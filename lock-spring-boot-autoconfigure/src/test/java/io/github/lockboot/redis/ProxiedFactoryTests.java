package io.github.lockboot.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

import io.github.lockboot.Actor;
import io.github.lockboot.NamedLock;
import io.github.lockboot.fixture.RedisCluster;
import io.github.lockboot.fixture.RedisSentinel;
import io.github.lockboot.fixture.RedisServer;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.codec.RedisCodec;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.target.AbstractBeanFactoryBasedTargetSource;
import org.springframework.aop.target.PrototypeTargetSource;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisSentinelConnection;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionProvider;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** Locks are on the servers of the application, whatever stands before its connection factory. */
class ProxiedFactoryTests {

    private static final String UNREADABLE = "the settings of the connection factory ";

    private static RedisServer server;

    private final List<LettuceConnectionFactory> made = new ArrayList<>();

    @BeforeAll
    static void start() {
        server = RedisServer.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @AfterEach
    void destroy() {
        made.forEach(LettuceConnectionFactory::destroy);
    }

    private LettuceConnectionFactory started(LettuceConnectionFactory factory) {
        made.add(factory);
        factory.afterPropertiesSet();
        factory.start();
        return factory;
    }

    private static RedisStandaloneConfiguration standalone() {
        return new RedisStandaloneConfiguration(server.host(), server.port());
    }

    private LettuceConnectionFactory of(RedisConfiguration redis) {
        return started(new LettuceConnectionFactory(redis, LettuceClientConfiguration.defaultConfiguration()));
    }

    /** Its fields are those of no factory: Spring makes it without a constructor. */
    private static LettuceConnectionFactory proxyOf(LettuceConnectionFactory target) {
        ProxyFactory proxy = new ProxyFactory(target);
        proxy.setProxyTargetClass(true);
        return (LettuceConnectionFactory) proxy.getProxy();
    }

    private static void lockIsOn(RedisServer expected, RedisConnectionFactory factory) throws Exception {
        lockIsOn(expected, factory, UnaryOperator.identity());
    }

    /** Also one that is handed over to another instance. */
    private static void lockIsOn(
            RedisServer expected, RedisConnectionFactory factory, UnaryOperator<RedisLockRegistry.Builder> settings)
            throws Exception {
        try (RedisLockRegistry registry = registry(factory, settings);
                RedisLockRegistry another = registry(factory, settings);
                Actor waiter = new Actor()) {
            Actor.await("locks", () -> TestRegistries.canLock(registry, "where"));
            NamedLock lock = registry.get("where");
            NamedLock there = another.get("where");
            lock.lock();
            assertThat(expected.command("EXISTS", "lock:where")).isEqualTo(1L);
            CompletableFuture<Boolean> waiting = waiter.start(() -> there.tryLock(20, TimeUnit.SECONDS));
            Actor.await("it waits", () -> another.inspector().inUse() > 0);
            lock.unlock();
            assertThat(waiting.get(20, TimeUnit.SECONDS)).isTrue();
            waiter.run(there::unlock);
            Actor.await("released", () -> Long.valueOf(0).equals(expected.command("EXISTS", "lock:where")));
        }
    }

    private static RedisLockRegistry registry(
            RedisConnectionFactory factory, UnaryOperator<RedisLockRegistry.Builder> settings) {
        return settings.apply(RedisLockRegistry.builder(factory).commandTimeout(Duration.ofSeconds(5)))
                .build();
    }

    // --- a proxy before Lettuce ------------------------------------------------------------------------------

    @Test
    void behindAProxyOfAStandaloneFactoryMadeByTheGeneralConstructor() throws Exception {
        lockIsOn(server, proxyOf(of(standalone())));
    }

    @Test
    void behindAProxyOfAProxy() throws Exception {
        lockIsOn(server, proxyOf(proxyOf(of(standalone()))));
    }

    @Test
    void behindAProxyThatIsQualified() throws Exception {
        lockIsOn(server, proxyOf(of(standalone())), RedisLockRegistry.Builder::sharingConnections);
    }

    @Test
    void behindAProxyWithSentinels() throws Exception {
        try (RedisSentinel sentinel = RedisSentinel.start(1)) {
            lockIsOn(
                    sentinel.master(),
                    proxyOf(of(new RedisSentinelConfiguration(sentinel.masterName(), Set.copyOf(sentinel.nodes())))));
        }
    }

    @Test
    void behindAProxyWithACluster() throws Exception {
        try (RedisCluster cluster = RedisCluster.start(0)) {
            lockIsOn(cluster.ownerOf("lock:where"), proxyOf(of(new RedisClusterConfiguration(cluster.nodes()))));
        }
    }

    @Test
    void behindAProxyWithAFixedListOfMasterAndReplicas() throws Exception {
        try (RedisServer replica = RedisServer.start("--replicaof", server.host(), String.valueOf(server.port()))) {
            RedisStaticMasterReplicaConfiguration nodes =
                    new RedisStaticMasterReplicaConfiguration(server.host(), server.port());
            nodes.addNode(replica.host(), replica.port());
            lockIsOn(server, proxyOf(of(nodes)));
        }
    }

    @Test
    void theLogNamesTheKindOfTheTarget() {
        try (RedisLockRegistry registry = registry(
                proxyOf(of(new RedisSentinelConfiguration("mymaster", Set.of("127.0.0.1:1")))), settings -> settings)) {
            assertThat(registry.describe()).startsWith("Redis (sentinel)");
        }
    }

    // --- proxies and subclasses whose settings say nothing ---------------------------------------------------

    private static LettuceConnectionFactory hidingItsTarget(LettuceConnectionFactory target) {
        ProxyFactory proxy = new ProxyFactory(target);
        proxy.setProxyTargetClass(true);
        proxy.setOpaque(true);
        return (LettuceConnectionFactory) proxy.getProxy();
    }

    private static void isRefused(RedisConnectionFactory factory) {
        assertThatIllegalStateException()
                .isThrownBy(() -> RedisLockRegistry.builder(factory).build())
                .withMessageStartingWith(UNREADABLE)
                .withMessageContaining("@Qualifier(\"distributedLock\")");
    }

    @Test
    void aProxyThatHidesItsTargetIsRefused() {
        isRefused(hidingItsTarget(of(standalone())));
    }

    @Test
    void aProxyThatHidesItsTargetMayBeQualified() throws Exception {
        lockIsOn(server, hidingItsTarget(of(standalone())), RedisLockRegistry.Builder::sharingConnections);
    }

    @Test
    void aProxyWithoutATargetIsRefused() {
        ProxyFactory proxy = new ProxyFactory();
        proxy.setTargetClass(LettuceConnectionFactory.class);
        proxy.setProxyTargetClass(true);
        isRefused((LettuceConnectionFactory) proxy.getProxy());
    }

    /** As a bean of a scope that ends at each call. */
    @Test
    void aProxyWithAnotherTargetEachTimeIsRefused() {
        DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
        RootBeanDefinition bean = new RootBeanDefinition(LettuceConnectionFactory.class, () -> of(standalone()));
        bean.setScope(RootBeanDefinition.SCOPE_PROTOTYPE);
        beans.registerBeanDefinition("redis", bean);
        AbstractBeanFactoryBasedTargetSource targets = new PrototypeTargetSource();
        targets.setTargetBeanName("redis");
        targets.setBeanFactory(beans);
        ProxyFactory proxy = new ProxyFactory();
        proxy.setTargetSource(targets);
        proxy.setProxyTargetClass(true);
        isRefused((LettuceConnectionFactory) proxy.getProxy());
    }

    /** Its settings are those of no server. */
    static class OwnClient extends LettuceConnectionFactory {

        @Override
        protected AbstractRedisClient createClient() {
            return RedisClient.create(RedisURI.create(server.uri()));
        }
    }

    static class OwnProvider extends LettuceConnectionFactory {

        @Override
        protected LettuceConnectionProvider doCreateConnectionProvider(
                AbstractRedisClient client, RedisCodec<?, ?> codec) {
            return super.doCreateConnectionProvider(client, codec);
        }
    }

    @Test
    void aSubclassThatMakesItsClientItselfIsRefused() {
        isRefused(started(new OwnClient()));
        isRefused(new OwnProvider());
        isRefused(proxyOf(new OwnProvider()));
    }

    @Test
    void aSubclassThatMakesItsClientItselfMayBeQualified() throws Exception {
        lockIsOn(server, started(new OwnClient()), RedisLockRegistry.Builder::sharingConnections);
        lockIsOn(server, proxyOf(started(new OwnClient())), RedisLockRegistry.Builder::sharingConnections);
    }

    // --- factories that give connections of another ---------------------------------------------------------

    /** As one that picks among several servers. It is initialized, and itself at localhost. */
    static class Delegating extends LettuceConnectionFactory {

        private final LettuceConnectionFactory delegate;

        Delegating(LettuceConnectionFactory delegate) {
            this.delegate = delegate;
        }

        @Override
        public RedisConnection getConnection() {
            return delegate.getConnection();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aSubclassThatGivesConnectionsOfAnother(boolean sharing) throws Exception {
        UnaryOperator<RedisLockRegistry.Builder> settings = builder -> sharing ? builder.sharingConnections() : builder;
        lockIsOn(server, started(new Delegating(of(standalone()))), settings);
        lockIsOn(server, proxyOf(started(new Delegating(of(standalone())))), settings);
    }

    private record Wrapping(RedisConnectionFactory delegate) implements RedisConnectionFactory {

        @Override
        public RedisConnection getConnection() {
            return delegate.getConnection();
        }

        @Override
        public RedisClusterConnection getClusterConnection() {
            return delegate.getClusterConnection();
        }

        @Override
        public RedisSentinelConnection getSentinelConnection() {
            return delegate.getSentinelConnection();
        }

        @Override
        public boolean getConvertPipelineAndTxResults() {
            return delegate.getConvertPipelineAndTxResults();
        }

        @Override
        public DataAccessException translateExceptionIfPossible(RuntimeException failure) {
            return delegate.translateExceptionIfPossible(failure);
        }
    }

    @Test
    void aFactoryThatWrapsOneOfLettuce() throws Exception {
        lockIsOn(server, new Wrapping(of(standalone())));
    }

    @Test
    void aProxyOfTheInterfaceAlone() throws Exception {
        ProxyFactory proxy =
                new ProxyFactory(RedisConnectionFactory.class, (org.aopalliance.intercept.MethodInterceptor)
                        org.aopalliance.intercept.MethodInvocation::proceed);
        proxy.setTarget(of(standalone()));
        RedisConnectionFactory factory = (RedisConnectionFactory) proxy.getProxy();
        assertThat(factory).isNotInstanceOf(LettuceConnectionFactory.class);
        lockIsOn(server, factory);
    }
}
