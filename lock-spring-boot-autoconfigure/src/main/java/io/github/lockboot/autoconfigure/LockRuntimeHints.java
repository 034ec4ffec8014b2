package io.github.lockboot.autoconfigure;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.DistributedLocks;
import io.github.lockboot.FencingToken;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.TypeReference;

/** What a native image must keep: the scripts, and what is found by reflection. */
class LockRuntimeHints implements RuntimeHintsRegistrar {

    @Override
    public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
        hints.resources().registerPattern("io/github/lockboot/redis/*.lua");
        ReflectionHints reflection = hints.reflection();
        for (Class<?> annotation : new Class<?>[] {DistributedLock.class, DistributedLocks.class, FencingToken.class}) {
            reflection.registerType(annotation, MemberCategory.INVOKE_DECLARED_METHODS);
        }
        // What #root is in a key expression.
        reflection.registerType(
                TypeReference.of("io.github.lockboot.aop.key.KeyContext$Root"), MemberCategory.INVOKE_PUBLIC_METHODS);
        // Own connections are made from the settings in this field.
        reflection.registerTypeIfPresent(
                classLoader,
                "org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory",
                factory -> factory.withField("configuration"));
    }
}
