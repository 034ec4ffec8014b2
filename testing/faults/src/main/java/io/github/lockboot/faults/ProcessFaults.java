package io.github.lockboot.faults;

import java.time.Duration;
import java.util.List;

import io.github.lockboot.faults.Fault.Harm;
import io.github.lockboot.faults.Fault.Start;

/** What happens to the processes that use locks. */
final class ProcessFaults {

    private static final long TRIES = 100_000;
    private static final long TRIES_PER_THREAD = TRIES / (2L * Fault.USUAL_PROCESSES) + 1;
    private static final Duration LONGEST_STORM = Duration.ofSeconds(40);

    static final List<Fault<Standalone>> ALL = List.of(
            Fault.of("none", "nothing for 5 s", Standalone::inMemory, scene -> scene.pass(Duration.ofSeconds(5))),
            Fault.of(
                            "crowd",
                            "nothing for 60 s, but 4 processes of 4 threads, half of which give up within 1.5 ms, by timeout or interrupt",
                            Standalone::inMemory,
                            scene -> {
                                scene.load(Load.Style.HASTY, Long.MAX_VALUE);
                                scene.loadBeside(Load.Style.HASTY);
                                scene.pass(Duration.ofSeconds(60));
                            })
                    .among(4)
                    .rarely(5),
            Fault.of(
                            "none-strict",
                            "nothing; the others queue one after the other, hand-off limit 0",
                            Standalone::inMemory,
                            ProcessFaults::queueInOrder)
                    .from(Start.QUIET)
                    .inStrictOrder(),
            Fault.of("holder-killed", "SIGKILL to the holder", Standalone::inMemory, scene -> {
                        scene.recoveryFromNow();
                        scene.holder().kill();
                    })
                    .from(Start.DOOMED)
                    .mayHarm(Harm.HOLDS)
                    .within(Terms.ONE_LEASE),
            Fault.of(
                            "holder-stopped-briefly",
                            "SIGSTOP to the holder for half a lease, then SIGCONT",
                            Standalone::inMemory,
                            scene -> stopHolder(scene, Terms.TTL.dividedBy(2)))
                    .from(Start.HELD),
            Fault.of(
                            "holder-stopped-long",
                            "SIGSTOP to the holder for two leases, then SIGCONT; counted from the SIGSTOP",
                            Standalone::inMemory,
                            scene -> {
                                scene.recoveryFromNow();
                                stopHolder(scene, Terms.TTL.multipliedBy(2));
                            })
                    .from(Start.HELD)
                    .mayHarm(Harm.HOLDS)
                    .within(Terms.ONE_LEASE),
            Fault.of(
                            "holder-collects",
                            "full garbage collections one after the other in the holder for 4 s",
                            Standalone::inMemory,
                            scene -> {
                                scene.holder().tell(FaultWorker.AT_ONCE + " collect 4000");
                                scene.pass(Duration.ofSeconds(4));
                            })
                    .from(Start.HELD)
                    .mayHarm(Harm.HOLDS),
            Fault.of(
                            "waiter-killed",
                            "SIGKILL to all other processes, which are in the queue, then a release",
                            Standalone::inMemory,
                            scene -> {
                                scene.others().forEach(ObservedWorker::kill);
                                scene.release();
                            })
                    .from(Start.HELD)
                    .mayHarm(Harm.HOLDS)
                    .within(Terms.DEAD_WAITERS),
            nextKilled(1, "the process that waits first"),
            nextKilled(2, "the 2 processes that wait first"),
            nextKilled(10, "the 10 processes that wait first"),
            Fault.of(
                            "waiter-killed-at-grant",
                            "a release, and from within 2 ms on SIGKILL to all other processes, which are in the queue",
                            Standalone::inMemory,
                            scene -> {
                                List<ObservedWorker> others = scene.others();
                                Duration aim = scene.between(Duration.ZERO, Duration.ofMillis(2));
                                scene.release();
                                scene.pass(aim);
                                scene.recoveryFromNow();
                                others.forEach(ObservedWorker::kill);
                            })
                    .from(Start.HELD)
                    .mayHarm(Harm.HOLDS)
                    .within(Terms.DEAD_WAITERS),
            Fault.of(
                            "given-up-at-grant",
                            "tries that end by timeout or interrupt within 1.5 ms, when the lock is about to be granted: 100,000, or as many as 40 s allow",
                            Standalone::inMemory,
                            ProcessFaults::giveUp)
                    .from(Start.QUIET)
                    .rarely(5),
            Fault.of(
                    "executor-saturated",
                    "the common pool of every process is full for 3 s; counted from its start",
                    Standalone::inMemory,
                    scene -> {
                        scene.recoveryFromNow();
                        scene.workers().forEach(worker -> worker.tell(FaultWorker.AT_ONCE + " saturate 3000"));
                        scene.pass(Duration.ofSeconds(3));
                    }),
            Fault.of(
                            "shutdown",
                            "an orderly shutdown in a process that holds and waits, its hold ending meanwhile",
                            Standalone::inMemory,
                            scene -> {
                                scene.holder().beginClosing();
                                scene.release();
                                String threads = scene.holder().awaitSaid(FaultWorker.CLOSED, scene.patience());
                                scene.require(threads.equals("0"), threads + " threads left after shutdown");
                            })
                    .from(Start.DOOMED)
                    .mayHarm(Harm.HOLDS));

