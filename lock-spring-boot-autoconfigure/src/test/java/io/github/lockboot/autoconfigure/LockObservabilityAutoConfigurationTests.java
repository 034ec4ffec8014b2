package io.github.lockboot.autoconfigure;

import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.Lease;
import io.github.lockboot.LockListener;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockTemplate;
import io.github.lockboot.NamedLock;
import io.github.lockboot.RecordingLockListener;
import io.github.lockboot.ScheduledLock;
import io.github.lockboot.internal.LockNames;
import io.github.lockboot.memory.MemoryLockRegistry;
import io.github.lockboot.observability.LockMdc;
import io.github.lockboot.observability.LockMetrics;
import io.github.lockboot.observability.LockObservations;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistryAssert;
import org.junit.jupiter.api.Test;
import org.slf4j.MDC;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Lazy;

import static org.assertj.core.api.Assertions.assertThat;

/** Metrics, observations, listeners and the logging context of an application, in the way it gets them. */
class LockObservabilityAutoConfigurationTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withPropertyValues("lock.type=memory")
            .withConfiguration(
                    AutoConfigurations.of(LockAutoConfiguration.class, LockObservabilityAutoConfiguration.class));

    @Test
    void withAMeterRegistryLocksAreCounted() {
        runner.withBean(SimpleMeterRegistry.class).withBean(Work.class).run(context -> {
            context.getBean(Work.class).work("4711");
            context.getBean(Work.class).stage("4712").join();
            MeterRegistry meters = context.getBean(MeterRegistry.class);
            assertThat(meters.get("lock.acquired")
                            .tags("group", "order", "origin", "asked")
                            .counter()
                            .count())
                    .isEqualTo(1);
            assertThat(meters.get("lock.hold")
                            .tag("group", "Work.stage")
                            .timer()
                            .count())
                    .isEqualTo(1);
            assertThat(meters.getMeters())
                    .noneMatch(meter -> meter.getId().toString().contains("471"));
        });
    }

    @Test
    void aRegistryThatWrapsAnotherDoesNotCountItsLocksTwice() {
        MemoryLockRegistry wrapped = new MemoryLockRegistry();
        runner.withBean(SimpleMeterRegistry.class)
                .withBean("wrapped", MemoryLockRegistry.class, () -> wrapped)
                .withBean("wrapping", LockRegistry.class, () -> new Wrapping(wrapped), bean -> bean.setPrimary(true))
                .run(context -> {
                    context.getBean(LockTemplate.class).execute("a", () -> null);
                    assertThat(context.getBean(MeterRegistry.class)
                                    .get("lock.acquired")
                                    .tag("origin", "asked")
                                    .counter()
                                    .count())
                            .isEqualTo(1);
                });
    }

    private record Wrapping(LockRegistry wrapped) implements LockRegistry {

        @Override
        public NamedLock get(String name, LockOptions options) {
            return wrapped.get(name, options);
        }

        @Override
        public CompletableFuture<Lease> acquireAsync(String name, LockOptions options) {
            return wrapped.acquireAsync(name, options);
        }

        @Override
        public void addListener(LockListener listener) {
            wrapped.addListener(listener);
        }
    }

    @Test
    void aListenerOfAChildContextIsToldOfTheParentsLocksOnce() {
        runner.withBean("parents", RecordingLockListener.class).run(parent -> {
            runner.withParent(parent)
                    .withBean("childs", RecordingLockListener.class)
                    .run(child -> {
                        parent.getBean(LockRegistry.class).get("a").lock();
                        for (Object listener : List.of(child.getBean("childs"), parent.getBean("parents"))) {
                            assertThat(((RecordingLockListener) listener).told)
                                    .containsExactly("requested a", "acquired a ASKED");
                        }
                    });
            assertThat(parent.getBean(LockRegistry.class).get("b").tryLock())
                    .as("open when the child is closed")
                    .isTrue();
        });
    }

    @Test
    void withAMeterRegistryJobsAreCounted() {
        runner.withBean(SimpleMeterRegistry.class).withBean(Job.class).run(context -> {
            context.getBean(Job.class).run();
            assertThat(context.getBean(MeterRegistry.class)
                            .get("lock.job")
                            .tags("job.name", "nightly", "outcome", "ran")
                            .timer()
                            .count())
                    .isEqualTo(1);
        });
    }

    static class Job {
        @ScheduledLock(name = "nightly")
        public void run() {}
    }

    @Test
    void observationsAreOptIn() {
        runner.withBean(TestObservationRegistry.class, TestObservationRegistry::create)
                .run(context -> assertThat(context).doesNotHaveBean(LockObservations.class));
        runner.withPropertyValues("lock.observations.enabled=true", "lock.enabled=false")
                .withBean(TestObservationRegistry.class, TestObservationRegistry::create)
                .run(context -> assertThat(context).doesNotHaveBean(LockObservations.class));
    }

    /** As Spring Boot does with a meter registry, its filters and an observation registry. */
    @Test
    void waitsAndHoldsAreTimedOnceWhetherObservedOrNot() {
        SimpleMeterRegistry meters = new SimpleMeterRegistry();
        ObservationRegistry observations = ObservationRegistry.create();
        observations.observationConfig().observationHandler(new DefaultMeterObservationHandler(meters));
        runner.withPropertyValues("lock.observations.enabled=true")
                .withBean(ObservationRegistry.class, () -> observations)
                .withBean(MeterRegistry.class, () -> meters)
                .run(context -> {
                    context.getBeanProvider(MeterFilter.class).forEach(meters.config()::meterFilter);
                    context.getBean(LockTemplate.class).execute("a", () -> 1);
                    assertThat(meters.getMeters().stream()
                                    .filter(meter -> meter.getId().getType() == Meter.Type.TIMER
                                            || meter.getId().getType() == Meter.Type.LONG_TASK_TIMER)
                                    .map(meter -> meter.getId().getName()))
                            .containsOnly("lock.wait", "lock.hold");
                    assertThat(meters.get("lock.hold").timer().count()).isEqualTo(1);
                });
    }

    @Test
    void withAnObservationRegistryLockedMethodsAreObservedAndTheirBodiesBelow() {
        runner.withPropertyValues("lock.observations.enabled=true")
                .withBean(TestObservationRegistry.class, TestObservationRegistry::create)
                .withBean(Work.class)
                .run(context -> {
                    context.getBean(Work.class).work("4711");
                    context.getBean(Work.class).stage("4712").join();
                    context.getBean(Work.class).several(List.of("1", "2"));
                    TestObservationRegistry observations = context.getBean(TestObservationRegistry.class);
                    for (String body : List.of("work", "stage", "several")) {
                        TestObservationRegistryAssert.assertThat(observations)
                                .hasObservationWithNameEqualTo(body)
                                .that()
                                .hasParentObservationContextSatisfying(
                                        parent -> assertThat(parent.getName()).isEqualTo("lock.execution.hold"));
                    }
                    TestObservationRegistryAssert.assertThat(observations)
                            .hasNumberOfObservationsWithNameEqualTo("lock.execution", 4);
                });
    }

    @Test
    void withoutRegistriesNobodyListens() {
        runner.run(context -> {
            assertThat(context).doesNotHaveBean(LockMetrics.class).doesNotHaveBean(LockObservations.class);
            assertThat(context).doesNotHaveBean(LockListener.class);
        });
    }

    @Test
    void withoutMicrometerSlf4jAndActuatorLocksWork() {
        runner.withClassLoader(new FilteredClassLoader(
                        "io.micrometer.core", "org.slf4j.MDC", "org.springframework.boot.actuate"))
                .withPropertyValues("lock.mdc=true")
                .run(context -> {
                    assertThat(context).doesNotHaveBean(LockMetrics.class).doesNotHaveBean(LockListener.class);
                    assertThat(context.getBean(LockTemplate.class).<Integer, RuntimeException>execute("a", () -> 1))
                            .isEqualTo(1);
                });
    }

    @Test
    void listenersOfTheApplicationAreToldAndMayUseLocksThemselves() {
        runner.withBean(RecordingLockListener.class)
                .withBean(ListenerWithLocks.class)
                .withBean(
                        "other",
                        LockRegistry.class,
                        MemoryLockRegistry::new,
                        definition -> ((AbstractBeanDefinition) definition).setDefaultCandidate(false))
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    RecordingLockListener listener = context.getBean(RecordingLockListener.class);
                    context.getBean("other", LockRegistry.class).get("b").lock();
                    assertThat(listener.told).containsExactly("requested b", "acquired b ASKED");
                });
    }

    @Test
    void theLoggingContextNamesTheLockOnlyWhereThatIsWanted() {
        runner.withBean(Work.class)
                .run(context ->
                        assertThat(context.getBean(Work.class).work("4711")).isNull());
        runner.withPropertyValues("lock.mdc=true").withBean(Work.class).run(context -> {
            assertThat(context.getBean(Work.class).work("4711")).isEqualTo("order#" + LockNames.digest("order:4711"));
            assertThat(MDC.get(LockMdc.KEY)).isNull();
            LockTemplate template = context.getBean(LockTemplate.class);
            String outer = template.execute("outer", () -> {
                String before = MDC.get(LockMdc.KEY);
                assertThat(template.<String, RuntimeException>execute("inner", () -> MDC.get(LockMdc.KEY)))
                        .isEqualTo(LockNames.digest("inner"));
                assertThat(MDC.get(LockMdc.KEY)).isEqualTo(before);
                return before;
            });
            assertThat(outer).isEqualTo(LockNames.digest("outer"));
        });
    }

    @Test
    void inTheClearTheLoggingContextHoldsNoLineBreak() {
        runner.withPropertyValues("lock.mdc=true", "lock.log-keys=true")
                .withBean(Work.class)
                .run(context ->
                        assertThat(context.getBean(Work.class).work("47\r\n11")).isEqualTo("order:47\\u000d\\u000a11"));
    }

    static class Work {

        private final ObjectProvider<ObservationRegistry> observations;

        Work(ObjectProvider<ObservationRegistry> observations) {
            this.observations = observations;
        }

        @DistributedLock(name = "order", key = "#id")
        String work(String id) {
            observe("work");
            return MDC.get(LockMdc.KEY);
        }

        @DistributedLock(key = "#id")
        CompletableFuture<Void> stage(String id) {
            observe("stage");
            return CompletableFuture.completedFuture(null);
        }

        @DistributedLock(key = "#ids", perElement = true)
        void several(List<String> ids) {
            observe("several");
        }

        private void observe(String name) {
            observations.ifAvailable(
                    registry -> Observation.start(name, registry).stop());
        }
    }

    static class ListenerWithLocks implements LockListener {
        ListenerWithLocks(LockTemplate template, @Lazy LockRegistry registry) {}
    }
}
