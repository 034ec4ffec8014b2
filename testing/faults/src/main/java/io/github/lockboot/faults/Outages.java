package io.github.lockboot.faults;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import io.github.lockboot.fixture.Await;
import io.github.lockboot.harness.RedisAddress;
import io.github.lockboot.harness.WorkerProcess;
import org.springframework.boot.SpringBootVersion;

/**
 * One run of one {@link OutageFault}: two applications that hold a lock, wait for it, and take another one in turn,
 * while Redis goes away. One of them closes before it is back, the other afterwards.
 */
final class Outages implements AutoCloseable {

    static final Duration BEFORE = Duration.ofSeconds(10);
    static final Duration AWAY = Duration.ofSeconds(60);
    static final long MOST_LOG = 500_000;

    /** An application that closes waits up to 10 s for locks, and its clients end with it. */
    static final Duration CLOSES_WITHIN = Duration.ofSeconds(30);

    private static final Duration DOWN = Duration.ofSeconds(5);

    /** An application whose log is counted. */
    private static final class Instance extends WorkerProcess {

        private static final Path JDK = Path.of(System.getProperty("java.home"));
        private static final List<String> OPTIONS = List.of(
                "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dlogging.config=classpath:worker-log.xml");

        private final LoggedBytes logged;

        private Instance(OutageFault.ClientType client, RedisAddress redis, LoggedBytes logged) {
            super(JDK, OPTIONS, OutageWorker.class, List.of(client.name(), redis.toWord()), logged::takes);
            this.logged = logged;
        }

        static Instance start(OutageFault.ClientType client, RedisAddress redis) {
            return new Instance(client, redis, new LoggedBytes(List.of(OutageWorker.CLOSED, OutageWorker.GRANTED)));
        }

        /** Waits until it has been granted a lock from now on; NEVER if it is not. */
        long grantedMillis() {
            forget();
            return millisUntil(OutageWorker.GRANTED, Scene.PATIENCE);
        }

        /** Has it close; kills it if it does not. */
        long closeMillis() {
            tell(OutageWorker.CLOSE);
            long millis = millisUntil(OutageWorker.CLOSED, CLOSES_WITHIN);
            kill();
            return millis;
        }

        private long millisUntil(String answer, Duration atMost) {
            long began = System.nanoTime();
            try {
                awaitSaid(answer, atMost);
                return (System.nanoTime() - began) / 1_000_000;
            } catch (FailedException never) {
                return OutageResult.NEVER;
            }
        }
    }

    private final OutageFault fault;
    private final Servers redis;
    private final Instance first;
    private final Instance second;

    private Outages(OutageFault fault) {
        this.fault = fault;
        redis = fault.servers().get();
        first = Instance.start(fault.client(), redis.address());
        second = Instance.start(fault.client(), redis.address());
    }

    static OutageResult run(OutageFault fault) {
        try (Outages scene = new Outages(fault)) {
            return scene.run();
        }
    }

    private OutageResult run() {
        first.awaitReady();
        second.awaitReady();
        if (redis.address().kind() != RedisAddress.Kind.STATIC_REPLICAS) {
            Await.until("both listen to their channels", () -> redis.channels() == 2);
        }
        Pause.of(DOWN); // what is logged at the start is logged then
        long logBefore = loggedIn(() -> Pause.of(BEFORE));
        long log = loggedIn(this::goAway);
        long closeAway = first.closeMillis();
        redis.restart();
        long granted = second.grantedMillis();
        return new OutageResult(
                fault.name(), SpringBootVersion.getVersion(), logBefore, log, closeAway, granted, second.closeMillis());
    }

    /** What either application logs meanwhile, whichever logs more. */
    private long loggedIn(Runnable what) {
        Stream.of(first, second).forEach(each -> each.logged.forget());
        what.run();
        return Math.max(first.logged.count(), second.logged.count());
    }

    private void goAway() {
        long end = System.nanoTime() + AWAY.toNanos();
        redis.kill();
        if (fault.crashing()) {
            Pause.of(DOWN);
            redis.restart();
            Pause.of(ServerFaults.UP);
            redis.kill();
        }
        Pause.nanos(end - System.nanoTime());
    }

    @Override
    public void close() {
        first.close();
        second.close();
        redis.close();
    }
}
