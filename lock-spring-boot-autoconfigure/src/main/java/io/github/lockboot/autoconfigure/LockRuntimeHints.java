package io.github.lockboot.autoconfigure;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.FencingToken;
import io.github.lockboot.ScheduledLock;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.TypeReference;

/** Hints for native images: the scripts, and what is accessed by reflection. */
class LockRuntimeHints implements RuntimeHintsRegistrar {

    @Override
    public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
        hints.resources().registerPattern("io/github/lockboot/redis/*.lua");
        ReflectionHints reflection = hints.reflection();
        for (Class<?> annotation : new Class<?>[] {
            DistributedLock.class, DistributedLock.Container.class, ScheduledLock.class, FencingToken.class
        }) {
            reflection.registerType(annotation, MemberCategory.INVOKE_DECLARED_METHODS);
        }
        // The type of #root in a key expression.
        reflection.registerType(
                TypeReference.of("io.github.lockboot.aop.key.KeyVariables$Root"), MemberCategory.INVOKE_PUBLIC_METHODS);
        // The settings for own connections are read from this field.
        reflection.registerTypeIfPresent(
                classLoader,
                "org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory",
                factory -> factory.withField("configuration"));
        // Types whose presence is checked at run time.
        for (String type : new String[] {
            "org.springframework.transaction.support.TransactionSynchronizationManager",
            "kotlinx.coroutines.reactor.MonoKt",
            "reactor.core.publisher.Mono"
        }) {
            reflection.registerTypeIfPresent(classLoader, type);
        }
    }
}
