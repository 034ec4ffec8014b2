package io.github.lockboot.aop;

import java.util.List;
import java.util.function.Supplier;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.FencingToken;
import io.github.lockboot.LockTemplate;
import io.github.lockboot.aop.key.KeyExpressionParser;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.core.MethodParameter;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotatedMethod;
import org.springframework.expression.spel.support.StandardEvaluationContext;
import org.springframework.scheduling.annotation.Async;

/** Parses the annotations of a method, and finds all that is wrong with them before there are arguments. */
final class LockedCallParser {

    private final ConfigurableBeanFactory beanFactory;
    private final Supplier<LockTemplate> template;
    private final KeyExpressionParser expressions;
    private final StandardEvaluationContext shared = new StandardEvaluationContext();

    LockedCallParser(ConfigurableBeanFactory beanFactory, Supplier<LockTemplate> template) {
        this.beanFactory = beanFactory;
        this.template = template;
        this.expressions = new KeyExpressionParser(beanFactory);
        this.shared.setBeanResolver(new BeanFactoryResolver(beanFactory));
    }

    /** @throws InvalidLockDefinitionException with all that is wrong with this method */
    LockedCall parse(LockedMethod method, List<DistributedLock> annotations) {
        Findings findings = new Findings(method);
        ResultKind result = ResultKind.of(method);
        result.check(method, findings);
        List<LockDefinition> definitions = annotations.stream()
                .map(annotation -> new LockDefinitionParser(
                                beanFactory, template, expressions, method, result, annotation, findings)
                        .parse())
                .toList();
        Integer token = tokenParameter(method, annotations, findings);
        findings.throwIfAny();
        boolean mayHideWork = result == ResultKind.VALUE && LaterResult.canBeHiddenBy(method.resultType());
        return new LockedCall(method, definitions, token, strategy(result, method), mayHideWork, shared);
    }

    static CallStrategy strategy(ResultKind result, LockedMethod method) {
        return switch (result) {
            case VALUE -> new BlockingCall();
            case STAGE ->
                new AsyncCall(AnnotatedElementUtils.hasAnnotation(method.method(), Async.class)
                        || AnnotatedElementUtils.hasAnnotation(method.targetClass(), Async.class));
            case PUBLISHER -> new ReactiveCall(ResultKind.adapterOf(method.resultType()));
        };
    }

    private static @Nullable Integer tokenParameter(
            LockedMethod method, List<DistributedLock> annotations, Findings findings) {
        Integer token = null;
        for (MethodParameter parameter : new AnnotatedMethod(method.method()).getMethodParameters()) {
            if (!parameter.hasParameterAnnotation(FencingToken.class)) {
                continue;
            }
            Class<?> type = parameter.getParameterType();
            if (type != long.class && type != Long.class) {
                findings.add(
                        "has a @FencingToken parameter of type " + type.getSimpleName(), "make it a long or a Long");
            }
            if (annotations.size() > 1 || annotations.get(0).perElement()) {
                findings.add(
                        "has a @FencingToken parameter and takes several locks",
                        "ask LockContext.current(name).fencingToken() instead");
            } else if (!annotations.get(0).condition().isEmpty() && type == long.class) {
                findings.add(
                        "has a @FencingToken parameter of type long and a condition, without which there is no token",
                        "make it a Long, which is null then");
            }
            if (token != null) {
                findings.add("has two @FencingToken parameters", "leave one");
            }
            token = parameter.getParameterIndex();
        }
        return token;
    }
}
