package io.github.lockboot.autoconfigure;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Stream;

import com.jayway.jsonpath.JsonPath;
import io.github.lockboot.DistributedLock.Release;
import io.github.lockboot.LockOptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.core.io.FileSystemResource;

import static org.assertj.core.api.Assertions.assertThat;

class LockPropertiesTests {

    private static final Path METADATA = Path.of("target/classes/META-INF/spring-configuration-metadata.json");

    private static final List<String> OF_OWN_REDIS = List.of(
            "url",
            "host",
            "port",
            "username",
            "password",
            "database",
            "client-name",
            "ssl.enabled",
            "ssl.bundle",
            "sentinel.master",
            "sentinel.nodes",
            "sentinel.username",
            "sentinel.password",
            "cluster.nodes");

    private final ApplicationContextRunner runner =
            new ApplicationContextRunner().withUserConfiguration(Properties.class);

    @Test
    void defaultsAreThoseOfTheMetadata() {
        bound(properties -> {
            assertThat(properties.enabled()).isTrue();
            assertThat(properties.type()).isEqualTo(LockProperties.Type.REDIS);
            assertThat(properties.keyPrefix()).isEqualTo("lock:");
            assertThat(properties.ttl()).isEqualTo(Duration.ofSeconds(30));
            assertThat(properties.waitTime()).isEqualTo(Duration.ofSeconds(10));
            assertThat(properties.renew()).isTrue();
            assertThat(properties.maxHold()).isNull();
            assertThat(properties.localHandoffLimit()).isEqualTo(64);
            assertThat(properties.maxWaiters()).isEqualTo(100);
            assertThat(properties.maxHolders()).isEqualTo(200);
            assertThat(properties.retry().interval()).isEqualTo(Duration.ofSeconds(2));
            assertThat(properties.retry().minInterval()).isEqualTo(Duration.ofMillis(20));
            assertThat(properties.redis().commandTimeout()).isEqualTo(Duration.ofSeconds(2));
            assertThat(properties.aop().order()).isEqualTo(1_000);
            assertThat(properties.options())
                    .isEqualTo(LockOptions.defaults()
                            .withTtl(Duration.ofSeconds(30))
                            .withWaitTime(Duration.ofSeconds(10))
                            .withRenewal()
                            .withRelease(Release.AWAIT));
        });
    }

    @Test
    void optionsTakeWhatIsSet() {
        bound(
                properties -> assertThat(properties.options())
                        .isEqualTo(LockOptions.defaults()
                                .withTtl(Duration.ofSeconds(5))
                                .withWaitTime(Duration.ZERO)
                                .withoutRenewal()
                                .withMaxHold(Duration.ofMinutes(1))
                                .withRelease(Release.SEND)),
                "lock.release=send",
                "lock.ttl=5s",
                "lock.wait-time=0",
                "lock.renew=false",
                "lock.max-hold=1m");
    }

