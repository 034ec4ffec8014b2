package io.github.lockboot.sample;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.Socket;
import java.net.URI;
import java.util.concurrent.atomic.AtomicBoolean;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.support.GenericApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class EmbeddedRedisInitializerTests {

    private final GenericApplicationContext context = new GenericApplicationContext();

    @AfterEach
    void close() {
        context.close();
    }

    @Test
    void redisIsStartedWhenNoneIsConfigured() {
        TestPropertyValues.of("spring.data.redis.timeout=2s").applyTo(context);
        initialize();
        connect();
        context.refresh();
        context.close();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "spring.data.redis.url=redis://example.org",
                "spring.data.redis.host=example.org",
                "spring.data.redis.sentinel.nodes[0]=example.org:26379",
                "SPRING_DATA_REDIS_CLUSTER_NODES=example.org:6379"
            })
    void aConfiguredRedisIsLeftAlone(String property) {
        TestPropertyValues.of(property).applyTo(context.getEnvironment(), TestPropertyValues.Type.SYSTEM_ENVIRONMENT);
        initialize();
        assertThat(context.getEnvironment().getPropertySources().contains("embeddedRedis"))
                .isFalse();
    }

    @Test
    void redisOutlivesEveryBeanAndNotTheContext() {
        AtomicBoolean reachable = new AtomicBoolean();
        context.registerBean(DisposableBean.class, () -> () -> {
            connect();
            reachable.set(true);
        });
        initialize();
        context.refresh();
        context.close();
        assertThat(reachable).isTrue();
        assertUnreachable();
    }

    @Test
    void redisEndsWithAnApplicationThatCannotStart() {
        context.registerBean(InitializingBean.class, () -> () -> {
            throw new IllegalStateException("refuses to start");
        });
        initialize();
        assertThatExceptionOfType(BeanCreationException.class).isThrownBy(context::refresh);
        assertUnreachable();
    }

    private void assertUnreachable() {
        assertThatExceptionOfType(UncheckedIOException.class)
                .isThrownBy(this::connect)
                .withCauseInstanceOf(ConnectException.class);
    }

    private void initialize() {
        new EmbeddedRedisInitializer().initialize(context);
    }

    private void connect() {
        URI redis = URI.create(context.getEnvironment().getRequiredProperty("spring.data.redis.url"));
        try {
            new Socket(redis.getHost(), redis.getPort()).close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
