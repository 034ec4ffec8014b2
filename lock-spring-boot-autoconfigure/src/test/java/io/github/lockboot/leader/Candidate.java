package io.github.lockboot.leader;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;

import io.github.lockboot.Actor;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRegistry;

/** An instance that stands for a role, and what its listener has seen. */
final class Candidate implements LeaderElection.Listener, AutoCloseable {

    /** @param leads whether it was the leader when the event was delivered */
    record Seen(LeaderElection.Event event, boolean leads, long at) {}

    final LeaderElection election;
    final List<Seen> seen = new CopyOnWriteArrayList<>();

    Candidate(LeaderElection election) {
        this.election = election;
        election.addListener(this);
    }

    static Candidate of(LockRegistry registry, String role) {
        return new Candidate(LeaderElection.of(registry, role));
    }

    static Candidate of(LockRegistry registry, String role, LockOptions options) {
        return new Candidate(LeaderElection.of(registry, role, options));
    }

    Candidate start() {
        election.start();
        return this;
    }

    @Override
    public void onElected(LeaderElection.Elected event) {
        seen.add(new Seen(event, election.isLeader(), System.nanoTime()));
    }

    @Override
    public void onRevoked(LeaderElection.Revoked event) {
        seen.add(new Seen(event, election.isLeader(), System.nanoTime()));
    }

    /** What it has seen, such as "granted revoked granted". */
    String told() {
        return String.join(
                " ",
                seen.stream()
                        .map(each -> each.event instanceof LeaderElection.Elected ? "granted" : "revoked")
                        .toList());
    }

    Candidate awaitTold(String told) {
        Actor.await("not told: " + told, () -> told().equals(told));
        return this;
    }

    /** Waits until another stands behind this leader. One that has resigned does so only after its release. */
    void awaitAnotherStands() {
        CompletableFuture<Void> stands = new CompletableFuture<>();
        Objects.requireNonNull(election.candidacy.leadership()).lease().onOthersWait(() -> stands.complete(null));
        Actor.await("another stands", stands::isDone);
    }

    long token(int index) {
        return seen.get(index).event.fencingToken();
    }

    @Override
    public void close() {
        election.stop();
        Actor.await("has left", () -> election.toString().contains("IDLE"));
    }
}
