package io.github.lockboot.aop;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import io.github.lockboot.DistributedLock;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.DecoratingProxy;
import org.springframework.core.KotlinDetector;
import org.springframework.core.KotlinReflectionParameterNameDiscoverer;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotationPredicates;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Finds the annotations of a method: on it, on what it overrides or implements, on its class, on what the class extends
 * or implements. The first of these that has any wins.
 */
final class LockAnnotations {

    /**
     * Their methods are not of the application: Groovy adds the first to each class, Spring the others to each proxy.
     */
    private static final Set<String> ADDED =
            Set.of("groovy.lang.GroovyObject", Advised.class.getName(), DecoratingProxy.class.getName());

    private LockAnnotations() {}

    /**
     * Whether the class, or anything it extends or implements, has the annotation anywhere. This is cheap, and most
     * beans of an application need no further search at its start.
     */
    static boolean areAnywhereIn(@Nullable Class<?> type) {
        return type != null
                && !isForeign(type.getName())
                && (isWrittenOn(type)
                        || Stream.of(ReflectionUtils.getDeclaredMethods(type)).anyMatch(LockAnnotations::isWrittenOn)
                        || Stream.of(type.getInterfaces()).anyMatch(LockAnnotations::areAnywhereIn)
                        || areAnywhereIn(type.getSuperclass()));
    }

    /** Whether it is of the JDK or of Spring, and no application can change it. */
    static boolean isForeign(String type) {
        return type.startsWith("java.")
                || type.startsWith("org.springframework.") && !type.startsWith("org.springframework.samples.");
    }

    private static boolean isWrittenOn(AnnotatedElement element) {
        return element.getDeclaredAnnotations().length > 0
                && MergedAnnotations.from(element).isPresent(DistributedLock.class);
    }

    static List<DistributedLock> find(Method method, Class<?> targetClass) {
        return nearest(method, targetClass).stream()
                .map(MergedAnnotation::synthesize)
                .distinct()
                .toList();
    }

    /** Those of the first element that has any, in the hierarchy of the method or else of its class. */
    private static List<MergedAnnotation<DistributedLock>> nearest(Method method, Class<?> targetClass) {
        Method specific = AopUtils.getMostSpecificMethod(method, targetClass);
        return Stream.of(specific, method, targetClass)
                .distinct()
                .filter(element -> element != targetClass || takesFromItsClass(specific, targetClass))
                .map(LockAnnotations::nearest)
                .filter(found -> !found.isEmpty() && !isOverload(specific))
                .findFirst()
                .orElse(List.of());
    }

    private static List<MergedAnnotation<DistributedLock>> nearest(AnnotatedElement element) {
        return MergedAnnotations.from(element, SearchStrategy.TYPE_HIERARCHY).stream(DistributedLock.class)
                .filter(MergedAnnotationPredicates.firstRunOf(MergedAnnotation::getAggregateIndex))
                .toList();
    }

    /**
     * Whether it is one that the Kotlin compiler generates for {@code @JvmOverloads}, with the annotations of the
     * function. It is final, and calls the function, which is locked.
     */
    private static boolean isOverload(Method method) {
        return Modifier.isFinal(method.getModifiers())
                && KotlinDetector.isKotlinReflectPresent()
                && KotlinDetector.isKotlinType(method.getDeclaringClass())
                && new KotlinReflectionParameterNameDiscoverer().getParameterNames(method) == null
                && Stream.of(method.getDeclaringClass().getDeclaredMethods())
                        .anyMatch(
                                other -> other.isSynthetic() && other.getName().equals(method.getName() + "$default"));
    }

    /** The method or the type on which {@link #find} finds the annotations. */
    static AnnotatedElement source(Method method, Class<?> targetClass) {
        return nearest(method, targetClass).stream()
                .findFirst()
                .map(MergedAnnotation::getSource)
                .map(AnnotatedElement.class::cast)
                .orElse(method);
    }

    /**
     * The {@link #source} or, if that is a type, the same method of that type. Its parameters are those that
     * expressions name.
     */
    static Method carrier(Method method, Class<?> targetClass) {
        AnnotatedElement source = source(method, targetClass);
        Method specific = AopUtils.getMostSpecificMethod(method, targetClass);
        return source instanceof Class<?> type
                ? Stream.of(type.getDeclaredMethods())
                        .filter(declared -> declared.getName().equals(specific.getName()))
                        .filter(declared -> AopUtils.getMostSpecificMethod(declared, targetClass)
                                .equals(specific))
                        .findFirst()
                        .orElse(specific)
                : (Method) source;
    }

    /** Whether one of these interfaces declares the method, and the class implements it. */
    static boolean isOf(Set<String> interfaces, Method method, Class<?> targetClass) {
        return ClassUtils.getAllInterfacesForClassAsSet(targetClass).stream()
                .filter(type -> interfaces.contains(type.getName()))
                .anyMatch(type -> ClassUtils.hasMethod(type, method.getName(), method.getParameterTypes()));
    }

    private static boolean takesFromItsClass(Method method, Class<?> targetClass) {
        return Modifier.isPublic(method.getModifiers())
                && !Modifier.isStatic(method.getModifiers())
                && !method.isSynthetic()
                && !ReflectionUtils.isObjectMethod(method)
                && !isOf(ADDED, method, targetClass);
    }
}
