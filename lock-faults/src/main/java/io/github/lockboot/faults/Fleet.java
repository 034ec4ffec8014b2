package io.github.lockboot.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

import io.github.lockboot.fixture.Await;
import io.github.lockboot.fixture.RedisProbe;
import io.github.lockboot.fixture.RedisServer;
import org.jspecify.annotations.Nullable;

/** A Redis, the processes of one contestant on it and a witness; used by one run after the other. */
final class Fleet<D extends Deployment> implements AutoCloseable {

    private static final Duration CLEAN_WITHIN = Duration.ofSeconds(30);

    private final D deployment;
    private final Contestant contestant;
    private final int handoffLimit;
    private final int processes;
    private final Witness witness = new Witness();
    private final List<WorkerProcess> workers = new ArrayList<>();

    Fleet(Fault<D> fault, Contestant contestant) {
        this.deployment = fault.deployment().get();
        this.contestant = contestant;
        this.handoffLimit = fault.handoffLimit();
        this.processes = fault.processes();
    }

    D deployment() {
        return deployment;
    }

    Contestant contestant() {
        return contestant;
    }

    Witness witness() {
        return witness;
    }

    /** The processes in order, those among them that were killed meanwhile. */
    List<WorkerProcess> workers() {
        return workers;
    }

    /** Starts the processes, or those anew that are of no more use, and forgets what the others did. */
    void refresh() {
        for (int i = 0; i < processes; i++) {
            if (i == workers.size()) {
                workers.add(start(i));
            } else if (!workers.get(i).isUsable()) {
                workers.get(i).close();
                workers.set(i, start(i));
            }
        }
        for (WorkerProcess worker : workers) {
            worker.awaitReady();
            worker.forget();
        }
    }

    private WorkerProcess start(int index) {
        return WorkerProcess.start(
                new Worker.Setup("w" + index, contestant, deployment.address(index), witness.port(), handoffLimit));
    }

    /**
     * Has all processes of this library shut down in order.
     *
     * @return what is left then: names and ids in use, threads, keys, connections, channels
     */
    List<String> leftovers() {
        List<String> left = new ArrayList<>();
        List<WorkerProcess> usable =
                workers.stream().filter(WorkerProcess::isUsable).toList();
        awaitNone(
                left,
                "names and ids in use",
                () -> usable.stream().mapToLong(Fleet::remains).sum());
        for (WorkerProcess worker : usable) {
            worker.beginClosing();
        }
        for (WorkerProcess worker : usable) {
            worker.awaitSaid(Worker.CLOSED, CLEAN_WITHIN);
        }
        awaitNone(
                left,
                "threads",
                () -> usable.stream()
                        .mapToLong(worker -> Long.parseLong(
                                worker.awaitSaid(Worker.CLOSED, CLEAN_WITHIN).split(" ")[1]))
                        .sum());
        for (RedisServer server : deployment.masters()) {
            try (RedisProbe probe = server.probe()) {
                awaitNone(left, "keys", () -> sizeOf(probe.command("KEYS", contestant.keys())));
                awaitNone(left, "channels", () -> sizeOf(probe.command("PUBSUB", "CHANNELS", contestant.keys())));
                awaitNone(left, "connections", () -> connections(probe));
            }
        }
        return left;
    }

    private static long remains(WorkerProcess worker) {
        worker.forget();
        worker.tell(Worker.AT_ONCE + " remains");
        return Long.parseLong(worker.awaitSaid(Worker.REMAINS, CLEAN_WITHIN).substring(Worker.REMAINS.length()));
    }

    /** Of clients without a name, which Sentinels have, that are neither replicas nor this one. */
    private static long connections(RedisProbe probe) {
        String own = "id=" + probe.command("CLIENT", "ID") + " ";
        return String.valueOf(probe.command("CLIENT", "LIST"))
                .lines()
                .filter(client ->
                        !client.startsWith(own) && client.contains(" name= ") && !client.contains(" flags=S "))
                .count();
    }

    private static long sizeOf(@Nullable Object reply) {
        return reply instanceof List<?> list ? list.size() : 0;
    }

    private static void awaitNone(List<String> left, String what, LongSupplier count) {
        try {
            Await.until(CLEAN_WITHIN, () -> count.getAsLong() == 0, () -> what);
        } catch (IllegalStateException late) {
            left.add(count.getAsLong() + " " + what + " left after everything was released and closed");
        }
    }

    @Override
    public void close() {
        workers.forEach(WorkerProcess::close);
        witness.close();
        deployment.close();
    }
}
