package io.github.lockboot.faults;

import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.github.lockboot.faults.Event.Kind;
import io.github.lockboot.faults.Fault.Harm;
import io.github.lockboot.faults.Fault.Start;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.fixture.Replication;

/**
 * What happens to a master that has replicas. Replication is asynchronous, so where it dies Redis may forget what it
 * granted; whoever waits for copies (WAIT) makes that rarer, not impossible. Recovery counts from when all know the new
 * master.
 */
final class FailoverFaults {

    private static final int RARELY = 4;

    /** Less than what Sentinels or a Cluster take for the death of the replicas. */
    private static final Duration UNCOPIED = Duration.ofMillis(200);

    static final List<Fault<SentinelGroup>> SENTINEL = Stream.concat(
                    Stream.of(agreed(
                                    "sentinel",
                                    "SENTINEL FAILOVER; the old master goes on for some 10 s beside the new one, then it becomes a replica",
                                    SentinelGroup::new)
                            .mayHarm(Harm.DATA)),
                    unplanned("sentinel", SentinelGroup::new))
            .toList();

    static final List<Fault<ClusterOfThree>> CLUSTER = Stream.concat(
                    Stream.of(agreed("cluster", "CLUSTER FAILOVER", ClusterOfThree::new), slotsThatMove()),
                    unplanned("cluster", ClusterOfThree::new))
            .toList();

    private FailoverFaults() {}

    private static <D extends Replicated> Fault<D> agreed(String kind, String injection, Supplier<D> deployment) {
        return Fault.of(kind + "-failover", injection, deployment, scene -> {
                    scene.redis().awaitWhole();
                    scene.redis().failOver(scene.key());
                })
                .rarely(RARELY);
    }

    private static Fault<ClusterOfThree> slotsThatMove() {
        return Fault.of(
                "cluster-slot-moves",
                "the lock's slot moves from master to master 20 times under load, by SETSLOT and MIGRATE",
                ClusterOfThree::new,
                scene -> {
                    for (int i = 0; i < 20; i++) {
                        scene.redis().moveSlotOf(scene.key());
                        scene.pass(scene.between(Duration.ZERO, UNCOPIED));
                    }
                });
    }

    private static <D extends Replicated> Stream<Fault<D>> unplanned(String kind, Supplier<D> deployment) {
        return Stream.of(
                        Fault.of(
                                kind + "-master-killed",
                                "SIGKILL to the master; a replica takes over",
                                deployment,
                                scene -> replace(scene, RedisServer::kill, RedisServer::restart)),
                        Fault.of(
                                kind + "-master-stopped",
                                "SIGSTOP to the master, whose connections stay open; a replica takes over",
                                deployment,
                                scene -> replace(scene, RedisServer::pause, RedisServer::resume)),
                        Fault.of(
                                        kind + "-grant-lost",
                                        "replication stands still, the lock is granted, SIGKILL to the master; a replica takes over",
                                        deployment,
                                        FailoverFaults::<D>loseGrant)
                                .from(Start.QUIET)
                                .within(Terms.DEAD_KINDS),
                        Fault.of(
                                        kind + "-copies-old",
                                        "replication stands still for 200 ms, SIGKILL to the master; a replica takes over",
                                        deployment,
                                        FailoverFaults::<D>promoteOldCopy)
                                .within(Terms.DEAD_KINDS))
                .map(fault -> fault.mayHarm(Harm.DATA).rarely(RARELY));
    }

    private interface Deed {
        void doTo(RedisServer server);
    }

    private static <D extends Replicated> void replace(Scene<D> scene, Deed harm, Deed mend) {
        RedisServer old = masterOf(scene);
        scene.afterwards(() -> mend.doTo(old));
        harm.doTo(old);
        scene.redis().awaitSuccessor(old, scene.key());
    }

    private static <D extends Replicated> void loseGrant(Scene<D> scene) {
        RedisServer old = masterOf(scene);
        scene.afterwards(old::restart);
        ObservedWorker holder = scene.waiter();
        Replication.Pause pause = Replication.pause(old, scene.redis().replicasOf(old));
        try {
            scene.tell(holder, "holder", "hold " + scene.lock());
            holder.await(scene.patience(), Kind.HELD, held -> held.lock().equals(scene.lock()));
            old.kill();
        } finally {
            pause.end();
        }
        scene.redis().awaitSuccessor(old, scene.key());
        scene.recoveryFromNow();
        scene.load(Load.Style.STEADY, Long.MAX_VALUE);
        scene.pass(Terms.TTL);
    }

    private static <D extends Replicated> void promoteOldCopy(Scene<D> scene) {
        RedisServer old = masterOf(scene);
        scene.afterwards(old::restart);
        Replication.Pause pause = Replication.pause(old, scene.redis().replicasOf(old));
        try {
            scene.pass(UNCOPIED);
            old.kill();
        } finally {
            pause.end();
        }
        scene.redis().awaitSuccessor(old, scene.key());
    }

    private static <D extends Replicated> RedisServer masterOf(Scene<D> scene) {
        scene.redis().awaitWhole();
        return scene.redis().serverOf(scene.key());
    }
}