    private ProcessFaults() {}

    private static void stopHolder(Scene<Standalone> scene, Duration time) {
        scene.holder().pause();
        scene.pass(time);
        scene.holder().resume();
    }

    private static Fault<Standalone> nextKilled(int dead, String who) {
        return Fault.of(
                        "waiter-killed-next-" + dead,
                        "SIGKILL to " + who + ", then a release; one more waits behind",
                        Standalone::inMemory,
                        scene -> killNext(scene, dead))
                .from(Start.QUIET)
                .mayHarm(Harm.HOLDS)
                .within(Terms.ONE_LEASE)
                .among(dead + 2);
    }

    private static void killNext(Scene<Standalone> scene, int dead) {
        ObservedWorker first = scene.workers().get(0);
        List<ObservedWorker> doomed = scene.workers().subList(1, dead + 1);
        ObservedWorker last = scene.workers().get(dead + 1);
        scene.tell(first, "first", "hold " + scene.lock());
        first.await(scene.patience(), Event.Kind.HELD, event -> event.lock().equals(scene.lock()));
        doomed.forEach(each -> queueNext(scene, each));
        queueNext(scene, last);
        long queued = System.nanoTime();
        scene.pass(Faults.APART.multipliedBy(2));
        doomed.forEach(ObservedWorker::beginKill); // together: a busy machine needs seconds for each
        doomed.forEach(ObservedWorker::kill);
        scene.couldNotGrant(Duration.ofNanos(System.nanoTime() - queued)); // the first one has the lock
        scene.recoveryFromNow();
        first.tell(FaultWorker.AT_ONCE + " release " + scene.lock());
        scene.requireGrantWithin(Terms.DEAD_WAITERS_THAT_LISTENED);
    }

    private static void queueNext(Scene<Standalone> scene, ObservedWorker worker) {
        scene.pass(Faults.APART.multipliedBy(2));
        scene.tell(worker, "next", "once " + scene.lock());
    }

    private static void queueInOrder(Scene<Standalone> scene) {
        ObservedWorker first = scene.workers().get(0);
        scene.tell(first, "first", "hold " + scene.lock());
        first.await(scene.patience(), Event.Kind.HELD, event -> event.lock().equals(scene.lock()));
        for (int i = 1; i < scene.workers().size(); i++) {
            queueNext(scene, scene.workers().get(i));
        }
        scene.pass(Faults.APART.multipliedBy(2));
        scene.recoveryFromNow();
        first.tell(FaultWorker.AT_ONCE + " release " + scene.lock());
    }

    /** Those who are not through in time are stopped; then somebody who waits patiently has to be served. */
    private static void giveUp(Scene<Standalone> scene) {
        scene.load(Load.Style.HASTY, TRIES_PER_THREAD);
        scene.loadBeside(Load.Style.HASTY);
        scene.awaitLoad(LONGEST_STORM);
        scene.pass(Terms.POLL);
        scene.recoveryFromNow();
        scene.tell(scene.workers().get(0), "patient", "once " + scene.lock());
    }
}
