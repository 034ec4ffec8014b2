package io.github.lockboot.autoconfigure;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockboot.Actor;
import io.github.lockboot.DistributedLock;
import io.github.lockboot.DistributedLock.IfNotAcquired;
import io.github.lockboot.Lease;
import io.github.lockboot.LockAssert;
import io.github.lockboot.LockContext;
import io.github.lockboot.LockLostException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.LogReader;
import io.github.lockboot.ScheduledLock;
import io.github.lockboot.ScheduledLock.Outcome;
import io.github.lockboot.internal.Troubleshooting;
import io.github.lockboot.memory.MemoryLockRegistry;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.AliasFor;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Jobs, with locks in memory. */
@SuppressWarnings("unused")
class ScheduledLockTests {

    private static final LockOptions ONCE = LockOptions.defaults().withWaitTime(Duration.ZERO);

    private final List<ScheduledLock.Run> runs = new CopyOnWriteArrayList<>();

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withPropertyValues("lock.type=memory", "place=Rome")
            .withConfiguration(
                    AutoConfigurations.of(PropertyPlaceholderAutoConfiguration.class, LockAutoConfiguration.class))
            .withBean(ScheduledLock.Listener.class, () -> runs::add);

    private interface ApplicationTest {
        void accept(Application app) throws Exception;
    }

    private record Application(Jobs jobs, Jobs target, MemoryLockRegistry here, MemoryLockRegistry elsewhere) {

        boolean isFree(String name) {
            return elsewhere
                    .acquireAsync(name, ONCE)
                    .handle((lease, refused) -> {
                        if (lease != null) {
                            lease.close();
                        }
                        return lease != null;
                    })
                    .join();
        }
    }

    private void run(ApplicationTest test) {
        Jobs target = new Jobs();
        runner.withBean(Jobs.class, () -> target).run(context -> {
            MemoryLockRegistry here = context.getBean(MemoryLockRegistry.class);
            test.accept(new Application(context.getBean(Jobs.class), target, here, here.newInstance()));
        });
    }

    private ScheduledLock.Run only() {
        Actor.await("a report", () -> !runs.isEmpty());
        assertThat(runs).hasSize(1);
        return runs.get(0);
    }

    private void assertOnly(String job, Outcome outcome) {
        assertThat(only().job()).isEqualTo(job);
        assertThat(only().outcome()).isEqualTo(outcome);
    }

    // --- the lock ---------------------------------------------------------------------------------------------

    @Test
    void aJobRunsUnderTheLockOfItsNameWhichIsFreeAfterwards() {
        run(app -> {
            app.target.body = () -> {
                LockAssert.assertLocked("quick");
                assertThat(app.isFree("quick")).isFalse();
            };
            app.jobs.quick();
            assertThat(app.isFree("quick")).isTrue();
        });
        assertOnly("quick", Outcome.RAN);
        assertThat(only().thread()).isEqualTo(Thread.currentThread().getName());
        assertThat(only().overran()).isFalse();
    }

    @Test
    void aJobThatAnotherInstanceRunsIsSkippedAtOnce() {
        run(app -> {
            Lease running = app.elsewhere.acquire("quick");
            app.jobs.quick();
            running.close();
        });
        assertOnly("quick", Outcome.SKIPPED);
    }

    @Test
    void aJobThatWasQuickIsKeptForItsTimeAndThenFree() {
        run(app -> {
            app.jobs.keptBriefly();
            app.jobs.keptBriefly();
            assertThat(runs).extracting(ScheduledLock.Run::outcome).containsExactly(Outcome.RAN, Outcome.SKIPPED);
            assertThat(app.isFree("brief")).isFalse();
            Actor.await("it is free", () -> app.isFree("brief"));
        });
    }

    @Test
    void theLeaseIsRenewedWhileTheJobRuns() {
        run(app -> {
            app.target.body = () -> {
                Actor.pass(Duration.ofSeconds(3)); // the ttl is 2 s
                LockAssert.assertLocked();
                assertThat(LockContext.current().remainingLease()).isLessThanOrEqualTo(Duration.ofSeconds(2));
            };
            app.jobs.kept();
        });
        assertOnly("kept", Outcome.RAN);
    }

    @Test
    void aNameMayHoldPlaceholdersAndExpressions() {
        run(app -> {
            app.jobs.inRome();
            app.jobs.lockedInRome();
            assertThat(app.target.names).containsExactly("rates of ROME", "rates of Rome");
        });
        assertOnly("rates of ROME", Outcome.RAN);
    }

    @Test
    void anAnnotationOfYourOwnMayBeMadeOfIt() {
        run(app -> app.jobs.composed());
        assertOnly("composed", Outcome.RAN);
    }

