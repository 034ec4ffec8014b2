package org.example.docs;

import java.util.List;
import java.util.Properties;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.Lease;
import io.github.lockboot.LockContext;
import io.github.lockboot.ScheduledLock;
import org.junit.jupiter.api.Test;
import org.quartz.DisallowConcurrentExecution;
import org.quartz.Job;
import org.quartz.JobBuilder;
import org.quartz.JobExecutionContext;
import org.quartz.Scheduler;
import org.quartz.TriggerBuilder;
import org.quartz.impl.StdSchedulerFactory;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.stereotype.Component;
import org.springframework.test.context.TestPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

/** What docs/recipes.md shows of Quartz, with its jobs in memory. */
@TestPropertySource(properties = "spring.autoconfigure.exclude=")
class QuartzTests extends OnRedis {

    private static final CountDownLatch BOTH_RUN = new CountDownLatch(2);
    private static final BlockingQueue<String> SEEN = new LinkedBlockingQueue<>();

    @Autowired
    private Scheduler scheduler;

    @Autowired
    private BlockingQueue<ScheduledLock.Outcome> outcomes;

    private static void start(Scheduler scheduler, Class<? extends Job> job) throws Exception {
        scheduler.scheduleJob(
                JobBuilder.newJob(job).build(),
                TriggerBuilder.newTrigger().startNow().build());
    }

    private ScheduledLock.Outcome outcome() throws Exception {
        start(scheduler, RatesJob.class);
        return outcomes.poll(60, TimeUnit.SECONDS);
    }

    @Test
    void theJobRunsInOneInstance() throws Exception {
        try (Lease other = anotherInstance().acquire("rates", ONCE)) {
            assertThat(outcome()).isEqualTo(ScheduledLock.Outcome.SKIPPED);
            assertThat(other.isValid()).isTrue();
        }
        assertThat(outcome()).isEqualTo(ScheduledLock.Outcome.RAN);
        assertThat(outcome()).isEqualTo(ScheduledLock.Outcome.SKIPPED); // within atLeastFor
    }

    @Test
    void anAnnotationOnAJobThatQuartzMakesIsNotSeen() throws Exception {
        Scheduler plain = plain("plain");
        try {
            start(plain, Annotated.class);
            assertThat(SEEN.poll(60, TimeUnit.SECONDS)).isEqualTo("no lock");
        } finally {
            plain.shutdown(true);
        }
    }

    @Test
    void anAnnotatedJobThatSpringBootMakesIsLocked() throws Exception {
        start(scheduler, Annotated.class);
        assertThat(SEEN.poll(60, TimeUnit.SECONDS)).isEqualTo("annotated");
    }

    @Test
    void schedulersWithJobsInMemoryRunWhatMustNotRunTwiceBesideEachOther() throws Exception {
        List<Scheduler> instances = List.of(plain("one"), plain("two"));
        try {
            for (Scheduler instance : instances) {
                start(instance, NotTwice.class);
            }
            assertThat(BOTH_RUN.await(60, TimeUnit.SECONDS)).isTrue();
        } finally {
            for (Scheduler instance : instances) {
                instance.shutdown(true);
            }
        }
    }

    /** A scheduler of another instance, without Spring. */
    private static Scheduler plain(String name) throws Exception {
        Properties properties = new Properties();
        properties.setProperty("org.quartz.scheduler.instanceName", name);
        properties.setProperty("org.quartz.threadPool.threadCount", "1");
        properties.setProperty("org.quartz.scheduler.skipUpdateCheck", "true");
        Scheduler scheduler = new StdSchedulerFactory(properties).getScheduler();
        scheduler.start();
        return scheduler;
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Rates.class)
    static class Application {

        @Bean
        BlockingQueue<ScheduledLock.Outcome> outcomes() {
            return new LinkedBlockingQueue<>();
        }

        @Bean
        ScheduledLock.Listener listener(BlockingQueue<ScheduledLock.Outcome> outcomes) {
            return run -> outcomes.add(run.outcome());
        }
    }

    @DisallowConcurrentExecution
    public static class NotTwice implements Job {

        @Override
        public void execute(JobExecutionContext context) {
            BOTH_RUN.countDown();
            try {
                BOTH_RUN.await(60, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    public static class Annotated implements Job {

        @Override
        @DistributedLock(name = "annotated")
        public void execute(JobExecutionContext context) {
            SEEN.add(LockContext.find().map(LockContext::name).orElse("no lock"));
        }
    }
}

// tag::quartz
class RatesJob implements Job { // Quartz makes it, so the lock is on a bean that it calls

    private final Rates rates;

    RatesJob(Rates rates) {
        this.rates = rates;
    }

    @Override
    public void execute(JobExecutionContext context) {
        rates.load();
    }
}

@Component
class Rates {

    @ScheduledLock(name = "rates", atLeastFor = "10s", ttl = "10s")
    public void load() { // once in the fleet, whichever instance is first
        read();
    }
    // end::quartz

    private void read() {}
    // tag::quartz
}
// end::quartz
