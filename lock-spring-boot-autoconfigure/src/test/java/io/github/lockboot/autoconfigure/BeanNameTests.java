package io.github.lockboot.autoconfigure;

import java.util.Map;
import java.util.stream.Stream;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockTemplate;
import io.github.lockboot.autoconfigure.actuate.LockHealthAutoConfiguration;
import io.github.lockboot.autoconfigure.actuate.LocksEndpointAutoConfiguration;
import io.github.lockboot.internal.Troubleshooting;
import io.github.lockboot.leader.LeaderElection;
import io.github.lockboot.memory.MemoryLockRegistry;
import io.github.lockboot.observability.LockMetrics;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.actuate.autoconfigure.endpoint.EndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.endpoint.web.WebEndpointAutoConfiguration;
import org.springframework.boot.actuate.endpoint.annotation.DiscoveredEndpoint;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointsSupplier;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/** An application has beans and endpoints of its own, and some are called what ours could be called. */
class BeanNameTests {

    private static final AutoConfigurations OURS = AutoConfigurations.of(
            PropertyPlaceholderAutoConfiguration.class,
            LockAutoConfiguration.class,
            LockObservabilityAutoConfiguration.class,
            LockHealthAutoConfiguration.class,
            LocksEndpointAutoConfiguration.class);

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(OURS)
            .withPropertyValues(
                    "lock.startup-check=off",
                    "lock.redis.connect-at-startup=false",
                    "lock.mdc=true",
                    "lock.observations.enabled=true",
                    "management.endpoints.web.exposure.include=*",
                    "management.endpoints.jmx.exposure.include=*")
            .withBean(SimpleMeterRegistry.class)
            .withBean(ObservationRegistry.class, ObservationRegistry::create)
            .withBean(Work.class);

    private final ApplicationContextRunner onRedis =
            runner.withBean(RedisConnectionFactory.class, BeanNameTests::notStarted);

    private static RedisConnectionFactory notStarted() {
        LettuceConnectionFactory factory = new LettuceConnectionFactory();
        factory.setAutoStartup(false);
        return factory;
    }

    @ParameterizedTest
    @CsvSource({
        "distributedLockRegistry,false",
        "distributedLockRegistry,true",
        "distributedLockTemplate,false",
        "distributedLockTemplate,true",
        "distributedLockAdvisor,false",
        "distributedLockAdvisor,true",
        "distributedLockValidator,true",
        "distributedLockLifecycle,true",
        "distributedLockMetrics,false",
        "lockRegistry,false",
        "lockTemplate,false",
        "lockMetrics,false",
        "lockHealthContributor,false",
        "lockHealthIndicator,true",
        "lock,false",
        "locks,false"
    })
    void aBeanOfTheApplicationStandsBesideOurs(String name, boolean overriding) {
        onRedis.withAllowBeanDefinitionOverriding(overriding)
                .withBean(name, String.class, () -> "of the application")
                .run(context -> {
                    assertThat(context).hasNotFailed().hasSingleBean(LockTemplate.class);
                    assertThat(context).hasSingleBean(LockRegistry.class).hasSingleBean(LockMetrics.class);
                    assertThat(context.getBean(name)).isEqualTo("of the application");
                });
    }

    @ParameterizedTest
    @ValueSource(strings = {"redis", "memory"})
    void allOursCarryThePrefix(String type) {
        onRedis.withPropertyValues("lock.type=" + type)
                .withBean("reports", LeaderElection.class, () -> LeaderElection.of(new MemoryLockRegistry(), "reports"))
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThat(Stream.of(context.getBeanDefinitionNames())
                                    .filter(name ->
                                            isOurs(context.getBeanFactory().getBeanDefinition(name))))
                            .hasSizeGreaterThan(12)
                            // Spring Boot calls the component as it calls the bean.
                            .allMatch(name -> name.startsWith("lockboot") || name.equals("lockHealthIndicator"));
                });
    }

    private static boolean isOurs(BeanDefinition definition) {
        return definition.getFactoryMethodName() != null
                && String.valueOf(definition.getResourceDescription())
                        .replace('/', '.')
                        .contains("io.github.lockboot.");
    }

    @Test
    void aBeanThatTakesTheNameOfOurRegistryIsNamed() {
        onRedis.withAllowBeanDefinitionOverriding(true)
                .withInitializer(context ->
                        context.addBeanFactoryPostProcessor(beans -> ((BeanDefinitionRegistry) beans)
                                .registerBeanDefinition(
                                        "lockbootLockRegistry",
                                        new RootBeanDefinition(String.class, () -> "of the application"))))
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessage("Distributed locks need a LockRegistry bean, but bean 'lockbootLockRegistry' is"
                                + " not one: give that bean another name, or define a LockRegistry bean; see "
                                + Troubleshooting.PAGE + "the-application-does-not-start"));
    }

    @Test
    void anEndpointOfTheApplicationTakesThePlaceOfOursIfTheirAutoConfigurationIsExcluded() {
        WebApplicationContextRunner endpoints = new WebApplicationContextRunner()
                .withConfiguration(
                        AutoConfigurations.of(EndpointAutoConfiguration.class, WebEndpointAutoConfiguration.class))
                .withPropertyValues("lock.type=memory", "management.endpoints.web.exposure.include=*")
                .withBean(OwnLock.class);
        endpoints
                .withConfiguration(OURS)
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasStackTraceContaining("Found two endpoints with the id 'lock'"));
        endpoints
                .withConfiguration(AutoConfigurations.of(LockAutoConfiguration.class))
                .run(context -> assertThat(
                                context.getBean(WebEndpointsSupplier.class).getEndpoints())
                        .extracting(each -> ((DiscoveredEndpoint<?>) each).getEndpointBean())
                        .containsExactly(context.getBean(OwnLock.class)));
    }

    static class Work {
        @DistributedLock(name = "work")
        public void run() {}
    }

    @Endpoint(id = "lock")
    static class OwnLock {
        @ReadOperation
        public Map<String, String> door() {
            return Map.of("door", "open");
        }
    }
}
