package io.github.lockboot.autoconfigure;

import java.lang.annotation.Annotation;
import java.lang.invoke.MethodHandles;
import java.util.Map;

import net.bytebuddy.ByteBuddy;
import net.bytebuddy.dynamic.loading.ClassLoadingStrategy;
import net.bytebuddy.implementation.SuperMethodCall;
import net.bytebuddy.matcher.ElementMatchers;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ClassUtils;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** Annotations of Spring Framework 7 in tests that are compiled with Spring Framework 6. */
final class Framework7 {

    private static final String PACKAGE = "org.springframework.resilience.annotation.";

    private Framework7() {}

    /** @param name {@code Retryable} or {@code ConcurrencyLimit}; the test is skipped where there is none */
    @SuppressWarnings("unchecked")
    static Class<? extends Annotation> annotation(String name) {
        assumeTrue(
                ClassUtils.isPresent(PACKAGE + name, null),
                "@" + name
                        + " of Spring Framework 7 around a lock: this is Spring Framework 6; run testing/matrix/run 4.1.1");
        return (Class<? extends Annotation>) ClassUtils.resolveClassName(PACKAGE + name, null);
    }

    /** What {@code @EnableResilientMethods} registers for it. */
    static Class<?> postProcessorOf(Class<? extends Annotation> annotation) {
        return ClassUtils.resolveClassName(
                PACKAGE + annotation.getSimpleName().replace("Retryable", "RetryAnnotation") + "BeanPostProcessor",
                null);
    }

    static Annotation plain(Class<? extends Annotation> annotation) {
        return annotation.getSimpleName().equals("ConcurrencyLimit")
                ? AnnotationUtils.synthesizeAnnotation(Map.of("value", 5, "limit", 5), annotation, null)
                : AnnotationUtils.synthesizeAnnotation(Map.of("delay", 1L), annotation, null);
    }

    /** {@return a subclass with the annotation} */
    static <T> Class<? extends T> subclass(Class<T> type, Annotation annotation) {
        return new ByteBuddy()
                .subclass(type)
                .annotateType(annotation)
                .make()
                .load(type.getClassLoader(), ClassLoadingStrategy.UsingLookup.of(lookupIn(type)))
                .getLoaded();
    }

    /** {@return a subclass whose method has the annotation, too} */
    static <T> Class<? extends T> subclass(Class<T> type, String method, Annotation annotation) {
        return new ByteBuddy()
                .subclass(type)
                .method(ElementMatchers.named(method))
                .intercept(SuperMethodCall.INSTANCE)
                .annotateMethod(annotation)
                .make()
                .load(type.getClassLoader(), ClassLoadingStrategy.UsingLookup.of(lookupIn(type)))
                .getLoaded();
    }

    private static MethodHandles.Lookup lookupIn(Class<?> type) {
        try {
            return MethodHandles.privateLookupIn(type, MethodHandles.lookup());
        } catch (IllegalAccessException failure) {
            throw new AssertionError(failure);
        }
    }
}
