package io.github.lockboot.redis.fleet;

import java.time.Clock;
import java.time.Duration;

import io.github.lockboot.Actor;
import io.github.lockboot.LockAssert;
import io.github.lockboot.ScheduledLock;
import io.github.lockboot.autoconfigure.LockAutoConfiguration;
import io.github.lockboot.redis.RedisLockRegistry;
import io.github.lockboot.redis.TestRegistries;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

/**
 * An instance of an application with scheduled jobs, whose clock is shifted. It says {@code ran <job> <tick> <late>}
 * for each run: the tick is the number of its time on the shifted clock, and it began so many milliseconds after that.
 * Ends with its input.
 */
public final class JobWorker {

    /** How many jobs there are, all with the same times. */
    static final int JOBS = 6;

    private JobWorker() {}

    /** @param args properties */
    public static void main(String[] args) throws Exception {
        new SpringApplicationBuilder(Application.class)
                .properties(
                        "spring.main.web-application-type=none",
                        "spring.main.banner-mode=off",
                        "logging.level.root=warn",
                        "lock.startup-check=off",
                        "lock.redis.command-timeout=5s",
                        "lock.ttl=6s")
                .run(args);
        System.out.println("ready");
        while (System.in.read() >= 0) {
            // until the test ends
        }
        Runtime.getRuntime().halt(0);
    }

    @Configuration(proxyBeanMethods = false)
    @EnableScheduling
    @ImportAutoConfiguration({PropertyPlaceholderAutoConfiguration.class, LockAutoConfiguration.class})
    static class Application {

        @Bean
        Clock clock(@Value("${shift}") Duration shift) {
            return Clock.offset(Clock.systemUTC(), shift);
        }

        @Bean
        ThreadPoolTaskScheduler taskScheduler(Clock clock) {
            ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();
            scheduler.setPoolSize(JOBS + 1);
            scheduler.setClock(clock);
            return scheduler;
        }

        @Bean
        RedisConnectionFactory redis(@Value("${host}") String host, @Value("${port}") int port) {
            return new LettuceConnectionFactory(host, port);
        }

        /** Before the scheduler starts: a process that still loads classes is late by seconds on a busy machine. */
        @Bean
        SmartInitializingSingleton warm(RedisLockRegistry registry, ObjectProvider<Jobs> jobs) {
            return () -> {
                Actor.await("connected", () -> TestRegistries.canLock(registry, "connecting"));
                for (int i = 0; i < 50; i++) {
                    jobs.getObject().warm();
                }
            };
        }

        @Bean
        Jobs jobs(Clock clock, @Value("${period}") Duration period) {
            return new Jobs(clock, period.toMillis());
        }
    }

    static class Jobs {

        private final Clock clock;
        private final long period;

        Jobs(Clock clock, long period) {
            this.clock = clock;
            this.period = period;
        }

        private void ran(int job) {
            LockAssert.assertLocked();
            long now = clock.millis();
            long tick = (now + period / 4) / period; // the scheduler may be a little early
            System.out.println("ran " + job + " " + tick + " " + (now - tick * period));
        }

        @ScheduledLock(name = "warm-${shift}-#{T(java.lang.ProcessHandle).current().pid()}")
        void warm() {
            LockAssert.assertLocked();
        }

        @Scheduled(cron = "${cron}")
        @ScheduledLock(name = "job-0", atLeastFor = "${keep}", ttl = "${ttl}")
        void job0() {
            ran(0);
        }

        @Scheduled(cron = "${cron}")
        @ScheduledLock(name = "job-1", atLeastFor = "${keep}", ttl = "${ttl}")
        void job1() {
            ran(1);
        }

        @Scheduled(cron = "${cron}")
        @ScheduledLock(name = "job-2", atLeastFor = "${keep}", ttl = "${ttl}")
        void job2() {
            ran(2);
        }

        @Scheduled(cron = "${cron}")
        @ScheduledLock(name = "job-3", atLeastFor = "${keep}", ttl = "${ttl}")
        void job3() {
            ran(3);
        }

        @Scheduled(cron = "${cron}")
        @ScheduledLock(name = "job-4", atLeastFor = "${keep}", ttl = "${ttl}")
        void job4() {
            ran(4);
        }

        @Scheduled(cron = "${cron}")
        @ScheduledLock(name = "job-5", atLeastFor = "${keep}", ttl = "${ttl}")
        void job5() {
            ran(5);
        }

        @Scheduled(initialDelayString = "${long-period}", fixedRateString = "${long-period}")
        @ScheduledLock(name = "long", ttl = "1s")
        void neverEnds() throws InterruptedException {
            System.out.println("begun");
            Thread.sleep(Long.MAX_VALUE);
        }
    }
}
