package io.github.lockboot.benchmarks;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import io.github.lockboot.benchmarks.WorkerProcess.FailedException;
import io.github.lockboot.fixture.RedisProbe;

/** The processes of one contender, which do their rounds at the same time. */
final class Team implements AutoCloseable {

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
     * @param redis for the counting of commands, past any proxy
     * @param patienceMillis how long a round may take beyond its time
     */
    static Team start(Path jdk, Contender contender, int processes, Address at, RedisProbe redis, long patienceMillis)
            throws IOException, InterruptedException, FailedException {
        Team team = new Team(contender, redis, patienceMillis);
        try {
            for (int i = 0; i < processes; i++) {
                team.workers.add(WorkerProcess.start(jdk, contender, at.host(), at.port()));
            }
            for (WorkerProcess worker : team.workers) {
                worker.awaitReady();
            }
            return team;
        } catch (IOException | InterruptedException | FailedException e) {
            team.close();
            throw e;
        }
    }

    /** Where clients find Redis. */
    record Address(String host, int port) {}

    Measurement measure(Load load, long millis, int turns) throws InterruptedException, FailedException {
        redis.command("CONFIG", "RESETSTAT");
        double redisBefore = redisSeconds();
        Round round = new Round(load, System.currentTimeMillis() + LEAD_MILLIS, millis, turns);
        workers.forEach(worker -> worker.order(round));
        long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(LEAD_MILLIS + millis + patienceMillis);
        List<Sample> samples = new ArrayList<>();
        for (WorkerProcess worker : workers) {
            long left = TimeUnit.NANOSECONDS.toMillis(until - System.nanoTime());
            samples.add(worker.sampleWithin(Math.max(0, left)));
        }
        return Measurement.of(
                Sample.together(samples), redis.commandCalls(), contender.ownCommands(), redisSeconds() - redisBefore);
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