    @Test
    void defaultsGiveWayToAShortTtlAndInterval() {
        bound(
                properties -> {
                    assertThat(properties.redis().commandTimeout()).isEqualTo(Duration.ofMillis(500));
                    assertThat(properties.retry().minInterval()).isEqualTo(Duration.ofMillis(10));
                },
                "lock.ttl=1s",
                "lock.retry.interval=10ms");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            lock.key-prefix             | ''    | must not be blank: use a prefix such as 'lock:'
            lock.key-prefix             | a b:  | must have neither white space nor control characters: remove them
            lock.ttl                    | 999ms | ttl is PT0.999S; it must be at least 1000 ms
            lock.ttl                    | 25d   | ttl is PT600H; it must be at most 24 days: use renewal instead
            lock.wait-time              | -1ms  | waitTime is PT-0.001S; it must not be negative
            lock.max-hold               | 0ms   | maxHold is PT0S; it must be positive
            lock.shutdown-grace-period  | -1ms  | must not be negative: use 0 not to wait
            lock.local-handoff-limit    | -1    | must be from 0 to 65535: use 0 for strict order
            lock.local-handoff-limit    | 65536 | must be from 0 to 65535: use 0 for strict order
            lock.max-waiters            | 0     | must be at least 1: raise it
            lock.max-holders            | 0     | must be at least 1: raise it
            lock.retry.interval         | 0ms   | must be at least 10ms: raise it
            lock.retry.interval         | 1ns   | must be at least 10ms: raise it
            lock.retry.interval         | 9ms   | must be at least 10ms: raise it
            lock.retry.interval         | 25d   | must be at most 24d: lower it
            lock.retry.min-interval     | 1ns   | must be at least 10ms: raise it
            lock.retry.min-interval     | 9ms   | must be at least 10ms: raise it
            lock.retry.min-interval     | 3000ms | must be at most lock.retry.interval (2000ms): lower it
            lock.redis.command-timeout  | 0ms   | must be at least 10ms: raise it
            lock.redis.command-timeout  | 1ns   | must be at least 10ms: raise it
            lock.redis.command-timeout  | 9ms   | must be at least 10ms: raise it
            lock.redis.command-timeout  | 25d   | must be at most 24d: lower it
            lock.redis.command-timeout  | 30000ms | must be less than lock.ttl (30000ms), or one slow command exceeds a lease: lower it
            lock.locks.order.ttl        | 2000ms | must be more than lock.redis.command-timeout (2000ms), or one slow command exceeds a lease: raise it
            lock.ttl                    | PT9223372036854775807S  | ttl is PT2562047788015215H30M7S; it must be at most 24 days: use renewal instead
            lock.wait-time              | PT-9223372036854775807S | waitTime is PT-2562047788015215H-30M-7S; it must not be negative
            lock.max-hold               | PT-9223372036854775807S | maxHold is PT-2562047788015215H-30M-7S; it must be positive
            lock.locks.order.linger     | PT-9223372036854775807S | linger is PT-2562047788015215H-30M-7S; it must not be negative
            lock.shutdown-grace-period  | PT-9223372036854775807S | must not be negative: use 0 not to wait
            lock.retry.interval         | PT9223372036854775807S  | must be at most 24d: lower it
            lock.retry.min-interval     | PT9223372036854775807S  | must be at most 24d: lower it
            lock.redis.command-timeout  | PT9223372036854775807S  | must be at most 24d: lower it
            """)
    void aBadValueIsNamedWithItsAction(String property, String value, String reason) {
        String shown = Map.of("25d", "2160000000ms", "1ns", "PT0.000000001S")
                .getOrDefault(
                        value, value.startsWith("PT") ? Duration.parse(value).toString() : value);
        runner.withPropertyValues(property + "=" + value)
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessage("Property " + property + " with value '" + shown + "' is invalid: " + reason));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            lock.ttl                     | 5     | lock.ttl
            lock.wait-time               | 5     | lock.wait-time
            lock.waitTime                | 5     | lock.wait-time
            lock.wait_time               | 5     | lock.wait-time
            lock.wait-time               | -5    | lock.wait-time
            lock.wait-time               | ' 5 ' | lock.wait-time
            lock.wait-time               | ${five} | lock.wait-time
            lock.max-hold                | 60000 | lock.max-hold
            lock.shutdown-grace-period   | 10    | lock.shutdown-grace-period
            lock.retry.interval          | 500   | lock.retry.interval
            lock.retry.min-interval      | 20    | lock.retry.min-interval
            lock.redis.command-timeout   | 2000  | lock.redis.command-timeout
            lock.locks.order.ttl         | 5     | lock.locks.order.ttl
            lock.locks.order.wait-time   | 5     | lock.locks.order.wait-time
            lock.locks.order.waitTime    | 5     | lock.locks.order.wait-time
            lock.locks.order.max-hold    | 5     | lock.locks.order.max-hold
            lock.locks.order.linger      | 5     | lock.locks.order.linger
            lock.locks[Work.run].ttl     | 5     | lock.locks.[Work.run].ttl
            """)
    void aNumberWithoutAUnitIsRefusedAsInTheAnnotation(String property, String value, String named) {
        started(Map.of(property, value, "five", "5"))
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessage("Property " + named + " with value '"
                                + value.strip().replace("${five}", "5")
                                + "' is invalid: has no unit, in \"" + property
                                + "\" from property source \"file\": write a time such as 500ms, 10s or PT5S"));
    }

    @Test
    void aNumberOfYamlAndOneOfTheEnvironmentAreRefusedToo() {
        started(Map.of("lock.wait-time", 5))
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageStartingWith("Property lock.wait-time with value '5' is invalid: has no unit, in "));
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(LockAutoConfiguration.class))
                .withInitializer(context -> context.getEnvironment()
                        .getPropertySources()
                        .addFirst(new SystemEnvironmentPropertySource(
                                "systemEnvironment", Map.of("LOCK_LOCKS_ORDER_WAITTIME", "5"))))
                .run(
                        context -> assertThat(context)
                                .getFailure()
                                .rootCause()
                                .hasMessageStartingWith(
                                        "Property lock.locks.order.wait-time with value '5' is invalid: has no unit,"
                                                + " in \"LOCK_LOCKS_ORDER_WAITTIME\" from property source \"systemEnvironment\""));
    }

    @Test
    void theLineOfTheFileIsNamed(@TempDir Path folder) throws IOException {
        Path file = Files.writeString(folder.resolve("lock.yml"), "lock:\n  ttl: 5s\n  wait-time: 5\n");
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(LockAutoConfiguration.class))
                .withInitializer(context -> {
                    try {
                        new YamlPropertySourceLoader()
                                .load("lock.yml", new FileSystemResource(file))
                                .forEach(context.getEnvironment().getPropertySources()::addFirst);
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                })
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageStartingWith(
                                "Property lock.wait-time with value '5' is invalid: has no unit, in file [")
                        .hasMessageEndingWith("lock.yml] - 3:14: write a time such as 500ms, 10s or PT5S"));
    }

    @Test
    void zeroNeedsNoUnit() {
        started(Map.of(
                        "lock.type", "memory",
                        "lock.wait-time", "0",
                        "lock.shutdown-grace-period", 0,
                        "lock.locks.order.wait-time", "0"))
                .run(context -> assertThat(context).hasNotFailed());
    }

    private static ApplicationContextRunner started(Map<String, Object> properties) {
        return new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(LockAutoConfiguration.class))
                .withInitializer(context -> context.getEnvironment()
                        .getPropertySources()
                        .addFirst(new MapPropertySource("file", properties)));
    }

    @Test
    void aTimeThatOnlyEndsAWaitMayBeAsLongAsThereAreNumbers() {
        String longest = "PT9223372036854775807S";
        bound(
                properties -> {
                    assertThat(properties.options().waitTime()).isEqualTo(Duration.parse(longest));
                    assertThat(properties.overrides().get("order").linger()).isEqualTo(Duration.parse(longest));
                    assertThat(PropertyCheck.text(properties.shutdownGracePeriod()))
                            .isEqualTo(Duration.parse(longest).toString());
                },
                "lock.wait-time=" + longest,
                "lock.max-hold=" + longest,
                "lock.shutdown-grace-period=" + longest,
                "lock.locks.order.linger=" + longest);
    }

    @Test
    void aValueOfTheWrongTypeIsNamed() {
        runner.withPropertyValues("lock.ttl=soon")
                .run(context -> assertThat(context).getFailure().hasStackTraceContaining("lock.ttl"));
    }

    @Test
    @Tag("this-build")
    void metadataDescribesEveryProperty() throws IOException {
        Map<String, String> defaults = new TreeMap<>();
        List<Map<String, Object>> properties =
                JsonPath.parse(METADATA.toFile()).read("$.properties[?(@.name =~ /lock\\..*/)]");
        for (Map<String, Object> property : properties) {
            String name = (String) property.get("name");
            assertThat((String) property.get("description"))
                    .as(name)
                    .isNotBlank()
                    .endsWith(".");
            assertThat(defaults.put(name, String.valueOf(property.get("defaultValue"))))
                    .as(name)
                    .isNull();
        }
        assertThat(OF_OWN_REDIS)
                .allSatisfy(word ->
                        assertThat(defaults.remove("lock.redis." + word)).isEqualTo("null"));
        assertThat(defaults)
                .isEqualTo(new TreeMap<>(Map.ofEntries(
                        Map.entry("lock.enabled", "true"),
                        Map.entry("lock.log-keys", "false"),
                        Map.entry("lock.redis.acknowledge", "none"),
                        Map.entry("lock.redis.connect-at-startup", "true"),
                        Map.entry("lock.mdc", "false"),
                        Map.entry("lock.endpoint.force-release", "false"),
                        Map.entry("lock.observations.enabled", "false"),
                        Map.entry("lock.type", "redis"),
                        Map.entry("lock.key-prefix", "lock:"),
                        Map.entry("lock.ttl", "30s"),
                        Map.entry("lock.wait-time", "10s"),
                        Map.entry("lock.renew", "true"),
                        Map.entry("lock.max-hold", "null"),
                        Map.entry("lock.release", "await"),
                        Map.entry("lock.locks", "null"),
                        Map.entry("lock.startup-check", "warn"),
                        Map.entry("lock.shutdown-grace-period", "10s"),
                        Map.entry("lock.local-handoff-limit", "64"),
                        Map.entry("lock.max-waiters", "100"),
                        Map.entry("lock.max-holders", "200"),
                        Map.entry("lock.retry.interval", "2s"),
                        Map.entry("lock.retry.min-interval", "20ms"),
                        Map.entry("lock.redis.command-timeout", "2s"),
                        Map.entry("lock.cache.sync", "null"),
                        Map.entry("lock.cache.unavailable", "load"),
                        Map.entry("lock.max-waiting", "null"),
                        Map.entry("lock.web.problem-details", "true"),
                        Map.entry("lock.aop.order", "1000"))));
    }

    @Test
    @Tag("this-build")
    void whatTheMetadataCallsTheDefaultIsWhatIsFilledIn() throws IOException {
        List<Map<String, Object>> properties =
                JsonPath.parse(METADATA.toFile()).read("$.properties[?(@.name =~ /lock\\..*/)]");
        String[] written = properties.stream()
                .filter(property -> property.containsKey("defaultValue"))
                .filter(property -> !property.get("name").equals("lock.redis.command-timeout")) // depends on the ttl
                .map(property -> property.get("name") + "=" + property.get("defaultValue"))
                .toArray(String[]::new);
        assertThat(written).hasSizeGreaterThan(10);
        bound(filledIn -> bound(set -> assertThat(set).isEqualTo(filledIn), written));
    }

    @Test
    @Tag("this-build")
    void metadataDescribesEveryChoice() throws IOException {
        assertThat(hints("lock.type")).containsExactlyElementsOf(choices(LockProperties.Type.values()));
        assertThat(hints("lock.release"))
                .containsExactlyElementsOf(choices(new Release[] {Release.AWAIT, Release.SEND}));
        assertThat(hints("lock.cache.unavailable"))
                .containsExactlyElementsOf(choices(LockProperties.Cache.Unavailable.values()));
        assertThat(hints("lock.startup-check"))
                .containsExactlyElementsOf(choices(LockProperties.StartupCheck.values()));
    }

    private static List<String> hints(String property) throws IOException {
        return JsonPath.parse(METADATA.toFile())
                .read("$.hints[?(@.name == '" + property + "')].values[?(@.description =~ /.+[.]/)].value");
    }

    private static List<String> choices(Enum<?>[] values) {
        return Stream.of(values)
                .map(value -> value.name().toLowerCase(Locale.ROOT))
                .toList();
    }

    private void bound(Consumer<LockProperties> assertions, String... values) {
        runner.withPropertyValues(values).run(context -> assertions.accept(context.getBean(LockProperties.class)));
    }

    @EnableConfigurationProperties(LockProperties.class)
    static class Properties {}
}
