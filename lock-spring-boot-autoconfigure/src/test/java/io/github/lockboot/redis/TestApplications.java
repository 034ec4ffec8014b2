package io.github.lockboot.redis;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.lockboot.Actor;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.fixture.AclUser;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

/** Two instances of an application that is the {@link AclUser} of a Redis it is told by properties; closed together. */
record TestApplications(ConfigurableApplicationContext one, ConfigurableApplicationContext other)
        implements AutoCloseable {

    /** Those of Spring Boot 4's health module, which is on the class path for its types, beside all of 3.5. */
    private static final String OF_ANOTHER_LINE = Stream.of(
                    "actuate.endpoint.AvailabilityProbes",
                    "actuate.endpoint.HealthEndpoint",
                    "application.AvailabilityHealthContributor",
                    "application.DiskSpaceHealthContributor",
                    "application.SslHealthContributor",
                    "contributor.HealthContributor",
                    "registry.HealthContributorRegistry")
            .map(name -> "org.springframework.boot.health.autoconfigure." + name + "AutoConfiguration")
            .collect(Collectors.joining(","));

    private static final String NOT_NEEDED =
            "org.springframework.boot.autoconfigure.orm.jpa.HibernateJpaAutoConfiguration," + OF_ANOTHER_LINE;

    /**
     * Returns when both have locked once and listen: on a busy machine the first TLS connections take longer than a
     * command may.
     */
    static TestApplications start(List<String> properties) {
        TestApplications applications = new TestApplications(instance(properties), instance(properties));
        Actor.await("the one has connected", () -> canLock(applications.registry()));
        Actor.await("the other has connected", () -> canLock(applications.otherRegistry()));
        GrantChannels.open((RedisLockRegistry) applications.registry());
        GrantChannels.open((RedisLockRegistry) applications.otherRegistry());
        return applications;
    }

    private static boolean canLock(LockRegistry registry) {
        try {
            registry.get("first").lock();
            registry.get("first").unlock();
            return true;
        } catch (LockUnavailableException notYet) {
            return false;
        }
    }

    static ConfigurableApplicationContext instance(List<String> properties) {
        return new SpringApplicationBuilder(Application.class)
                .properties(
                        "spring.main.web-application-type=none",
                        "spring.main.banner-mode=off",
                        "lock.startup-check=off",
                        "lock.redis.command-timeout=8s", // the machine may be busy
                        "spring.autoconfigure.exclude=" + NOT_NEEDED)
                .run(both(AclUser.CREDENTIALS, properties).stream()
                        .map(property -> "--" + property)
                        .toArray(String[]::new));
    }

    /** What has an application speak TLS and trust this authority alone. */
    static List<String> trusting(Path authority) {
        return List.of(
                "spring.ssl.bundle.pem.redis.truststore.certificate=" + authority.toUri(),
                "spring.data.redis.ssl.bundle=redis");
    }

    static List<String> both(List<String> some, List<String> more) {
        return Stream.concat(some.stream(), more.stream()).toList();
    }

    LockRegistry registry() {
        return one.getBean(LockRegistry.class);
    }

    LockRegistry otherRegistry() {
        return other.getBean(LockRegistry.class);
    }

    @Override
    public void close() {
        one.close();
        other.close();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}
}