    @Test
    void anOrdinaryLockIsNoJob() {
        run(app -> app.jobs.lockedInRome());
        assertThat(runs).isEmpty();
    }

    // --- what became of a call --------------------------------------------------------------------------------

    @Test
    void aJobThatThrowsHasFailedAndTheCallerGetsItsException() {
        run(app -> {
            app.target.body = () -> {
                throw new IllegalArgumentException("of the job");
            };
            assertThatExceptionOfType(IllegalArgumentException.class).isThrownBy(app.jobs::quick);
        });
        assertOnly("quick", Outcome.FAILED);
    }

    @Test
    void aJobThatLosesItsLockIsLostWhetherItReturnsOrThrows() {
        run(app -> {
            app.target.body = () -> app.here.expire("quick");
            assertThatExceptionOfType(LockLostException.class).isThrownBy(app.jobs::quick);
            app.target.body = () -> {
                app.here.expire("quick");
                throw new IllegalArgumentException("of the job");
            };
            assertThatExceptionOfType(IllegalArgumentException.class).isThrownBy(app.jobs::quick);
        });
        assertThat(runs).extracting(ScheduledLock.Run::outcome).containsExactly(Outcome.LOST, Outcome.LOST);
    }

    @Test
    void aLossOfAnotherLockOrARefusalInsideTheJobIsItsFailure() {
        run(app -> {
            app.target.body = () -> {
                throw new LockLostException("other", 1, "for the test");
            };
            assertThatExceptionOfType(LockLostException.class).isThrownBy(app.jobs::quick);
            app.target.body = () -> {
                throw new LockUnavailableException("other", "for the test", null);
            };
            assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(app.jobs::quick);
        });
        assertThat(runs).extracting(ScheduledLock.Run::outcome).containsExactly(Outcome.FAILED, Outcome.FAILED);
    }

    @Test
    void withoutLocksAJobDoesNotRunAndOneLineSaysSo() {
        try (LogReader log = new LogReader()) {
            run(app -> {
                app.here.close();
                app.target.body = () -> {
                    throw new AssertionError("runs");
                };
                app.jobs.quick();
            });
            assertOnly("quick", Outcome.UNAVAILABLE);
            assertThat(log.warnings())
                    .filteredOn(line -> line.startsWith("Job "))
                    .singleElement()
                    .asString()
                    .startsWith("Job 'quick' unavailable, took ")
                    .contains(" ms, so it did not run: ");
        }
    }

    @Test
    void withoutLocksAPublisherDoesNotRunAndIsEmpty() {
        run(app -> {
            app.here.close();
            assertThat(app.jobs.mono().blockOptional()).isEmpty();
        });
        assertOnly("mono", Outcome.UNAVAILABLE);
    }

    @Test
    void aStageEndsWhenItCompletes() {
        run(app -> {
            CompletableFuture<String> work = new CompletableFuture<>();
            app.target.stage = work;
            CompletableFuture<String> result = app.jobs.stage();
            Actor.await("it runs", () -> app.target.begun.get() == 1);
            app.jobs.stage().join();
            assertOnly("stage", Outcome.SKIPPED);
            work.completeExceptionally(new IllegalArgumentException("of the job"));
            assertThat(result).failsWithin(Duration.ofSeconds(30));
            Actor.await("a report", () -> runs.size() == 2);
            assertThat(runs.get(1).outcome()).isEqualTo(Outcome.FAILED);
        });
    }

    @Test
    void eachSubscriptionOfAPublisherIsACallOfItsOwn() {
        run(app -> {
            Mono<String> mono = app.jobs.mono();
            assertThat(runs).isEmpty();
            assertThat(mono.block()).isEqualTo("done");
            Lease running = app.elsewhere.acquire("mono");
            assertThat(mono.block()).isNull();
            running.close();
            app.target.mono = Mono.error(new IllegalArgumentException("of the job"));
            assertThatExceptionOfType(IllegalArgumentException.class).isThrownBy(mono::block);
            app.target.mono = Mono.never();
            int before = app.target.begun.get();
            CompletableFuture<String> cancelled = mono.toFuture();
            Actor.await("it runs", () -> app.target.begun.get() > before);
            cancelled.cancel(true);
            Actor.await("reports", () -> runs.size() == 4);
        });
        assertThat(runs)
                .extracting(ScheduledLock.Run::outcome)
                .containsExactly(Outcome.RAN, Outcome.SKIPPED, Outcome.FAILED, Outcome.FAILED);
    }

    @Test
    void aPublisherWhoseLocksCannotBeNamedIsReportedToo() {
        run(app -> {
            assertThatThrownBy(() -> app.jobs.keyed().block()).hasMessageContaining("null");
            Actor.await("a report", () -> runs.size() == 1);
        });
        assertThat(runs).extracting(ScheduledLock.Run::outcome).containsExactly(Outcome.UNAVAILABLE);
    }

