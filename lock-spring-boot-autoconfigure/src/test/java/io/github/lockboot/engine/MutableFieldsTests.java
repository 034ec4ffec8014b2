package io.github.lockboot.engine;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Who has a lock is spread over few fields, so that a reader can keep all of them in mind. */
class MutableFieldsTests {

    /** More than so many fields that change, and nobody knows what they may be together. */
    private static final int MOST = 50;

    private static final String BASE = "io.github.lockboot.";

    /** The classes whose fields say together who has a lock. */
    private static final List<String> CLASSES = List.of(
            "engine.Acquisition",
            "engine.Waiter",
            "engine.ThreadWaiter",
            "engine.FutureWaiter",
            "engine.LocalQueue",
            "engine.Lingering",
            "engine.Hold",
            "engine.Grant",
            "engine.Renewer$Slot",
            "engine.PollSchedule",
            "engine.UseNotifier",
            "LockContext",
            "internal.HeldByThread",
            "HeldLocks");

    /** Final fields of these types refer to what never changes. */
    private static final Set<String> CONSTANT_LISTS = Set.of("UseNotifier.listeners", "HeldLocks.wanted");

    @Test
    void whoHasALockIsSaidByFewFields() {
        List<String> mutable =
                CLASSES.stream().flatMap(MutableFieldsTests::mutableFields).toList();
        assertThat(mutable).hasSizeLessThanOrEqualTo(MOST).contains("Acquisition.state", "LocalQueue.granted");
    }

    private static Stream<String> mutableFields(String className) {
        Class<?> type = load(BASE + className);
        return Stream.of(type.getDeclaredFields())
                .filter(field -> !Modifier.isStatic(field.getModifiers()) && !field.isSynthetic())
                .filter(field -> !Modifier.isFinal(field.getModifiers()) || isMutable(field.getType()))
                .map(MutableFieldsTests::name)
                .filter(name -> !CONSTANT_LISTS.contains(name));
    }

    private static Class<?> load(String className) {
        try {
            return Class.forName(className, false, MutableFieldsTests.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            throw new AssertionError(e);
        }
    }

    private static String name(Field field) {
        return field.getDeclaringClass().getSimpleName() + "." + field.getName();
    }

    private static boolean isMutable(Class<?> type) {
        return type.getName().startsWith("java.util.concurrent.atomic.")
                || Collection.class.isAssignableFrom(type)
                || Map.class.isAssignableFrom(type);
    }
}
