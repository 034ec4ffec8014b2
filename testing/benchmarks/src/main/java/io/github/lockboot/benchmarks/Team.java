package io.github.lockboot.benchmarks;

import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import io.github.lockboot.fixture.RedisProbe;
import io.github.lockboot.harness.Contender;
import io.github.lockboot.harness.RedisAddress;
import io.github.lockboot.harness.WorkerProcess;
import io.github.lockboot.harness.WorkerProcess.FailedException;

/** The processes of one contender, which do their rounds at the same time. */
final class Team implements AutoCloseable {

    private static final List<String> OPTIONS = List.of("-XX:+UseSerialGC", "-Xmx1g");
    private static final long LEAD_MILLIS = 60;

    private final List<WorkerProcess> workers = new ArrayList<>();
    private final Contender contender;
    private final RedisProbe redis;
    private final long patienceMillis;

    private Team(Contender contender, RedisProbe redis, long patienceMillis) {
        this.contender = contender;
        this.redis = redis;
        this.patienceMillis = patienceMillis;
    }

    /**
     * Starts the processes and returns when they have connected.
     *
     * @param cold whether they take no lock before the first round
     * @param redis for the counting of commands, past any proxy
     * @param patienceMillis how long a round may take beyond its time
     */
    static Team start(
            boolean cold,
            Path jdk,
            Contender contender,
            int processes,
            RedisAddress at,
            RedisProbe redis,
            long patienceMillis) {
        Team team = new Team(contender, redis, patienceMillis);
        List<String> args = List.of(contender.name(), at.toWord(), Boolean.toString(cold));
        try {
            for (int i = 0; i < processes; i++) {
                team.workers.add(new WorkerProcess(jdk, OPTIONS, BenchmarkWorker.class, args, line -> false));
            }
            team.workers.forEach(WorkerProcess::awaitReady);
            return team;
        } catch (UncheckedIOException | FailedException e) {
            team.close();
            throw e;
        }
    }

    Measurement measure(Load load, long millis, int turns) {
        redis.command("CONFIG", "RESETSTAT");
        double redisBefore = redisSeconds();
        long start = System.currentTimeMillis() + LEAD_MILLIS;
        for (int process = 0; process < workers.size(); process++) {
            workers.get(process).tell(new Round(load, start, millis, turns, process).encode());
        }
        long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(LEAD_MILLIS + millis + patienceMillis);
        List<Sample> samples = new ArrayList<>();
        for (WorkerProcess worker : workers) {
            Duration left = Duration.ofNanos(Math.max(0, until - System.nanoTime()));
            samples.add(Sample.parse(worker.awaitSaid(BenchmarkWorker.DONE, left)));
        }
        return Measurement.of(
                Sample.together(samples),
                redis.commandCalls(),
                Contenders.ownCommands(contender),
                redisSeconds() - redisBefore);
    }

    private double redisSeconds() {
        Map<String, String> cpu = redis.info("cpu");
        return Double.parseDouble(cpu.get("used_cpu_user")) + Double.parseDouble(cpu.get("used_cpu_sys"));
    }

    @Override
    public void close() {
        workers.forEach(WorkerProcess::close);
    }
}
