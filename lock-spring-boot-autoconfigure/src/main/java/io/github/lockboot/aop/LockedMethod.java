package io.github.lockboot.aop;

import java.lang.reflect.Method;

import io.github.lockboot.aop.InvalidLockDefinitionException.Finding;
import io.github.lockboot.aop.key.KeyVariables;
import org.springframework.core.ResolvableType;

/**
 * An annotated method.
 *
 * @param method as the target class has it
 * @param targetClass the class of the bean, in which it may be inherited
 * @param variables what its expressions may name
 */
record LockedMethod(Method method, Class<?> targetClass, KeyVariables variables) {

    LockedMethod(Method method, Class<?> targetClass) {
        this(method, targetClass, new KeyVariables(method));
    }

    /** What the method returns when it is called on the target class. */
    ResolvableType result() {
        return ResolvableType.forMethodReturnType(method, targetClass);
    }

    Class<?> resultType() {
        return result().toClass();
    }

    /** {@code Class.method}. */
    String shortName() {
        return method.getDeclaringClass().getSimpleName() + "." + method.getName();
    }

    Finding finding(String problem, String action) {
        return new Finding(toString(), problem, action);
    }

    @Override
    public String toString() {
        return variables.toString();
    }
}
