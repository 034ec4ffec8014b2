package io.github.lockboot.aop;

import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.LockTemplate;
import io.github.lockboot.PoorClassLoader;
import io.github.lockboot.RecordingLockRegistry;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.junit.jupiter.api.Test;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** The package works where neither transactions nor Reactor are on the class path. */
class OptionalDependenciesTests {

    private final ClassLoader poor =
            new PoorClassLoader("io.github.lockboot.aop.", "org.springframework.transaction.", "reactor.");
    private final RecordingLockRegistry registry = new RecordingLockRegistry();

    @Test
    void withoutTransactionsNoneIsActive() throws Exception {
        Method isInTransaction = load("MethodLocks").getDeclaredMethod("isInTransaction", MethodInvocation.class);
        isInTransaction.setAccessible(true);
        assertThat(isInTransaction.invoke(null, (Object) null)).isEqualTo(false);
    }

    @Test
    void withoutReactorValuesAndStagesAreLocked() throws Exception {
        Results results = proxy();
        assertThat(results.value()).isEqualTo("value");
        assertThat(results.stage()).isCompletedWithValue("stage");
        assertThat(registry.events()).containsExactly("lock value", "unlock value", "lock stage", "unlock stage");
    }

    @Test
    void withoutReactorPublishersAreKnownAsSuch() throws Exception {
        Constructor<?> constructor = load("LockedMethod").getDeclaredConstructor(Method.class, Class.class);
        constructor.setAccessible(true);
        Object method = constructor.newInstance(Results.class.getDeclaredMethod("publisher"), Results.class);
        Method end = method.getClass().getDeclaredMethod("end");
        end.setAccessible(true);
        assertThat(end.invoke(method)).hasToString("PUBLISHER");
    }

    @Test
    void withoutReactorPublishersAreRefused() throws Exception {
        Results results = proxy();
        assertThatIllegalStateException()
                .isThrownBy(results::publisher)
                .withMessageContaining("returns Mono, for which Reactor is needed: add reactor-core; see https://");
    }

    private Results proxy() throws Exception {
        Constructor<?> constructor = load("DistributedLockInterceptor")
                .getDeclaredConstructor(ConfigurableBeanFactory.class, Supplier.class);
        constructor.setAccessible(true);
        Supplier<LockTemplate> template = () -> new LockTemplate(registry, Duration.ZERO);
        Object interceptor = constructor.newInstance(new DefaultListableBeanFactory(), template);
        assertThat(interceptor.getClass().getClassLoader()).isSameAs(poor);
        ProxyFactory factory = new ProxyFactory(new Service());
        factory.addAdvice((MethodInterceptor) interceptor);
        return (Results) factory.getProxy();
    }

    private Class<?> load(String name) throws ClassNotFoundException {
        return Class.forName("io.github.lockboot.aop." + name, true, poor);
    }

    interface Results {
        String value();

        CompletableFuture<String> stage();

        Mono<String> publisher();
    }

    static class Service implements Results {

        @Override
        @DistributedLock(name = "value")
        public String value() {
            return "value";
        }

        @Override
        @DistributedLock(name = "stage")
        public CompletableFuture<String> stage() {
            return CompletableFuture.completedFuture("stage");
        }

        @Override
        @DistributedLock(name = "publisher")
        public Mono<String> publisher() {
            return Mono.empty();
        }
    }
}
