package io.github.lockboot.faults;

import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

import io.github.lockboot.faults.Event.Kind;
import io.github.lockboot.leader.LeaderElection;

/**
 * An instance that stands for a role, resigns some time after it leads, and writes down what it believes and is told,
 * as holds of the lock that the leader has.
 */
final class Candidate {

    private static final String PREFIX = "leader:";
    private static final long LONGEST_TERM_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final long PROCESS = ProcessHandle.current().pid();

    private final LeaderElection election;
    private final String name;
    private final Random random;
    private final Consumer<Event> log;
    private final CompletableFuture<Void> left = new CompletableFuture<>();
    private long seen;
    private long longestTerm;
    private volatile long resigned;
    private volatile long lost;
    private volatile boolean leaving;

    Candidate(LeaderElection election, String name, long seed, Consumer<Event> log) {
        this.election = election;
        this.name = name;
        this.random = new Random(seed);
        this.log = log;
        election.addListener(new LeaderElection.Listener() {
            @Override
            public void onRevoked(LeaderElection.Revoked event) {
                onEnd(event.fencingToken());
            }
        });
    }

    /** The lock that the leader of the role holds. */
    static String lockOf(String role) {
        return PREFIX + role;
    }

    static String roleOf(String lock) {
        return lock.substring(PREFIX.length());
    }

    static boolean isTerm(String lock) {
        return lock.startsWith(PREFIX);
    }

    /** Stands meanwhile; returns when it has left. */
    void standWhile(BooleanSupplier goOn) {
        election.start();
        Asking.whether(election, this::believes, goOn);
        leaving = true;
        election.stop(() -> left.complete(null));
        left.join();
    }

    void awaitLeft() {
        left.join();
    }

    private void believes(long token, long from, long until, boolean over) {
        if (token != seen) {
            seen = token;
            longestTerm = (long) (LONGEST_TERM_NANOS * random.nextDouble());
            note(from, Kind.GRANTED, token);
        }
        note(until, Kind.HELD, token);
        if (over && token != resigned) {
            lost = token;
            note(System.nanoTime(), Kind.NOT_HELD, token);
        } else if (!over && until - from > longestTerm) {
            resigned = token;
            note(System.nanoTime(), Kind.RELEASING, token);
            election.resign();
        }
    }

    private void onEnd(long token) {
        boolean wanted = token == resigned || leaving && token != lost;
        note(System.nanoTime(), wanted ? Kind.RELEASED : Kind.LOST, token);
    }

    private void note(long time, Kind kind, long token) {
        log.accept(new Event(time, name, kind, PREFIX + election.role(), "term-" + PROCESS + "-" + token, 1, token, 0));
    }
}
