package org.example.docs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import io.github.lockboot.LockRegistry;
import io.github.lockboot.autoconfigure.LockAutoConfiguration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.handler.NoUnboundElementsBindHandler;
import org.springframework.boot.env.OriginTrackedMapPropertySource;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.boot.test.context.ConfigDataApplicationContextInitializer;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.PropertySource;
import org.springframework.core.io.FileSystemResource;
import org.springframework.data.redis.cache.RedisCacheManager;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/** Every application.yml that a page shows is one that an application starts with, and no property in it is ignored. */
class YamlTests {

    static List<Path> files() throws IOException {
        try (Stream<Path> files = Files.list(Page.ROOT.resolve("testing/snippets/src/test/resources/snippets"))) {
            return files.filter(file -> file.toString().endsWith(".yml"))
                    .sorted()
                    .toList();
        }
    }

    /** Those of servers that are here; others start an application with the rest. */
    static List<Path> complete() throws IOException {
        return files().stream()
                .filter(file -> !file.endsWith("sentinel-tls.yml")) // DocumentedAclBlocksTests
                .filter(file -> !file.endsWith("own-redis.yml")) // OwnRedisPageTests
                .toList();
    }

    @ParameterizedTest
    @MethodSource("complete")
    void anApplicationStartsWithIt(Path file) {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(RedisAutoConfiguration.class, LockAutoConfiguration.class))
                .withPropertyValues("spring.config.location=" + file.toUri(), "lock.startup-check=off")
                .withBean(RedisCacheManager.class, () -> RedisCacheManager.create(new LettuceConnectionFactory()))
                .withInitializer(new ConfigDataApplicationContextInitializer())
                .run(context -> {
                    assertThat(context).hasNotFailed().hasSingleBean(LockRegistry.class);
                    Class<?> properties = context.getBean("lock-io.github.lockboot.autoconfigure.LockProperties")
                            .getClass();
                    Binder.get(context.getEnvironment())
                            .bindOrCreate(
                                    "lock",
                                    Bindable.of(properties),
                                    new NoUnboundElementsBindHandler(
                                            BindHandler.DEFAULT,
                                            source -> source.getUnderlyingSource()
                                                    instanceof OriginTrackedMapPropertySource));
                });
    }

    @ParameterizedTest
    @MethodSource("files")
    void everyPropertyIsKnown(Path file) throws IOException {
        Map<String, String> known = known();
        for (PropertySource<?> source :
                new YamlPropertySourceLoader().load(file.toString(), new FileSystemResource(file))) {
            for (String name : ((EnumerablePropertySource<?>) source).getPropertyNames()) {
                String property = name.replaceAll("\\[\\d+\\]", "");
                assertThat(known.containsKey(property)
                                || known.entrySet().stream()
                                        .anyMatch(map -> map.getValue().startsWith("java.util.Map")
                                                && property.startsWith(map.getKey())))
                        .as("%s: %s", file.getFileName(), name)
                        .isTrue();
            }
        }
    }

    /** Types by name, from the metadata of all libraries here. */
    private static Map<String, String> known() throws IOException {
        Map<String, String> known = new HashMap<>();
        for (Map<String, Object> property : Metadata.properties()) {
            known.put(
                    property.get("name").toString(),
                    property.getOrDefault("type", "").toString());
        }
        return known;
    }
}
