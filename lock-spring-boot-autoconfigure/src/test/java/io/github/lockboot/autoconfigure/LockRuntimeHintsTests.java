package io.github.lockboot.autoconfigure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.FencingToken;
import io.github.lockboot.ScheduledLock;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.TypeReference;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.context.annotation.ImportRuntimeHints;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.contentOf;

class LockRuntimeHintsTests {

    private static final Pattern LOOK_UP = Pattern.compile("(?:isPresent|forName)\\(\\s*\"([\\w.$]+)\"");

    private final RuntimeHints hints = new RuntimeHints();

    LockRuntimeHintsTests() {
        new LockRuntimeHints().registerHints(hints, getClass().getClassLoader());
    }

    @Test
    void theAutoConfigurationBringsThem() {
        ImportRuntimeHints imports =
                AnnotatedElementUtils.getMergedAnnotation(LockAutoConfiguration.class, ImportRuntimeHints.class);
        assertThat(imports.value()).containsExactly(LockRuntimeHints.class);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "acquire-free",
                "acquire",
                "unlock-last",
                "unlock",
                "renew",
                "show",
                "publish",
                "fence",
                "common",
                "probe"
            })
    void everyScriptIsKept(String script) {
        assertThat(RuntimeHintsPredicates.resource().forResource("io/github/lockboot/redis/" + script + ".lua"))
                .accepts(hints);
    }

    @Test
    void theAttributesOfTheAnnotationsCanBeRead() {
        for (Class<?> annotation : List.of(
                DistributedLock.class, DistributedLock.Container.class, ScheduledLock.class, FencingToken.class)) {
            assertThat(methodsOf(annotation.getName())).contains(MemberCategory.INVOKE_DECLARED_METHODS);
        }
    }

    /** A native image finds no others by their name, so a lock would not know of its transaction. */
    @Test
    @Tag("this-build")
    void whatTheSourcesLookForAtRunTimeIsKept() throws IOException {
        try (Stream<Path> sources = Files.walk(Path.of("src/main/java"))) {
            List<String> types = sources.filter(Files::isRegularFile)
                    .flatMap(source ->
                            LOOK_UP.matcher(contentOf(source.toFile())).results())
                    .map(found -> found.group(1))
                    .toList();
            assertThat(types).contains(TransactionSynchronizationManager.class.getName());
            assertThat(types)
                    .filteredOn(type -> !type.startsWith("org.mockito.") && ClassUtils.isPresent(type, null))
                    .allMatch(type -> hints.reflection().getTypeHint(TypeReference.of(type)) != null);
        }
    }

    @Test
    void theRootOfAnExpressionCanBeRead() throws Exception {
        String root = "io.github.lockboot.aop.key.KeyVariables$Root";
        assertThat(Class.forName(root).getMethod("args")).isNotNull();
        assertThat(methodsOf(root)).contains(MemberCategory.INVOKE_PUBLIC_METHODS);
    }

    @Test
    void theSettingsOfAConnectionFactoryCanBeRead() {
        assertThat(ReflectionUtils.findField(LettuceConnectionFactory.class, "configuration"))
                .isNotNull();
        assertThat(hints.reflection()
                        .getTypeHint(LettuceConnectionFactory.class)
                        .fields())
                .anyMatch(field -> field.getName().equals("configuration"));
    }

    @Test
    void withoutLettuceNothingIsSaidOfIt() {
        RuntimeHints poor = new RuntimeHints();
        new LockRuntimeHints().registerHints(poor, ClassLoader.getPlatformClassLoader());
        assertThat(poor.reflection().getTypeHint(LettuceConnectionFactory.class))
                .isNull();
    }

    private Iterable<MemberCategory> methodsOf(String type) {
        return hints.reflection().getTypeHint(TypeReference.of(type)).getMemberCategories();
    }
}
