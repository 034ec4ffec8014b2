package org.example.consumer;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.stream.Stream;

import io.github.lockboot.LockRegistry;
import io.github.lockboot.NamedLock;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.redis.RedisLockRegistry;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.service.connection.ConnectionDetails;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.util.ClassUtils;

import static org.assertj.core.api.Assertions.assertThat;

/** Locks on a Redis of their own, on each line of Spring Boot, whose classes for it moved. */
class OwnRedisTests {

    private static RedisServer ofTheApplication;
    private static RedisServer ofLocks;

    @BeforeAll
    static void start() {
        ofTheApplication = RedisServer.start();
        ofLocks = RedisServer.start();
    }

    @AfterAll
    static void stop() {
        ofTheApplication.close();
        ofLocks.close();
    }

    @Test
    void propertiesBringLocksToTheirServerAndLeaveTheApplicationItsOwn() {
        try (ConfigurableApplicationContext instance = ConsumerApplication.start(
                "--spring.data.redis.url=" + ofTheApplication.uri(),
                "--lock.redis.url=" + ofLocks.uri(),
                "--lock.redis.client-name=shop")) {
            assertEachOnItsServer(instance);
            assertThat(String.valueOf(ofLocks.command("CLIENT", "LIST"))).contains(" name=shop-lock-");
            assertThat(instance.getBean(RedisLockRegistry.class).describe()).contains("(standalone, by lock.redis.*)");
        }
    }

    @Test
    void withoutTheConnectionFactoryOfSpringBootThereAreLocks() {
        try (ConfigurableApplicationContext instance = ConsumerApplication.start(
                "--spring.autoconfigure.exclude="
                        + ofThisLine("data.redis.RedisAutoConfiguration", "DataRedisAutoConfiguration"),
                "--lock.redis.host=" + ofLocks.host(),
                "--lock.redis.port=" + ofLocks.port())) {
            assertThat(instance.getBeanProvider(RedisConnectionFactory.class)).isEmpty();
            assertLocksThere(instance);
        }
    }

    @Test
    void connectionDetailsThatAreQualifiedForLocksAreUsed() {
        try (ConfigurableApplicationContext instance = new SpringApplicationBuilder(
                        ConsumerApplication.class, Details.class)
                .properties("lock.redis.command-timeout=10s", "server.port=0")
                .run("--spring.data.redis.url=" + ofTheApplication.uri())) {
            assertEachOnItsServer(instance);
        }
    }

    private static void assertEachOnItsServer(ConfigurableApplicationContext instance) {
        instance.getBean(StringRedisTemplate.class).opsForValue().set("data", "application");
        assertThat(ofTheApplication.command("GET", "data")).isEqualTo("application");
        assertThat(ofLocks.command("EXISTS", "data")).isEqualTo(0L);
        assertLocksThere(instance);
    }

    private static void assertLocksThere(ConfigurableApplicationContext instance) {
        NamedLock lock = instance.getBean(LockRegistry.class).get("order 1");
        lock.lock();
        assertThat(ofLocks.command("EXISTS", "lock:order 1")).isEqualTo(1L);
        assertThat(ofTheApplication.command("EXISTS", "lock:order 1")).isEqualTo(0L);
        lock.unlock();
    }

    private static String ofThisLine(String ofThree, String ofFour) {
        return Stream.of(
                        "org.springframework.boot.autoconfigure." + ofThree,
                        "org.springframework.boot.data.redis.autoconfigure." + ofFour)
                .filter(name -> ClassUtils.isPresent(name, null))
                .findFirst()
                .orElseThrow();
    }

    @Configuration(proxyBeanMethods = false)
    static class Details {

        @Bean(defaultCandidate = false)
        @Qualifier("distributedLock")
        ConnectionDetails lockRedis() throws ReflectiveOperationException {
            String type = ofThisLine("data.redis.RedisConnectionDetails", "DataRedisConnectionDetails");
            Object address = Class.forName(type + "$Standalone")
                    .getMethod("of", String.class, int.class)
                    .invoke(null, ofLocks.host(), ofLocks.port());
            InvocationHandler details = (proxy, method, arguments) -> method.getName().equals("getStandalone")
                    ? address
                    : method.isDefault() ? InvocationHandler.invokeDefault(proxy, method, arguments) : "lockRedis";
            Class<?>[] types = {Class.forName(type)};
            return (ConnectionDetails) Proxy.newProxyInstance(Details.class.getClassLoader(), types, details);
        }
    }
}
