package io.github.lockboot.aop;

import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.reflect.Proxy;
import java.util.concurrent.Callable;

import io.github.lockboot.DistributedLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.support.GenericApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

/** What is looked through for locked methods: a class that is left out would run unlocked without a word. */
class LockAnnotationsTests {

    @Retention(RetentionPolicy.RUNTIME)
    @DistributedLock(key = "'order'")
    @Repeatable(OrderLocks.class)
    @interface OrderLock {}

    @Retention(RetentionPolicy.RUNTIME)
    @interface OrderLocks {
        OrderLock[] value();
    }

    static class OnAMethod {
        @DistributedLock(key = "'a'")
        void run() {}
    }

    @DistributedLock(key = "'a'")
    static class OnTheClass {}

    static class OnWhatItExtends extends OnAMethod {}

    interface Annotated {
        @DistributedLock(key = "'a'")
        void run();
    }

    interface ExtendsIt extends Annotated {}

    abstract static class OnAnInterfaceFarUp implements ExtendsIt {}

    static class Repeated {
        @DistributedLock(key = "'a'")
        @DistributedLock(key = "'b'")
        void run() {}
    }

    static class Composed {
        @OrderLock
        void run() {}
    }

    static class ComposedAndRepeated {
        @OrderLock
        @OrderLock
        void run() {}
    }

    static class BesideOthers {
        @Deprecated
        void run() {}
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                OnAMethod.class,
                OnTheClass.class,
                OnWhatItExtends.class,
                ExtendsIt.class,
                OnAnInterfaceFarUp.class,
                Repeated.class,
                Composed.class,
                ComposedAndRepeated.class
            })
    void aClassIsLookedThroughIfTheAnnotationIsAnywhereInItOrAboveIt(Class<?> type) {
        assertThat(LockAnnotations.areAnywhereIn(type)).isTrue();
    }

    @Test
    void soIsTheClassOfAnInterfaceProxy() {
        Object proxy = Proxy.newProxyInstance(
                ExtendsIt.class.getClassLoader(), new Class<?>[] {ExtendsIt.class}, (self, method, args) -> null);
        assertThat(LockAnnotations.areAnywhereIn(proxy.getClass())).isTrue();
    }

    @ParameterizedTest
    @ValueSource(classes = {BesideOthers.class, Callable.class, GenericApplicationContext.class, Object.class})
    void noOtherIs(Class<?> type) {
        assertThat(LockAnnotations.areAnywhereIn(type)).isFalse();
    }
}
