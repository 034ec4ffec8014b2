package io.github.lockboot.aop;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.FencingToken;
import io.github.lockboot.ScheduledLock;
import io.github.lockboot.aop.InvalidLockDefinitionException.Finding;
import org.jspecify.annotations.Nullable;
import org.springframework.core.KotlinDetector;
import org.springframework.core.MethodParameter;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotatedMethod;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ClassUtils;

/**
 * An annotated method, and what is wrong with it.
 *
 * @param method the most specific method
 * @param targetClass the class of the bean, which may inherit the method
 */
record LockedMethod(Method method, Class<?> targetClass, List<Finding> findings) {

    private static final Set<String> PACKAGES_WITHOUT_PUBLISHERS =
            Set.of("java.lang", "java.math", "java.time", "java.util");

    /** How long locks are held: for the call, until the stage that it returns completes, or for each subscription. */
    enum End {
        VALUE,
        STAGE,
        PUBLISHER
    }

    LockedMethod(Method method, Class<?> targetClass) {
        this(method, targetClass, new ArrayList<>(0));
    }

    ResolvableType result() {
        return ResolvableType.forMethodReturnType(method, targetClass);
    }

    Class<?> resultType() {
        return result().toClass();
    }

    End end() {
        if (suspends() || adapterOf(resultType()) != null) {
            return End.PUBLISHER;
        }
        return CompletionStage.class.isAssignableFrom(resultType()) ? End.STAGE : End.VALUE;
    }

    /** Whether it is a suspending function of Kotlin, for which Spring passes a publisher. */
    boolean suspends() {
        return KotlinDetector.isSuspendingFunction(method);
    }

    /** Whether it has a result of a type of Kotlin that is not nullable. */
    boolean isNeverNull() {
        MethodParameter result = new MethodParameter(method, -1);
        return KotlinDetector.isKotlinReflectPresent()
                && KotlinDetector.isKotlinType(method.getDeclaringClass())
                && result.getParameterType() != void.class
                && !result.isOptional();
    }

    /** Of what a caller gets in the end: the continuation of a suspending function has it as its type argument. */
    Class<?> valueType() {
        return suspends()
                ? ResolvableType.forMethodParameter(method, method.getParameterCount() - 1, targetClass)
                        .getGeneric()
                        .resolve(Object.class)
                : resultType();
    }

    /** As they are written, with type parameters resolved: without the continuation of a suspending function. */
    List<Class<?>> parameterTypes() {
        List<Class<?>> types = new ArrayList<>();
        for (int i = 0; i < method.getParameterCount() - (suspends() ? 1 : 0); i++) {
            types.add(ResolvableType.forMethodParameter(method, i, targetClass).toClass());
        }
        return types;
    }

    /**
     * Also if it is a function of Kotlin whose name the compiler adds to, because it is internal or has parameters of a
     * value class.
     */
    boolean isNamed(String name) {
        String compiled = method.getName();
        return compiled.equals(name)
                || (compiled.startsWith(name + "-") || compiled.startsWith(name + "$"))
                        && !method.isSynthetic()
                        && !Modifier.isStatic(method.getModifiers())
                        && KotlinDetector.isKotlinType(method.getDeclaringClass());
    }

    /**
     * Null if the type is no publisher. The registry of adapters loads a large part of Reactor, so most types do not
     * get there.
     */
    static @Nullable ReactiveAdapter adapterOf(Class<?> type) {
        return type.isPrimitive()
                        || type.isArray()
                        || PACKAGES_WITHOUT_PUBLISHERS.contains(type.getPackageName())
                        || CompletionStage.class.isAssignableFrom(type)
                ? null
                : ReactiveAdapterRegistry.getSharedInstance().getAdapter(type);
    }

    void checkResult() {
        Class<?> type = resultType();
        End end = end();
        String instead = end == End.VALUE || suspends() ? LaterResult.insteadOf(this) : null;
        if (suspends()
                && !(KotlinDetector.isKotlinReflectPresent() && isPresent("kotlinx.coroutines.reactor.MonoKt"))) {
            add(
                    "suspends, for which Spring needs more Kotlin libraries",
                    "add kotlinx-coroutines-reactor and kotlin-reflect");
        } else if (instead != null) {
            addReturns("so the lock would be released before the work is done", instead);
        } else if (end == End.STAGE && !type.isAssignableFrom(CompletableFuture.class)) {
            addReturns("which cannot be made here", "return CompletableFuture or CompletionStage");
        } else if (end == End.PUBLISHER && !isPresent("reactor.core.publisher.Mono")) {
            addReturns("for which Reactor is needed", "add reactor-core");
        }
    }

    static boolean isPresent(String type) {
        return ClassUtils.isPresent(type, LockedMethod.class.getClassLoader());
    }

    /** The position of the parameter that receives the fencing token; null if there is none. */
    @Nullable
    Integer tokenParameter(List<DistributedLock> annotations) {
        Integer token = null;
        for (MethodParameter parameter : new AnnotatedMethod(method).getMethodParameters()) {
            if (!parameter.hasParameterAnnotation(FencingToken.class)) {
                continue;
            }
            Class<?> type = parameter.getParameterType();
            if (type != long.class && type != Long.class) {
                add("has a @FencingToken parameter of type " + type.getSimpleName(), "make it a long or a Long");
            }
            if (annotations.size() > 1 || annotations.get(0).perElement()) {
                add(
                        "has a @FencingToken parameter and several locks",
                        "use LockContext.current(name).fencingToken() instead");
            } else if (!annotations.get(0).condition().isEmpty() && type == long.class) {
                add(
                        "has a @FencingToken parameter of type long and a condition, without which there is no token",
                        "make it a Long, which is null then");
            }
            if (token != null) {
                add("has two @FencingToken parameters", "remove one");
            }
            token = parameter.getParameterIndex();
        }
        return token;
    }

    /** Whether the annotation is that of a job: {@link ScheduledLock} gives it its name. */
    boolean isJob(DistributedLock annotation) {
        return MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY)
                .get(ScheduledLock.class)
                .getValue("name", String.class)
                .filter(annotation.name()::equals)
                .isPresent();
    }

    String shortName() {
        return method.getDeclaringClass().getSimpleName() + "." + method.getName();
    }

    void add(String problem, String action) {
        findings.add(new Finding(toString(), problem, action));
    }

    void addReturns(String problem, String action) {
        add("returns " + resultType().getSimpleName() + ", " + problem, action);
    }

    @Override
    public String toString() {
        return method.getDeclaringClass().getName() + "." + method.getName()
                + list(List.of(method.getParameterTypes()));
    }

    static String list(List<Class<?>> parameters) {
        return parameters.stream().map(Class::getSimpleName).collect(Collectors.joining(", ", "(", ")"));
    }
}
