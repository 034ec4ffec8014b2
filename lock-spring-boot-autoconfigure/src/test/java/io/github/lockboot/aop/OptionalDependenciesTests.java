package io.github.lockboot.aop;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;

/** The package works where neither transactions nor Reactor are on the class path. */
class OptionalDependenciesTests {

    private final ClassLoader poor = new PoorClassLoader();

    @Test
    void withoutTransactionsNoneIsActive() throws Exception {
        assertThat(invoke(load("BlockingCall"), "isInTransaction")).isEqualTo(false);
    }

    @Test
    void withoutReactorValuesAndStagesAreLocked() throws Exception {
        assertThat(strategyOf("value").getSimpleName()).isEqualTo("BlockingCall");
        assertThat(strategyOf("stage").getSimpleName()).isEqualTo("AsyncCall");
    }

    @Test
    void withoutReactorPublishersAreKnownAsSuch() throws Exception {
        assertThat(kindOf("publisher")).hasToString("PUBLISHER");
    }

    private Class<?> strategyOf(String method) throws Exception {
        Object kind = kindOf(method);
        Object made = invoke(load("LockedCallParser"), "strategy", kind, lockedMethod(method));
        assertThat(made.getClass().getClassLoader()).isSameAs(poor);
        return made.getClass();
    }

    private Object kindOf(String method) throws Exception {
        return invoke(load("ResultKind"), "of", lockedMethod(method));
    }

    private Object lockedMethod(String name) throws Exception {
        Constructor<?> constructor = load("LockedMethod").getDeclaredConstructor(Method.class, Class.class);
        constructor.setAccessible(true);
        return constructor.newInstance(Results.class.getDeclaredMethod(name), Results.class);
    }

    private Class<?> load(String name) throws ClassNotFoundException {
        return Class.forName("io.github.lockboot.aop." + name, true, poor);
    }

    private static Object invoke(Class<?> type, String name, Object... args) throws Exception {
        Class<?>[] types = Arrays.stream(args).map(Object::getClass).toArray(Class<?>[]::new);
        Method method = type.getDeclaredMethod(name, types);
        method.setAccessible(true);
        return method.invoke(null, args);
    }

    interface Results {
        String value();

        CompletableFuture<String> stage();

        Mono<String> publisher();
    }

    /** Has the classes of the package anew, and sees neither of the two. */
    private static final class PoorClassLoader extends ClassLoader {

        PoorClassLoader() {
            super(OptionalDependenciesTests.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (name.startsWith("org.springframework.transaction.") || name.startsWith("reactor.")) {
                throw new ClassNotFoundException(name);
            }
            if (!name.startsWith("io.github.lockboot.aop.")) {
                return super.loadClass(name, resolve);
            }
            Class<?> known = findLoadedClass(name);
            return known != null ? known : define(name);
        }

        private Class<?> define(String name) throws ClassNotFoundException {
            try (InputStream in = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
                byte[] bytes = in.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException failure) {
                throw new ClassNotFoundException(name, failure);
            }
        }
    }
}
