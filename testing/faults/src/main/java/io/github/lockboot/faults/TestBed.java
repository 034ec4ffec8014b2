package io.github.lockboot.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

import io.github.lockboot.fixture.Await;
import io.github.lockboot.fixture.RedisProbe;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.harness.WorkerProcess;
import org.jspecify.annotations.Nullable;

/** A Redis, the processes of one contestant on it and a witness; used by one run after the other. */
final class TestBed<D extends Deployment> implements AutoCloseable {

    private static final String LEFT = " left after everything was released and closed";

    private final D deployment;
    private final Contestant contestant;
    private final int handoffLimit;
    private final int processes;
    private final boolean lasting;
    private final Duration patience;
    private final Witness witness = new Witness();
    private final List<ObservedWorker> workers = new ArrayList<>();

    TestBed(Fault<D> fault, Contestant contestant) {
        this(fault.deployment().get(), contestant, fault.handoffLimit(), fault.processes(), false, Scene.PATIENCE);
    }

    /**
     * @param lasting whether the first process is to outlive all faults
     * @param patience how long to wait for what comes soon or never
     */
    TestBed(D deployment, Contestant contestant, int handoffLimit, int processes, boolean lasting, Duration patience) {
        this.deployment = deployment;
        this.contestant = contestant;
        this.handoffLimit = handoffLimit;
        this.processes = processes;
        this.lasting = lasting;
        this.patience = patience;
    }

    D deployment() {
        return deployment;
    }

    Contestant contestant() {
        return contestant;
    }

    Duration patience() {
        return patience;
    }

    private Duration cleanWithin() {
        return patience.plusSeconds(10);
    }

    Witness witness() {
        return witness;
    }

    /** The processes in order, those among them that were killed meanwhile. */
    List<ObservedWorker> workers() {
        return workers;
    }

    /** Whether no fault may end it. */
    boolean isLasting(ObservedWorker worker) {
        return lasting && workers.indexOf(worker) == 0;
    }

    /** Starts the processes, or those anew that are of no more use, and forgets what the others did. */
    void refresh() {
        List<ObservedWorker> started = new ArrayList<>();
        for (int i = 0; i < processes; i++) {
            if (i == workers.size()) {
                workers.add(start(i));
                started.add(workers.get(i));
            } else if (!workers.get(i).isUsable()) {
                workers.get(i).close();
                workers.set(i, start(i));
                started.add(workers.get(i));
            }
        }
        started.forEach(ObservedWorker::awaitReady);
        workers.forEach(ObservedWorker::forget);
    }

    private ObservedWorker start(int index) {
        return ObservedWorker.start(new FaultWorker.Setup(
                "w" + index, contestant, deployment.address(index), witness.port(), handoffLimit));
    }

    /**
     * Has all processes of this library shut down in order.
     *
     * @return what is left then: names and ids in use, threads, keys, connections, channels
     */
    List<String> leftovers() {
        List<String> left = new ArrayList<>();
        List<ObservedWorker> usable =
                workers.stream().filter(ObservedWorker::isUsable).toList();
        awaitNone(
                left,
                "names and ids in use",
                () -> usable.stream().mapToLong(this::inUse).sum());
        usable.forEach(ObservedWorker::beginClosing);
        for (ObservedWorker worker : usable) {
            try {
                String threads = worker.awaitSaid(FaultWorker.CLOSED, cleanWithin());
                if (!threads.equals("0")) {
                    left.add(threads + " threads of " + worker.name() + LEFT);
                }
            } catch (WorkerProcess.FailedException hangs) {
                left.add("closing " + worker.name() + ": " + hangs.getMessage());
                worker.kill();
            }
        }
        for (RedisServer server : deployment.masters()) {
            try (RedisProbe probe = server.probe()) {
                awaitNone(left, "keys", () -> sizeOf(probe.command("KEYS", contestant.key("*"))));
                awaitNone(left, "channels", () -> sizeOf(probe.command("PUBSUB", "CHANNELS", contestant.key("*"))));
                awaitNone(left, "connections", () -> connections(probe));
            }
        }
        return left;
    }

    private long inUse(ObservedWorker worker) {
        worker.tell(FaultWorker.AT_ONCE + " in-use");
        return Long.parseLong(worker.awaitSaid(FaultWorker.IN_USE, cleanWithin()));
    }

    /** Of clients that are neither Sentinels nor replicas nor this one. */
    static long connections(RedisProbe probe) {
        String own = "id=" + probe.command("CLIENT", "ID") + " ";
        return String.valueOf(probe.command("CLIENT", "LIST"))
                .lines()
                .filter(client ->
                        !client.startsWith(own) && !client.contains(" name=sentinel-") && !client.contains(" flags=S "))
                .count();
    }

    static long sizeOf(@Nullable Object reply) {
        return reply instanceof List<?> list ? list.size() : 0;
    }

    private void awaitNone(List<String> left, String what, LongSupplier count) {
        try {
            Await.until(cleanWithin(), () -> count.getAsLong() == 0, () -> what);
        } catch (IllegalStateException late) {
            left.add(count.getAsLong() + " " + what + LEFT);
        }
    }

    @Override
    public void close() {
        workers.forEach(ObservedWorker::close);
        witness.close();
        deployment.close();
    }
}
