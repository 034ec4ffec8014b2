package io.github.lockboot.autoconfigure;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.RecordingLockRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;

/** A name in an expression is that of a parameter of the method which carries the annotation. */
class ParameterNamesTests {

    private final RecordingLockRegistry registry = new RecordingLockRegistry();

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(LockAutoConfiguration.class))
            .withBean(RecordingLockRegistry.class, () -> registry);

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void anImplementationThatSwapsTheNamesLocksWhatTheInterfaceSays(boolean proxyTargetClass) {
        runner.withPropertyValues("spring.aop.proxy-target-class=" + proxyTargetClass)
                .withBean(Swapped.class)
                .run(context -> context.getBean(Transfers.class).transfer("a", "b"));
        assertThat(registry.names()).containsExactly("from:a");
    }

    @Test
    void aSubclassThatSwapsTheNamesLocksWhatItsBaseSays() {
        runner.withBean(SwappedHeir.class)
                .run(context -> context.getBean(SwappedHeir.class).transfer("a", "b"));
        assertThat(registry.names()).containsExactly("base:a");
    }

    @Test
    void anImplementationOfAGenericInterfaceMaySwapThemToo() {
        runner.withBean(SwappedGeneric.class)
                .run(context -> context.getBean(SwappedGeneric.class).handle("a", "b"));
        assertThat(registry.names()).containsExactly("generic:a");
    }

    @Test
    void theNamesOfAnInterfaceThatIsLockedAsAWholeCount() {
        runner.withBean(SwappedOfLockedType.class)
                .run(context -> context.getBean(LockedType.class).transfer("a", "b"));
        assertThat(registry.names()).containsExactly("type:a");
    }

    @Test
    void aConditionAndSeveralKeysReadTheSameNames() {
        runner.withBean(SwappedCondition.class).run(context -> {
            context.getBean(Conditional.class).transfer("none", "b");
            context.getBean(Conditional.class).transfer("a", "none");
        });
        assertThat(registry.names()).containsExactly("a:none");
    }

    @Test
    void aLambdaAndAMethodReferenceAreLockedThoughTheyHaveNoNames() {
        runner.withUserConfiguration(Lambdas.class).run(context -> {
            assertThat(context).hasNotFailed();
            context.getBean("lambda", Transfers.class).transfer("a", "b");
            context.getBean("reference", Transfers.class).transfer("c", "d");
        });
        assertThat(registry.names()).containsExactly("from:a", "from:c");
    }

    @Test
    void aNameThatOnlyTheImplementationHasIsFound() {
        runner.withBean(Renaming.class)
                .run(context -> context.getBean(Renaming.class).run("a", "b"));
        assertThat(registry.names()).containsExactly("b");
    }

    interface Transfers {
        @DistributedLock(name = "from", key = "#from")
        void transfer(String from, String to);
    }

    static class Swapped implements Transfers {
        @Override
        public void transfer(String to, String from) {}
    }

    abstract static class Base {
        @DistributedLock(name = "base", key = "#from")
        public abstract void transfer(String from, String to);
    }

    static class SwappedHeir extends Base {
        @Override
        public void transfer(String to, String from) {}
    }

    interface Handler<T> {
        @DistributedLock(name = "generic", key = "#id")
        void handle(T id, T other);
    }

    static class SwappedGeneric implements Handler<String> {
        @Override
        public void handle(String other, String id) {}
    }

    @DistributedLock(name = "type", key = "#from")
    interface LockedType {
        void transfer(String from, String to);
    }

    static class SwappedOfLockedType implements LockedType {
        @Override
        public void transfer(String to, String from) {}
    }

    interface Conditional {
        @DistributedLock(
                key = {"#from", "#to"},
                condition = "#from != 'none'")
        void transfer(String from, String to);
    }

    static class SwappedCondition implements Conditional {
        @Override
        public void transfer(String to, String from) {}
    }

    interface Renamed {
        @DistributedLock(key = "#order")
        void run(String first, String second);
    }

    static class Renaming implements Renamed {
        @Override
        public void run(String packet, String order) {}
    }

    @Configuration(proxyBeanMethods = false)
    static class Lambdas {

        @Bean
        Transfers lambda() {
            return (one, other) -> {};
        }

        @Bean
        Transfers reference() {
            return this::book;
        }

        private void book(String from, String to) {}
    }
}
