package io.github.lockboot.aop;

import java.util.stream.Stream;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ClassUtils;

/** Finds the {@code @Retryable} of Spring Framework 7 and of Spring Retry that calls a method again outside its lock. */
final class OuterRetry {

    private static final String FRAMEWORK = "org.springframework.resilience.annotation.";
    private static final String SPRING_RETRY = "org.springframework.retry.annotation.";

    private OuterRetry() {}

    /**
     * Refuses a retry that would find the lock kept by the attempt before.
     *
     * @param order that of the lock; the advice of Spring Framework 7 comes before all others, whatever their order is
     */
    static void refuse(LockedMethod method, boolean job, int order, ListableBeanFactory beans) {
        String inside = "put @Retryable on a method of another bean that this one calls";
        if (!isAround(method, order, beans)) {
            return;
        }
        if (job) {
            method.add(
                    "has atLeastFor and is retried outside its lock, so a failed run keeps the lock and skips its own retry",
                    inside);
        } else {
            method.add(
                    "has keepFor and is retried outside its lock, so a failed call keeps the lock and refuses its own retry",
                    "write keepOn = KeepOn.SUCCESS, or " + inside);
        }
    }

    private static boolean isAround(LockedMethod method, int order, ListableBeanFactory beans) {
        return isOn(method, FRAMEWORK)
                        && beansOf(FRAMEWORK + "RetryAnnotationBeanPostProcessor", beans)
                                .findAny()
                                .isPresent()
                || isOn(method, SPRING_RETRY)
                        && beansOf(SPRING_RETRY + "RetryConfiguration", beans)
                                .anyMatch(retries -> retries instanceof Ordered advisor && advisor.getOrder() <= order);
    }

    /** That of the method comes first. Not if it is stateful: then the caller gets the exception, and calls again if it wants to. */
    private static boolean isOn(LockedMethod method, String retryable) {
        return Stream.of(method.method(), method.targetClass())
                .map(element -> MergedAnnotations.from(element, SearchStrategy.TYPE_HIERARCHY)
                        .get(retryable + "Retryable"))
                .filter(MergedAnnotation::isPresent)
                .findFirst()
                .filter(found -> !found.getValue("stateful", Boolean.class).orElse(false))
                .isPresent();
    }

    private static Stream<?> beansOf(String type, ListableBeanFactory beans) {
        return beans.getBeanProvider(ClassUtils.resolveClassName(type, OuterRetry.class.getClassLoader())).stream();
    }
}
