package org.example.consumer;

import java.lang.reflect.Method;

import io.github.lockboot.fixture.RedisServer;
import io.micrometer.core.instrument.MeterRegistry;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.context.ConfigurableApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

/** What an application gets besides when it has the actuator. */
class ObservedTests {

    private static RedisServer redis;
    private static ConfigurableApplicationContext application;

    @BeforeAll
    static void start() {
        redis = RedisServer.start();
        application = ConsumerApplication.start(
                "--spring.data.redis.url=" + redis.uri(), "--management.endpoints.web.exposure.include=locks");
    }

    @AfterAll
    static void stop() {
        application.close();
        redis.close();
    }

    @Test
    void locksAreCountedAndTimed() {
        MeterRegistry meters = application.getBean(MeterRegistry.class);
        application.getBean(ConsumerApplication.Account.class).payIn("account 1");
        assertThat(meters.get("lock.acquired").tag("group", "Account.payIn").counter().count()).isEqualTo(1);
        assertThat(meters.get("lock.hold").tag("group", "Account.payIn").timer().count()).isEqualTo(1);
    }

    @Test
    void aJobIsCountedAndTimed() {
        application.getBean(ConsumerApplication.Job.class).run();
        MeterRegistry meters = application.getBean(MeterRegistry.class);
        assertThat(meters.get("lock.job").tags("job.name", "nightly", "outcome", "ran").timer().count()).isEqualTo(1);
    }

    @Test
    void theEndpointOfLocksIsThere() {
        assertThat(application.containsBean("lockbootLocksEndpoint")).isTrue();
    }

    /** The type of a health indicator differs between Spring Boot 3 and 4. */
    @Test
    void locksThatCanBeHadAreUp() {
        assertThat(application.getBean("lockHealthIndicator"))
                .satisfies(indicator -> assertThat(healthOf(indicator)).startsWith("UP"));
    }

    private static String healthOf(Object indicator) throws ReflectiveOperationException {
        Method health = indicator.getClass().getMethod("health");
        health.setAccessible(true);
        return health.invoke(indicator).toString();
    }
}
