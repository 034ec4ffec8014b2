package io.github.lockboot.aop;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.LockTemplate;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.core.MethodClassKey;
import org.springframework.expression.spel.support.StandardEvaluationContext;
import org.springframework.util.function.SingletonSupplier;

/** The locks that methods ask for, the annotations of each read once. */
final class LockSpecSource {

    private final Map<MethodClassKey, LockedCall> calls = new ConcurrentHashMap<>();
    private final SingletonSupplier<LockedCallParser> parser;

    /** @param template of the locks whose annotation names no registry */
    LockSpecSource(ConfigurableBeanFactory beanFactory, Supplier<LockTemplate> template) {
        this.parser = SingletonSupplier.of(() -> parser(beanFactory, template));
    }

    /** Made for the first annotated method: expressions are a large part of Spring to load. */
    private static LockedCallParser parser(ConfigurableBeanFactory beanFactory, Supplier<LockTemplate> template) {
        StandardEvaluationContext shared = new StandardEvaluationContext();
        shared.setBeanResolver(new BeanFactoryResolver(beanFactory));
        return new LockedCallParser(new LockSpecParser(beanFactory, template), shared);
    }

    /** @throws InvalidLockDefinitionException if an annotation is wrong */
    LockedCall get(Method method, Class<?> targetClass) {
        MethodClassKey key = new MethodClassKey(method, targetClass);
        LockedCall call = calls.get(key);
        return call != null ? call : calls.computeIfAbsent(key, absent -> read(method, targetClass));
    }

    private LockedCall read(Method method, Class<?> targetClass) {
        List<DistributedLock> annotations = LockAnnotations.find(method, targetClass);
        if (annotations.isEmpty()) {
            throw new IllegalStateException(method + " has no @DistributedLock on " + targetClass.getName());
        }
        Method specific = AopUtils.getMostSpecificMethod(method, targetClass);
        return parser.obtain().parse(new LockedMethod(specific, targetClass), annotations);
    }
}