    @Test
    void subscriptionsAtTheSameTimeAreNotMixedUp() {
        run(app -> {
            Mono<String> mono = app.jobs.mono();
            Flux.range(0, 200)
                    .flatMap(each -> mono.subscribeOn(Schedulers.boundedElastic()))
                    .blockLast();
            assertThat(runs).hasSize(200);
            assertThat(runs.stream().filter(run -> run.outcome() == Outcome.RAN))
                    .hasSize(app.target.begun.get());
            assertThat(runs).extracting(ScheduledLock.Run::outcome).containsOnly(Outcome.RAN, Outcome.SKIPPED);
        });
    }

    @Test
    void aJobThatStillRunsWhenItIsDueAgainHasOverrun() {
        run(app -> {
            app.target.body = () -> awaitMillis(2);
            app.jobs.everyMillisecond();
            app.jobs.aMillisecondLater();
            Lease running = app.elsewhere.acquire("often");
            app.jobs.everyMillisecond();
            running.close();
        });
        assertThat(runs).extracting(ScheduledLock.Run::overran).containsExactly(true, false, false);
    }

    private static void awaitMillis(long millis) {
        long since = System.nanoTime();
        Actor.await(
                "time passes",
                () -> System.nanoTime() - since > Duration.ofMillis(millis).toNanos());
    }

    @Test
    void aListenerThatThrowsHarmsNeitherTheJobNorOthers() {
        try (LogReader log = new LogReader()) {
            runner.withBean("failing", ScheduledLock.Listener.class, () -> run -> {
                        throw new IllegalStateException("of the listener");
                    })
                    .withBean(Jobs.class)
                    .run(context -> context.getBean(Jobs.class).quick());
            assertThat(log.errors()).containsExactly("Unexpected failure of a listener to jobs");
        }
        assertOnly("quick", Outcome.RAN);
    }

    @Test
    void whereNothingIsScheduledAScheduleWithoutAValueIsNoneAndEndsNoStart() {
        runner.withBean(NotScheduled.class)
                .run(context -> context.getBean(NotScheduled.class).nightly());
        assertOnly("nightly", Outcome.RAN);
        assertThat(only().overran()).isFalse();
    }

    static class NotScheduled {
        @Scheduled(cron = "${jobs.cron}")
        @ScheduledLock(name = "nightly")
        public void nightly() {}
    }

    @Test
    void eachCallIsOneLineAndOnlyAnOverrunIsAWarning() {
        try (LogReader log = new LogReader()) {
            run(app -> {
                app.jobs.quick();
                app.jobs.kept();
                app.jobs.kept();
                app.target.body = () -> awaitMillis(2);
                app.jobs.everyMillisecond();
            });
            assertThat(log.messages().stream().filter(line -> line.startsWith("Job ")))
                    .satisfiesExactly(
                            line -> assertThat(line).matches("Job 'quick' ran, took \\d+ ms"),
                            line -> assertThat(line).matches("Job 'kept' ran, took \\d+ ms"),
                            line -> assertThat(line).matches("Job 'kept' skipped, took \\d+ ms"),
                            line -> assertThat(line)
                                    .matches("Job 'often' ran, took \\d+ ms and was due again before it ended"));
            assertThat(log.warnings().stream().filter(line -> line.startsWith("Job ")))
                    .hasSize(1);
        }
    }

    // --- beside @Scheduled ------------------------------------------------------------------------------------

    @Test
    void theSchedulerRunsJobsThroughTheirLocks() {
        runner.withUserConfiguration(Scheduling.class)
                .withBean(ScheduledJobs.class)
                .run(context -> {
                    Actor.await("both ran", () -> jobsWith(Outcome.RAN) == 2);
                    MemoryLockRegistry elsewhere =
                            context.getBean(MemoryLockRegistry.class).newInstance();
                    List<Lease> held = new ArrayList<>();
                    for (String job : List.of("blocking", "reactive")) {
                        held.add(elsewhere.acquire(job, LockOptions.defaults().withWaitTime(Duration.ofSeconds(30))));
                    }
                    runs.clear();
                    Actor.await("both are skipped", () -> jobsWith(Outcome.SKIPPED) == 2);
                    held.forEach(Lease::close);
                });
    }

    private long jobsWith(Outcome outcome) {
        return runs.stream()
                .filter(run -> run.outcome() == outcome)
                .map(ScheduledLock.Run::job)
                .distinct()
                .count();
    }

