package io.github.lockboot.aop;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Set;
import java.util.stream.Stream;

import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.context.annotation.Bean;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ClassUtils;

/** Whether calls of an annotated method go through the proxy of its bean. */
final class ProxyReach {

    private static final Set<String> CALLBACK_ANNOTATIONS = Set.of(
            "jakarta.annotation.PostConstruct",
            "jakarta.annotation.PreDestroy",
            "javax.annotation.PostConstruct",
            "javax.annotation.PreDestroy");

    private static final Set<String> CALLBACK_INTERFACES =
            Set.of(InitializingBean.class.getName(), DisposableBean.class.getName());

    private static final String ANNOTATE_METHODS = "annotate the methods to lock instead of their class";

    private ProxyReach() {}

    static void check(LockedMethod locked, String beanName, BeanDefinition bean, boolean interfaceProxy) {
        Method method = locked.method();
        Class<?> type = locked.targetClass();
        AnnotatedElement annotated = LockAnnotations.source(method, type);
        if (MergedAnnotations.from(method).isPresent(Bean.class)) {
            locked.add(
                    "makes a bean, so only its creation is locked",
                    annotated instanceof Class<?>
                            ? ANNOTATE_METHODS
                            : "annotate the method of the bean instead, or use LockTemplate in it");
        } else if (annotated instanceof Method && isCallback(method, type, bean)) {
            locked.add(
                    "is called on the bean itself when the bean is initialized or destroyed, so this call is never locked",
                    "use LockTemplate in it, or lock an @EventListener(ApplicationReadyEvent.class) method instead");
        } else if (Modifier.isPrivate(method.getModifiers())) {
            locked.add("is private, so no proxy can lock it", "make it public");
        } else if (Modifier.isStatic(method.getModifiers())) {
            locked.add("is static, so no proxy can lock it", "make it an instance method");
        } else if (!interfaceProxy) {
            if (Modifier.isFinal(method.getModifiers())) {
                locked.add(
                        "is final, so no proxy can lock it",
                        annotated instanceof Class<?> heir && !heir.isAssignableFrom(method.getDeclaringClass())
                                ? ANNOTATE_METHODS
                                : "remove final");
            } else if ((method.getModifiers() & (Modifier.PUBLIC | Modifier.PROTECTED)) == 0
                    && !method.getDeclaringClass().getPackageName().equals(type.getPackageName())) {
                locked.add(
                        "is package-private, and bean '" + beanName
                                + "' is in another package, so no proxy can lock it",
                        "make it protected or public");
            }
        } else if (!isInInterface(method, type)) {
            locked.add(
                    "is in no interface, so the interface proxy of its bean cannot lock it",
                    "declare it in an interface, or remove spring.aop.proxy-target-class=false");
        }
    }

    /** Whether the container calls it, before the bean has its proxy, or when the bean ends. */
    private static boolean isCallback(Method method, Class<?> type, BeanDefinition bean) {
        String name = method.getName();
        return CALLBACK_ANNOTATIONS.stream()
                        .anyMatch(MergedAnnotations.from(method, SearchStrategy.SUPERCLASS)::isPresent)
                || LockAnnotations.isOf(CALLBACK_INTERFACES, method, type)
                || method.getParameterCount() == 0
                        && (name.equals(bean.getInitMethodName()) || name.equals(bean.getDestroyMethodName()));
    }

    /** Also if the interface is generic and declares it with other types. The bean may be an interface proxy itself. */
    private static boolean isInInterface(Method method, Class<?> type) {
        return method.getDeclaringClass().isInterface()
                || ClassUtils.getAllInterfacesForClassAsSet(type).stream()
                        .flatMap(declaring -> Stream.of(declaring.getMethods()))
                        .anyMatch(declared ->
                                AopUtils.getMostSpecificMethod(declared, type).equals(method));
    }
}
