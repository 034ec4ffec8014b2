package io.github.lockboot.aop;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.FencingToken;
import io.github.lockboot.aop.InvalidLockDefinitionException.Finding;
import org.jspecify.annotations.Nullable;
import org.springframework.core.MethodParameter;
import org.springframework.core.annotation.AnnotatedMethod;
import org.springframework.expression.spel.support.StandardEvaluationContext;

/** The annotations of a method to a {@link LockedCall}. */
final class LockedCallParser {

    private final LockSpecParser specs;
    private final StandardEvaluationContext shared;

    LockedCallParser(LockSpecParser specs, StandardEvaluationContext shared) {
        this.specs = specs;
        this.shared = shared;
    }

    /** @throws InvalidLockDefinitionException with all that is wrong with this method */
    LockedCall parse(LockedMethod method, List<DistributedLock> annotations) {
        List<Finding> findings = new ArrayList<>();
        ResultKind result = ResultKind.of(method);
        result.check(method, findings::add);
        List<LockSpec> parsed = annotations.stream()
                .map(annotation -> specs.parse(method, annotation, result, findings::add))
                .toList();
        TokenParameter token = token(method, annotations, findings::add);
        if (!findings.isEmpty()) {
            throw new InvalidLockDefinitionException(findings);
        }
        boolean mayHideWork = result == ResultKind.VALUE && LaterResult.canBeHiddenBy(method.resultType());
        return new LockedCall(method, parsed, token, result.strategy(method), mayHideWork, shared);
    }

    private static @Nullable TokenParameter token(
            LockedMethod method, List<DistributedLock> annotations, Consumer<Finding> findings) {
        TokenParameter token = null;
        for (MethodParameter parameter : new AnnotatedMethod(method.method()).getMethodParameters()) {
            if (!parameter.hasParameterAnnotation(FencingToken.class)) {
                continue;
            }
            Class<?> type = parameter.getParameterType();
            if (type != long.class && type != Long.class) {
                findings.accept(method.finding(
                        "has a @FencingToken parameter of type " + type.getSimpleName(), "make it a long or a Long"));
            }
            if (annotations.size() > 1 || annotations.get(0).perElement()) {
                findings.accept(method.finding(
                        "has a @FencingToken parameter and takes several locks",
                        "ask LockContext.current(name).fencingToken() instead"));
            } else if (!annotations.get(0).condition().isEmpty() && type == long.class) {
                findings.accept(method.finding(
                        "has a @FencingToken parameter of type long and a condition, without which there is no token",
                        "make it a Long, which is null then"));
            }
            if (token != null) {
                findings.accept(method.finding("has two @FencingToken parameters", "leave one"));
            }
            token = new TokenParameter(parameter.getParameterIndex());
        }
        return token;
    }
}
