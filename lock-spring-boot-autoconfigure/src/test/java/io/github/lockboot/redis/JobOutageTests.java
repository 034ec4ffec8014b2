package io.github.lockboot.redis;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.github.lockboot.Actor;
import io.github.lockboot.Figures;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.LogVolume;
import io.github.lockboot.ScheduledLock;
import io.github.lockboot.ScheduledLock.Outcome;
import io.github.lockboot.autoconfigure.LockAutoConfiguration;
import io.github.lockboot.fixture.RedisServer;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;

/** What an application with one job, which is due every second, logs while Redis is away. */
class JobOutageTests {

    private static final Duration AWAY = Duration.ofSeconds(20);

    @Configuration(proxyBeanMethods = false)
    @EnableScheduling
    static class Application {}

    static class Draw {

        @Scheduled(cron = "* * * * * *")
        @ScheduledLock(name = "draw")
        public void draw() {}
    }

    /** Of the calls of the job. */
    private final List<Outcome> outcomes = new CopyOnWriteArrayList<>();

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    PropertyPlaceholderAutoConfiguration.class,
                    TaskSchedulingAutoConfiguration.class,
                    RedisAutoConfiguration.class,
                    LockAutoConfiguration.class))
            .withUserConfiguration(Application.class)
            .withBean(Draw.class)
            .withBean(ScheduledLock.Listener.class, () -> run -> outcomes.add(run.outcome()));

    private boolean hasRun(int times) {
        List<Outcome> last = outcomes.subList(Math.max(0, outcomes.size() - times), outcomes.size());
        return Collections.frequency(last, Outcome.RAN) == times;
    }

    @Test
    void anOutageIsALineAtItsBeginningAndOneAtItsEndAndEachTickOfAJobIsALine() {
        try (RedisServer server = RedisServer.start()) {
            runner.withPropertyValues(
                            "spring.data.redis.host=" + server.host(), "spring.data.redis.port=" + server.port())
                    .run(context -> {
                        RedisLockRegistry registry = context.getBean(RedisLockRegistry.class);
                        Actor.await("the start is over", () -> hasRun(8) && GrantChannels.isLive(registry));
                        anOutageOf(server);
                    });
        }
    }

    private void anOutageOf(RedisServer server) {
        int before = outcomes.size();
        try (LogVolume log = new LogVolume()) {
            server.stop();
            Actor.pass(AWAY);
            server.restart();
            Actor.await("the end is logged", () -> lines(log).size() > 1);
            List<String> ticks = log.lines(ScheduledLock.class.getName()).stream()
                    .filter(line -> line.contains("unavailable"))
                    .toList();
            long ours = log.bytesOf("io.github.lockboot");
            Figures.report(
                    "An outage of %s with a job each second: %d bytes, of these %d of the library in %d lines, %s",
                    AWAY, log.bytes(), ours, ticks.size() + 2, log);
            assertThat(lines(log)).hasSize(2);
            assertThat(lines(log).get(0)).startsWith("WARN Locks are unavailable: Redis did not answer or refused: ");
            assertThat(lines(log).get(1))
                    .matches("INFO Locks work again after \\d+\\.\\d+ s; failed calls: " + ticks.size());
            assertThat(ticks)
                    .hasSize(Collections.frequency(outcomes.subList(before, outcomes.size()), Outcome.UNAVAILABLE))
                    .allMatch(line -> line.matches("WARN Job 'draw' unavailable, took \\d+ ms, so it did not run: .*"));
            assertThat(OutageLogContract.channelLines(log)).isEmpty();
            assertThat(log.errors()).isEmpty();
            assertThat(ours).isLessThan(400L * (ticks.size() + 2));
        }
    }

    private static List<String> lines(LogVolume log) {
        return log.lines(LockRegistry.class.getName());
    }
}