    @Test
    void aJobThatNoProxyCanLockFailsTheStart() {
        assertRefused(FinalJob.class, "is final, so no proxy can lock it: remove final");
        assertRefused(PrivateJob.class, "is private, so no proxy can lock it: make it public");
        assertRefused(StaticJob.class, "is static, so no proxy can lock it: make it an instance method");
        assertRefused(
                NegativeTime.class, "atLeastFor = \"-1s\" is out of range: atLeastFor is PT-1S; it must be positive");
        assertRefused(BlankJob.class, "name = \" \" is blank: write a name, or leave the attribute out");
        assertRefused(
                WrongExpression.class,
                "name = \"#{nosuch}\" cannot be evaluated (EL1008E: Property or field 'nosuch' cannot be found on object of"
                        + " type 'org.springframework.beans.factory.config.BeanExpressionContext' - maybe not public or not"
                        + " valid?): write an expression as in @Value, without the method's parameters, or use key");
        runner.withBean(FinalClass.class)
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining("final class " + FinalClass.class.getName()));
    }

    /** Spring's scheduler is earlier with its message, since it would call the method of the bean behind the proxy. */
    @Test
    void aScheduledJobThatIsPrivateFailsTheStartToo() {
        runner.withUserConfiguration(Scheduling.class)
                .withBean(ScheduledPrivateJob.class)
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining("Need to invoke method 'run'")
                        .hasMessageContaining("Switch its visibility to package or protected"));
    }

    private void assertRefused(Class<?> job, String problem) {
        runner.withBean(job)
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasMessage(job.getName() + ".run(): " + problem + "; see " + Troubleshooting.PAGE
                                + "invalidlockdefinitionexception"));
    }

    @Configuration(proxyBeanMethods = false)
    @EnableScheduling
    static class Scheduling {}

    @ScheduledLock(name = "")
    @Retention(RetentionPolicy.RUNTIME)
    @interface ComposedJob {

        @AliasFor(annotation = ScheduledLock.class)
        String name();
    }

    static class Jobs {

        Runnable body = () -> {};
        CompletableFuture<String> stage = new CompletableFuture<>();
        Mono<String> mono = Mono.just("done");
        final AtomicInteger begun = new AtomicInteger();
        final List<String> names = new CopyOnWriteArrayList<>();

        @ScheduledLock(name = "quick")
        public void quick() {
            body.run();
        }

        @ScheduledLock(name = "kept", atLeastFor = "1m", ttl = "2s")
        public void kept() {
            body.run();
        }

        @ScheduledLock(name = "brief", atLeastFor = "3s", ttl = "2s")
        public void keptBriefly() {
            body.run();
        }

        @Scheduled(fixedRate = 1)
        @ScheduledLock(name = "often")
        public void everyMillisecond() {
            body.run();
        }

        @Scheduled(fixedDelay = 1)
        @ScheduledLock(name = "later")
        public void aMillisecondLater() {
            body.run();
        }

        @ScheduledLock(name = "rates of #{'${place}'.toUpperCase()}")
        public void inRome() {
            names.add(LockContext.current().name());
        }

        @DistributedLock(name = "rates of #{'${place}'}", waitTime = "0", ifNotAcquired = IfNotAcquired.SKIP)
        public void lockedInRome() {
            names.add(LockContext.current().name());
        }

        @ComposedJob(name = "composed")
        public void composed() {}

        @ScheduledLock(name = "stage")
        public CompletableFuture<String> stage() {
            begun.incrementAndGet();
            return stage;
        }

        @ScheduledLock(name = "keyed")
        @DistributedLock(key = "#root.target.key")
        public Mono<String> keyed() {
            return mono;
        }

        public String getKey() {
            return null;
        }

        @ScheduledLock(name = "mono")
        public Mono<String> mono() {
            begun.incrementAndGet();
            return mono;
        }
    }

    static class ScheduledJobs {

        @Scheduled(fixedRate = 10)
        @ScheduledLock(name = "blocking")
        public void blocking() {}

        @Scheduled(fixedRate = 10)
        @ScheduledLock(name = "reactive")
        public Mono<String> reactive() {
            return Mono.just("done");
        }
    }

    static class FinalJob {
        @ScheduledLock(name = "job")
        public final void run() {}
    }

    static class PrivateJob {
        @ScheduledLock(name = "job")
        private void run() {}
    }

    static class StaticJob {
        @ScheduledLock(name = "job")
        public static void run() {}
    }

    static class BlankJob {
        @ScheduledLock(name = " ")
        public void run() {}
    }

    static class NegativeTime {
        @ScheduledLock(name = "job", atLeastFor = "-1s")
        public void run() {}
    }

    static class WrongExpression {
        @ScheduledLock(name = "#{nosuch}")
        public void run() {}
    }

    static final class FinalClass {
        @ScheduledLock(name = "job")
        public void run() {}
    }

    static class ScheduledPrivateJob {
        @Scheduled(fixedRate = 10)
        @ScheduledLock(name = "job")
        private void run() {}
    }
}
