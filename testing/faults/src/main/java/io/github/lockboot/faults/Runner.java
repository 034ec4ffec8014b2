package io.github.lockboot.faults;

import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

import io.github.lockboot.faults.Event.Kind;
import io.github.lockboot.faults.Fault.Harm;
import io.github.lockboot.fixture.RedisProbe;

/** Has one contestant suffer one fault a number of times, and judges each time. */
final class Runner<D extends Deployment> {

    private final Fault<D> fault;
    private final Contestant contestant;

    Runner(Fault<D> fault, Contestant contestant) {
        this.fault = fault;
        this.contestant = contestant;
    }

    /**
     * Runs on one test bed, or on a new one after a run that did not recover.
     *
     * @param seed of the first run; the others follow
     */
    List<RunResult> run(int times, long seed) throws Exception {
        List<RunResult> results = new ArrayList<>();
        while (results.size() < times) {
            try (TestBed<D> bed = new TestBed<>(fault, contestant)) {
                boolean recovered = true;
                while (recovered && results.size() < times) {
                    RunResult result = attempt(bed, seed + results.size());
                    recovered = result.hasRecovered();
                    results.add(result);
                }
                if (recovered && contestant.isOurs()) {
                    results.add(results.remove(results.size() - 1).with(bed.leftovers()));
                }
            }
        }
        return results;
    }

    /** Runs it once on this test bed; if it could not be run to its end, the bed is of no more use. */
    RunResult attempt(TestBed<D> bed, long seed) throws Exception {
        try {
            return runOnce(bed, seed);
        } catch (IllegalStateException | UncheckedIOException | RedisProbe.ErrorReply failure) {
            return RunResult.failed(seed, "could not be run to its end: " + failure.getMessage());
        }
    }

    private RunResult runOnce(TestBed<D> bed, long seed) throws Exception {
        bed.refresh();
        Scene<D> scene = new Scene<>(bed, fault.name(), seed);
        ServerWatch watch = contestant.isOurs() ? new ServerWatch(bed.deployment(), scene.locks()) : null;
        long recovery;
        try {
            scene.begin(fault.start());
            recovery = scene.suffer(fault);
            scene.end();
        } finally {
            if (watch != null) {
                watch.close();
            }
        }
        Collection<Event> history = scene.history();
        if (watch != null) {
            history.addAll(watch.events());
        }
        List<String> violations = new ArrayList<>();
        List<String> late = new ArrayList<>();
        HistoryChecker checker = HistoryChecker.of(history);
        Witness.Account account = bed.witness().account(scene.lock());
        if (fault.harm() != Harm.DATA) {
            checker.overlaps().forEach(overlap -> violations.add(overlap.description()));
        }
        for (String lock : scene.locks()) {
            violations.addAll(bed.witness().account(lock).complaints());
        }
        if (contestant.isOurs()) {
            violations.addAll(scene.complaints());
            late.addAll(scene.late());
            late.addAll(checker.lateLosses());
            late.addAll(fault.harm() == Harm.NONE ? checker.lostHolds() : List.of());
            violations.addAll(late);
            violations.addAll(checker.breaches());
            violations.addAll(promised(checker, scene, recovery));
            if (watch != null && !scene.unboundedKeysPermitted()) {
                watch.unbounded().forEach(key -> violations.add("the key " + key + " had no TTL"));
            }
        }
        return new RunResult(
                seed,
                violations,
                late,
                recovery,
                checker.overlaps().stream()
                        .filter(overlap -> overlap.lock().equals(scene.lock()))
                        .mapToLong(HistoryChecker.Overlap::nanos)
                        .max()
                        .orElse(0),
                account.refused(),
                account.lost(),
                scene.hanging(),
                history.stream()
                        .filter(event -> event.is(Kind.GRANTED) && event.lock().equals(scene.lock()))
                        .count(),
                RunResult.Told.of(history));
    }

    /** What this library promises beyond exclusion. */
    private List<String> promised(HistoryChecker checker, Scene<D> scene, long recovery) {
        List<String> broken = new ArrayList<>();
        if (recovery == RunResult.NEVER) {
            broken.add("not granted again within " + scene.patience().toSeconds() + " s");
        }
        broken.addAll(checker.waitsOver(scene.longestWait()));
        if (fault.harm() != Harm.DATA) {
            broken.addAll(checker.heldWithoutRedis());
            broken.addAll(checker.oldTokens());
        }
        if (fault.isStrict()) {
            broken.addAll(checker.outOfOrder(scene.lock(), Faults.APART));
        }
        return broken;
    }
}
