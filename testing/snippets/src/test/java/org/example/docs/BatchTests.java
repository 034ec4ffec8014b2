package org.example.docs;

import java.time.LocalDate;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;

import io.github.lockboot.Lease;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.ScheduledLock;
import io.github.lockboot.fixture.Await;
import org.junit.jupiter.api.Test;
import org.springframework.batch.core.Job;
import org.springframework.batch.core.JobExecution;
import org.springframework.batch.core.JobExecutionException;
import org.springframework.batch.core.JobParametersBuilder;
import org.springframework.batch.core.explore.JobExplorer;
import org.springframework.batch.core.job.builder.JobBuilder;
import org.springframework.batch.core.launch.JobLauncher;
import org.springframework.batch.core.launch.support.TaskExecutorJobLauncher;
import org.springframework.batch.core.repository.JobExecutionAlreadyRunningException;
import org.springframework.batch.core.repository.JobRepository;
import org.springframework.batch.core.step.builder.StepBuilder;
import org.springframework.batch.repeat.RepeatStatus;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.TestPropertySource;
import org.springframework.transaction.PlatformTransactionManager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** What docs/recipes.md shows of Spring Batch, with its job repository in H2. */
@TestPropertySource(
        properties = {
            "spring.autoconfigure.exclude=",
            "spring.batch.job.enabled=false",
            "spring.datasource.url=jdbc:h2:mem:batch"
        })
class BatchTests extends OnRedis {

    @Autowired
    private Settlement settlement;

    @Autowired
    private Job settle;

    @Autowired
    private JobExplorer explorer;

    @Autowired
    private JobRepository repository;

    @Autowired
    private CountDownLatch goOn;

    @Autowired
    private AtomicBoolean locked;

    @Test
    @DirtiesContext
    void theJobRunsInOneInstanceUnderItsLock() throws Exception {
        try (Lease other = anotherInstance().acquire("settlement", ONCE)) {
            settlement.run();
            assertThat(explorer.getLastJobInstance("settle")).isNull();
            assertThat(other.isValid()).isTrue();
        }
        goOn.countDown();
        settlement.run();
        assertThat(locked).isTrue();
        settlement.run(); // within atLeastFor
        assertThat(explorer.getJobInstanceCount("settle")).isEqualTo(1);
    }

    private JobExecution launch(String parameter) throws JobExecutionException {
        TaskExecutorJobLauncher launcher = new TaskExecutorJobLauncher();
        launcher.setJobRepository(repository);
        launcher.setTaskExecutor(new SimpleAsyncTaskExecutor());
        return launcher.run(
                settle, new JobParametersBuilder().addString("for", parameter).toJobParameters());
    }

    @Test
    @DirtiesContext
    void springBatchRefusesASecondRunWithTheSameParametersOnly() throws Exception {
        JobExecution first = launch("first");
        assertThatExceptionOfType(JobExecutionAlreadyRunningException.class).isThrownBy(() -> launch("first"));
        JobExecution second = launch("second");
        assertThat(first.isRunning()).isTrue();
        assertThat(second.isRunning()).isTrue();
        goOn.countDown();
        Await.until("their ends", () -> !first.isRunning() && !second.isRunning());
    }

    @Test
    @DirtiesContext
    void underALauncherThatDoesNotWaitTheLockEndsBeforeTheJob() throws Exception {
        JobExecution execution = template.execute("launched", () -> launch("later"));
        assertThat(registry.get("launched").isLocked()).isFalse();
        assertThat(execution.isRunning()).isTrue();
        goOn.countDown();
        Await.until("its end", () -> !execution.isRunning());
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Settlement.class)
    static class Application {

        @Bean
        CountDownLatch goOn() {
            return new CountDownLatch(1);
        }

        @Bean
        AtomicBoolean locked() {
            return new AtomicBoolean();
        }

        @Bean
        Job settle(
                JobRepository repository,
                PlatformTransactionManager transactions,
                LockRegistry registry,
                CountDownLatch goOn,
                AtomicBoolean locked) {
            return new JobBuilder("settle", repository)
                    .start(new StepBuilder("all", repository)
                            .tasklet(
                                    (contribution, chunk) -> {
                                        goOn.await();
                                        locked.set(registry.get("settlement").isLocked());
                                        return RepeatStatus.FINISHED;
                                    },
                                    transactions)
                            .build())
                    .build();
        }
    }
}

// tag::batch
@Component
class Settlement {

    private final JobLauncher launcher;
    private final Job settle;

    Settlement(JobLauncher launcher, Job settle) {
        this.launcher = launcher;
        this.settle = settle;
    }

    @Scheduled(cron = "0 0 3 * * *")
    @ScheduledLock(name = "settlement", atLeastFor = "1m", ttl = "1m")
    public void run() throws JobExecutionException { // is locked until the job has ended
        launcher.run(
                settle,
                new JobParametersBuilder().addLocalDate("day", LocalDate.now()).toJobParameters());
    }
}
// end::batch
