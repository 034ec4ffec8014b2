package io.github.lockboot.faults;

import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Something that goes wrong while locks are used, and what is promised for it. Made by {@link #of} and refined.
 *
 * @param name on the command line and in the table
 * @param injection how it is done, in words for the table
 * @param deployment the Redis it happens to
 * @param start what goes on when it begins
 * @param harm what this library's users have to expect of it
 * @param bound how soon after it somebody is granted the lock again, for this library
 * @param handoffLimit this library's
 * @param processes how many use the lock
 * @param contestants who can be driven through it
 * @param cost how many times fewer it is repeated than others, because it takes long
 * @param way does it; returns when it is over
 */
record Fault<D extends Deployment>(
        String name,
        String injection,
        Supplier<D> deployment,
        Start start,
        Harm harm,
        Duration bound,
        int handoffLimit,
        int processes,
        Set<Contestant> contestants,
        int cost,
        Way<D> way) {

    static final int USUAL_PROCESSES = 3;

    /** What goes on when a fault begins. */
    enum Start {
        /** All threads of all processes take and release the lock. */
        LOAD,
        /** One process holds the lock, all others want it. */
        HELD,
        /** The same, and that process will not outlive it. */
        DOOMED,
        /** Nothing. */
        QUIET
    }

    /** The worst that is promised. */
    enum Harm {
        /** No hold is lost. */
        NONE,
        /** A hold may end, and its holder knows before another has the lock. */
        HOLDS,
        /** Redis forgets what it granted, so two may hold for a while; tokens tell them apart. */
        DATA
    }

    /** How it is done. */
    @FunctionalInterface
    interface Way<D extends Deployment> {
        void into(Scene<D> scene) throws Exception;
    }

    /** Under load, for all contestants, with no hold lost and the lock granted again at the next poll. */
    static <D extends Deployment> Fault<D> of(String name, String injection, Supplier<D> deployment, Way<D> way) {
        return new Fault<>(
                name,
                injection,
                deployment,
                Start.LOAD,
                Harm.NONE,
                Terms.COMMAND_TIMEOUT.plus(Terms.POLL),
                64,
                USUAL_PROCESSES,
                EnumSet.allOf(Contestant.class),
                1,
                way);
    }

    Fault<D> from(Start other) {
        return new Fault<>(
                name, injection, deployment, other, harm, bound, handoffLimit, processes, contestants, cost, way);
    }

    Fault<D> mayHarm(Harm other) {
        return new Fault<>(
                name, injection, deployment, start, other, bound, handoffLimit, processes, contestants, cost, way);
    }

    Fault<D> within(Duration other) {
        return new Fault<>(
                name, injection, deployment, start, harm, other, handoffLimit, processes, contestants, cost, way);
    }

    /** With the lock served in strict order, which this library alone promises. */
    Fault<D> inStrictOrder() {
        return new Fault<>(
                name,
                injection,
                deployment,
                start,
                harm,
                bound,
                0,
                processes,
                EnumSet.of(Contestant.THIS_LIBRARY),
                cost,
                way);
    }

    Fault<D> only(Contestant first, Contestant... others) {
        return new Fault<>(
                name,
                injection,
                deployment,
                start,
                harm,
                bound,
                handoffLimit,
                processes,
                EnumSet.of(first, others),
                cost,
                way);
    }

    Fault<D> among(int other) {
        return new Fault<>(
                name, injection, deployment, start, harm, bound, handoffLimit, other, contestants, cost, way);
    }

    Fault<D> rarely(int times) {
        return new Fault<>(
                name, injection, deployment, start, harm, bound, handoffLimit, processes, contestants, times, way);
    }

    /** How soon after it a reader, a writer and one with a permit are granted their locks again, for this library. */
    Duration boundOfKinds() {
        return bound.compareTo(Terms.ONE_LEASE) < 0 ? bound : Terms.DEAD_KINDS;
    }

    boolean isStrict() {
        return handoffLimit == 0;
    }

    @Override
    public String toString() {
        return name;
    }
}
