package io.github.lockboot.aop;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.List;
import java.util.stream.Stream;

import io.github.lockboot.DistributedLock;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ReflectionUtils;

/**
 * Where the annotations of a method are found: on it, on what it overrides or implements, on its class, on what that extends
 * or implements. The first place that declares one wins.
 */
final class LockAnnotations {

    private LockAnnotations() {}

    /**
     * Whether the class or anything it extends or implements has the annotation anywhere. Every bean of an application is asked
     * this at its start, and looking through all methods of most of them takes far longer than seeing that they have no
     * annotation at all.
     */
    static boolean areAnywhereIn(@Nullable Class<?> type) {
        return type != null
                && !isForeign(type.getName())
                && (isWrittenOn(type)
                        || Stream.of(ReflectionUtils.getDeclaredMethods(type)).anyMatch(LockAnnotations::isWrittenOn)
                        || Stream.of(type.getInterfaces()).anyMatch(LockAnnotations::areAnywhereIn)
                        || areAnywhereIn(type.getSuperclass()));
    }

    /** Nothing of the platform or of Spring has it. */
    private static boolean isForeign(String type) {
        return type.startsWith("java.")
                || type.startsWith("org.springframework.") && !type.startsWith("org.springframework.samples.");
    }

    private static boolean isWrittenOn(AnnotatedElement element) {
        return element.getDeclaredAnnotations().length > 0
                && MergedAnnotations.from(element).isPresent(DistributedLock.class);
    }

    /** Those that apply to a method when it is called on the target class. */
    static List<DistributedLock> find(Method method, Class<?> targetClass) {
        Method specific = AopUtils.getMostSpecificMethod(method, targetClass);
        List<DistributedLock> found = on(specific);
        if (found.isEmpty() && specific != method) {
            found = on(method);
        }
        return found.isEmpty() && takesFromItsClass(specific) ? on(targetClass) : found;
    }

    /** In the nearest place of the element's hierarchy that has any. */
    private static List<DistributedLock> on(AnnotatedElement element) {
        MergedAnnotations all = MergedAnnotations.from(element, SearchStrategy.TYPE_HIERARCHY);
        MergedAnnotation<DistributedLock> nearest = all.get(DistributedLock.class);
        if (!nearest.isPresent()) {
            return List.of();
        }
        return all.stream(DistributedLock.class)
                .filter(annotation -> annotation.getAggregateIndex() == nearest.getAggregateIndex())
                .map(MergedAnnotation::synthesize)
                .distinct()
                .toList();
    }

    private static boolean takesFromItsClass(Method method) {
        return Modifier.isPublic(method.getModifiers())
                && !Modifier.isStatic(method.getModifiers())
                && !method.isSynthetic()
                && !ReflectionUtils.isObjectMethod(method);
    }
}
