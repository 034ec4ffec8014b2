package io.github.lockboot.autoconfigure;

import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.fixture.RedisServer;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.aop.framework.autoproxy.DefaultAdvisorAutoProxyCreator;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/** The application's connection factory is a proxy, because an aspect applies to it. */
class ProxiedRedisTests {

    private static RedisServer server;

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(LockAutoConfiguration.class))
            .withBean(Work.class);

    @BeforeAll
    static void start() {
        server = RedisServer.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    static LettuceConnectionFactory redis() {
        return new LettuceConnectionFactory(
                new RedisStandaloneConfiguration(server.host(), server.port()),
                LettuceClientConfiguration.defaultConfiguration());
    }

    static class Work {

        @DistributedLock(name = "x")
        public Object run() {
            return server.command("EXISTS", "lock:x");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Counted {

        static final AtomicInteger CALLS = new AtomicInteger();

        @Bean
        static DefaultPointcutAdvisor counter() {
            return new DefaultPointcutAdvisor(
                    new StaticMethodMatcherPointcut() {
                        @Override
                        public boolean matches(java.lang.reflect.Method method, Class<?> type) {
                            return LettuceConnectionFactory.class.isAssignableFrom(type);
                        }
                    },
                    (MethodInterceptor) call -> {
                        CALLS.incrementAndGet();
                        return call.proceed();
                    });
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OneRedis {

        @Bean
        LettuceConnectionFactory redis() {
            return ProxiedRedisTests.redis();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class QualifiedRedis {

        @Bean
        @Qualifier("distributedLock")
        LettuceConnectionFactory redis() {
            return ProxiedRedisTests.redis();
        }
    }

    private ApplicationContextRunner withAspect(boolean opaque, Class<?> redis) {
        return runner.withUserConfiguration(Counted.class, redis).withBean(DefaultAdvisorAutoProxyCreator.class, () -> {
            DefaultAdvisorAutoProxyCreator creator = new DefaultAdvisorAutoProxyCreator();
            creator.setProxyTargetClass(true);
            creator.setOpaque(opaque);
            return creator;
        });
    }

    @Test
    void locksAreOnTheServerOfItsTarget() {
        withAspect(false, OneRedis.class).run(context -> {
            assertThat(context.getBean(LettuceConnectionFactory.class).getClass())
                    .isNotEqualTo(LettuceConnectionFactory.class);
            assertThat(context.getBean(Work.class).run()).isEqualTo(1L);
        });
    }

    @Test
    void whereItsTargetIsHiddenTheActionIsNamed() {
        withAspect(true, OneRedis.class).run(context -> {
            FailureAnalysis analysis = new LockFailureAnalyzer().analyze(context.getStartupFailure());
            assertThat(analysis.getDescription()).startsWith("The settings of the connection factory ");
            assertThat(analysis.getAction())
                    .startsWith(
                            "Annotate a LettuceConnectionFactory bean with @Qualifier(\"distributedLock\"), and locks use"
                                    + " its connections.\n\nSee https://");
        });
    }

    @Test
    void thatActionHelps() {
        withAspect(true, QualifiedRedis.class)
                .run(context -> assertThat(context.getBean(Work.class).run()).isEqualTo(1L));
    }
}
