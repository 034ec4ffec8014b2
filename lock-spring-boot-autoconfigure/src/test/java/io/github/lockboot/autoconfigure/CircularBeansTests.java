package io.github.lockboot.autoconfigure;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.RecordingLockRegistry;
import io.github.lockboot.ScheduledLock;
import io.github.lockboot.aop.InvalidLockDefinitionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Spring makes the proxy of a bean that is part of a circle early, and hands the bean itself to later post-processors:
 * what these find and call, such as a method to schedule, is called past the lock.
 */
class CircularBeansTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(LockAutoConfiguration.class))
            .withBean(LockRegistry.class, RecordingLockRegistry::new)
            .withAllowCircularReferences(true);

    @ParameterizedTest
    @ValueSource(classes = {Job.class, InjectsItself.class, Listens.class})
    void aBeanThatIsPartOfACircleIsRefusedBecauseItIsCalledPastItsLock(Class<?> type) {
        runner.withUserConfiguration(Scheduling.class, type, Helper.class)
                .run(context -> assertThat(context)
                        .getFailure()
                        .isInstanceOf(InvalidLockDefinitionException.class)
                        .hasMessageContaining(type.getName())
                        .hasMessageContaining("may be called without its lock, because bean '"
                                + beanName(type)
                                + "' is part of a circular reference and was injected before it was fully initialized:"
                                + " put @Lazy on one of the injection points of the circular reference"));
    }

    @Test
    void itIsOneFindingForEachBeanBesideAllOthers() {
        runner.withUserConfiguration(Job.class, Helper.class, Wrong.class)
                .run(context -> assertThat(context)
                        .getFailure()
                        .isInstanceOfSatisfying(
                                InvalidLockDefinitionException.class,
                                invalid -> assertThat(invalid.getFindings()).hasSize(2)));
    }

    @Test
    void aLazyBeanThatIsPartOfACircleIsRefusedWhenItIsMade() {
        runner.withUserConfiguration(LazyJob.class, LazyHelper.class).run(context -> {
            assertThat(context).hasNotFailed();
            assertThatThrownBy(() -> context.getBean(LazyJob.class))
                    .satisfies(failure -> assertThat(NestedExceptionUtils.getMostSpecificCause(failure))
                            .isInstanceOf(InvalidLockDefinitionException.class)
                            .hasMessageContaining(
                                    "put @Lazy on one of the injection points of the circular reference"));
        });
    }

    @Test
    void withLazyOrAProviderTheProxyIsMadeInTime() {
        runner.withUserConfiguration(InjectsItselfLater.class, AsksForItself.class)
                .run(context -> {
                    context.getBean(InjectsItselfLater.class).outer();
                    context.getBean(AsksForItself.class).outer();
                    assertThat(((RecordingLockRegistry) context.getBean(LockRegistry.class)).names())
                            .containsExactly("later", "asked");
                });
    }

    @Test
    void aCircleOfBeansWithoutLocksIsNoConcernOfLocks() {
        runner.withUserConfiguration(Plain.class, PlainHelper.class)
                .run(context -> assertThat(context).hasNotFailed());
    }

    /** It is injected when it is complete, so everything has its proxy. */
    @Test
    void theLastBeanOfACircleIsLocked() {
        runner.withUserConfiguration(Plain.class, LockedHelper.class).run(context -> {
            assertThat(context).hasNotFailed();
            context.getBean(LockedHelper.class).run();
            assertThat(((RecordingLockRegistry) context.getBean(LockRegistry.class)).names())
                    .containsExactly("helper");
        });
    }

    /** Spring makes the proxy of what it gives, as always. */
    @Test
    void aFactoryThatIsPartOfACircleGivesALockedBean() {
        runner.withUserConfiguration(Factory.class, NeedsProduct.class).run(context -> {
            assertThat(context).hasNotFailed();
            context.getBean(NeedsProduct.class).product.run();
            context.getBean(Product.class).run();
            assertThat(((RecordingLockRegistry) context.getBean(LockRegistry.class)).names())
                    .containsExactly("product", "product");
        });
    }

    private static String beanName(Class<?> type) {
        return "circularBeansTests." + type.getSimpleName();
    }

    @EnableScheduling
    static class Scheduling {}

    static class Job {

        @Autowired
        private Helper helper;

        @Scheduled(fixedDelay = 3_600_000)
        @ScheduledLock(name = "job")
        public void run() {}
    }

    static class Helper {
        @Autowired(required = false)
        private Job job;
    }

    static class InjectsItself {
        @Autowired
        private InjectsItself self;

        @DistributedLock(name = "self")
        public void run() {}
    }

    static class Listens implements ApplicationListener<ContextRefreshedEvent> {
        @Autowired
        private Listens self;

        @Override
        @DistributedLock(name = "listens")
        public void onApplicationEvent(ContextRefreshedEvent event) {}
    }

    static class Wrong {
        @DistributedLock
        public void run() {}
    }

    @Lazy
    static class LazyJob {
        @Autowired
        private LazyHelper helper;

        @DistributedLock(name = "lazy")
        public void run() {}
    }

    @Lazy
    static class LazyHelper {
        @Autowired
        private LazyJob job;
    }

    static class InjectsItselfLater {
        @Lazy
        @Autowired
        private InjectsItselfLater self;

        public void outer() {
            self.run();
        }

        @DistributedLock(name = "later")
        public void run() {}
    }

    static class AsksForItself {
        @Autowired
        private ObjectProvider<AsksForItself> self;

        public void outer() {
            self.getObject().run();
        }

        @DistributedLock(name = "asked")
        public void run() {}
    }

    static class Plain {
        @Autowired(required = false)
        private PlainHelper helper;

        @Autowired(required = false)
        private LockedHelper locked;
    }

    static class PlainHelper {
        @Autowired
        private Plain plain;
    }

    static class LockedHelper {
        @Autowired
        private Plain plain;

        @DistributedLock(name = "helper")
        public void run() {}
    }

    static class Factory implements FactoryBean<Product> {
        @Autowired
        private NeedsProduct needs;

        @Override
        public Product getObject() {
            return new Product();
        }

        @Override
        public Class<?> getObjectType() {
            return Product.class;
        }
    }

    static class NeedsProduct {
        @Autowired
        private Product product;
    }

    static class Product {
        @DistributedLock(name = "product")
        public void run() {}
    }
}
