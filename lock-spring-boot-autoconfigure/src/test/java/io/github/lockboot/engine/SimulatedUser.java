package io.github.lockboot.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.github.lockboot.Lease;
import io.github.lockboot.LockListener.Origin;
import io.github.lockboot.LockLostException;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.engine.LockRequest.Terms;
import io.github.lockboot.engine.LockRequest.Transfer;
import io.github.lockboot.redis.protocol.Kind;
import org.jspecify.annotations.Nullable;

import static org.assertj.core.api.Assertions.assertThat;

/** Somebody in a JVM of the fleet who asks for a lock, holds it for a while, gives it back, and asks again. */
final class SimulatedUser {

    private static final long MILLI = 1_000_000;
    private static final long SECOND = 1_000 * MILLI;
    private static final long[] LINGERS = {100 * MILLI, 3 * SECOND, 20 * SECOND};
    private static final long LONG_WAIT = 600 * SECOND;

    final SimulatedClient client;
    private final String who;
    private final Simulation.World world;
    private @Nullable CompletableFuture<?> wait;
    private boolean leaving;
    private long askedAt;
    private boolean askedWithoutHolder;

    SimulatedUser(SimulatedClient client, String who, Simulation.World world) {
        this.client = client;
        this.who = who;
        this.world = world;
    }

    /** Asks for no more locks. */
    void leave() {
        leaving = true;
    }

    boolean isWaiting() {
        return wait != null && !wait.isDone();
    }

    void askSoon() {
        client.after(world.upTo(SECOND), this::ask);
    }

    private void ask() {
        if (leaving || client.isStopping()) {
            return;
        }
        if (world.names().size() > 1
                && world.kinds().contains(Kind.EXCLUSIVE)
                && world.random().nextBoolean()) {
            askForAll();
            return;
        }
        String name = world.anyName();
        Kind kind = world.anyKind();
        boolean renew = world.random().nextInt(5) > 0;
        boolean lingers =
                world.lingers() && kind.isExclusive() && renew && world.random().nextInt(4) > 0;
        Terms terms = kind.terms(world.anyTtl(), renew)
                .lingering(lingers ? LINGERS[world.random().nextInt(LINGERS.length)] : 0);
        Name known = client.engine.name(LockKind.EXCLUSIVE, name);
        askedAt = world.time().now();
        askedWithoutHolder = known != null && known.holds().isEmpty();
        boolean awaits = !world.sends() || world.random().nextBoolean();
        int dice = world.random().nextInt(10);
        long atMost = dice == 0 ? 0 : dice < 7 ? world.upTo(10 * SECOND) : LONG_WAIT;
        long maxHold = world.random().nextInt(8) == 0 ? SECOND + world.upTo(3 * SECOND) : 0;
        world.time().trace(() -> who + " asks for " + name + " on " + terms + ", waits " + atMost / MILLI + " ms");
        CompletableFuture<Lease> future = client.engine.acquireAsync(
                new LockRequest(name, null, terms, atMost, maxHold, awaits, false, LockRequest.ANY_NUMBER));
        future.whenComplete(world.witness().watched((lease, failure) -> decided(kind, lease, failure)));
        wait = future;
        if (world.random().nextInt(20) == 0) {
            client.after(world.upTo(3 * SECOND), () -> future.cancel(false));
        }
        // Behind one with other terms, who tries once may need both, and a reader or who wants a permit, too: each
        // awaits an answer of its own.
        int commands = atMost == 0 || !kind.isExclusive() || client.isAcknowledging() ? 2 : 1;
        mustEndWithin(atMost + commands * SimulatedClient.COMMAND_TIMEOUT.toNanos() * 6 / 5 + SECOND);
    }

    /** Tries all names at once, as a call with several locks does. */
    private void askForAll() {
        Terms terms = Terms.exclusive(world.anyTtl(), true);
        List<LockRequest> requests = world.names().stream()
                .map(name -> new LockRequest(name, null, terms, 0, 0, true, false, LockRequest.ANY_NUMBER).attempted())
                .toList();
        world.time().trace(() -> who + " asks for all on " + terms);
        List<Lease> held = new ArrayList<>();
        List<CompletableFuture<Lease>> attempts =
                requests.stream().map(client.engine::acquireAsync).toList();
        attempts.forEach(attempt -> attempt.whenComplete(world.witness().watched((lease, failure) -> {
            if (failure != null) {
                refused(failure);
            } else {
                world.count("acquired with others");
                world.witness().acquired(who, Kind.EXCLUSIVE, lease);
                held.add(lease);
            }
        })));
        CompletableFuture<Void> all = CompletableFuture.allOf(attempts.toArray(CompletableFuture<?>[]::new));
        wait = all;
        mustEndWithin(2 * SimulatedClient.COMMAND_TIMEOUT.toNanos() * 6 / 5 + SECOND);
        long hold = world.upTo(world.random().nextInt(3) == 0 ? 6 * SECOND : 20 * MILLI);
        all.whenComplete((none, failure) -> client.after(hold, () -> {
            held.forEach(this::release);
            client.after(world.upTo(SECOND), this::ask);
        }));
    }

    /** Whatever it waits for now is decided by then; a pause of its JVM excuses it. */
    void mustEndWithin(long nanos) {
        CompletableFuture<?> future = wait;
        if (future == null) {
            return;
        }
        mustEndAt(future, world.time().now(), client.engine.context().nanoTime() + nanos);
    }

    /** By the clock of its JVM, which stands still while that sleeps. */
    private void mustEndAt(CompletableFuture<?> future, long asked, long nanoTime) {
        client.after(nanoTime - client.engine.context().nanoTime(), () -> {
            if (!future.isDone() && nanoTime - client.engine.context().nanoTime() > 0) {
                mustEndAt(future, asked, nanoTime);
            } else if (!future.isDone() && client.hasPausedSince(asked)) {
                client.after(
                        5 * SECOND,
                        () -> assertThat(future.isDone()
                                        || client.hasPausedSince(world.time().now() - 5 * SECOND))
                                .as("the wait of %s has ended after its pause", who)
                                .isTrue());
            } else {
                assertThat(future.isDone())
                        .as("the wait of %s has ended in time", who)
                        .isTrue();
            }
        });
    }

    private void decided(Kind kind, @Nullable Lease lease, @Nullable Throwable failure) {
        world.time().trace(() -> who + (failure == null ? " has " + lease : " fails: " + failure));
        if (failure != null) {
            refused(failure);
            askSoon();
        } else {
            acquired(lease, kind);
        }
    }

    private void refused(Throwable failure) {
        world.count(failure.getClass().getSimpleName());
        if (world.weather() == Simulation.Weather.CALM) {
            assertThat(failure).isNotInstanceOf(LockUnavailableException.class);
        }
    }

    private void acquired(Lease lease, Kind kind) {
        world.count("acquired " + kind.text());
        world.witness().acquired(who, kind, lease);
        world.witness().acquiredAt(lease.name(), world.time().now());
        if (Hold.of(lease).origin() == Origin.LOCAL
                && askedWithoutHolder
                && world.time().now() - askedAt < MILLI) {
            world.count("lingered");
        }
        long hold = world.random().nextInt(3) == 0 ? world.upTo(6 * SECOND) : world.upTo(20 * MILLI);
        if (kind.isExclusive()
                && world.kinds().contains(Kind.SHARED)
                && world.random().nextInt(3) == 0) {
            client.after(world.upTo(hold), () -> downgrade(lease));
        }
        endAfter(hold, lease, kind);
        client.after(hold, () -> client.after(world.random().nextBoolean() ? 0 : world.upTo(SECOND), this::ask));
    }

    /** Releases it then, or hands it over. */
    private void endAfter(long nanos, Lease lease, Kind kind) {
        boolean hands = !kind.isShared() && world.random().nextInt(5) == 0;
        client.after(nanos, () -> {
            if (!hands || !handOver(lease, kind)) {
                release(lease);
            }
        });
    }

    /** Two who know of it may ask for it. {@return whether it could be handed over} */
    private boolean handOver(Lease lease, Kind kind) {
        Hold hold = Hold.of(lease);
        Name name = client.engine
                .names()
                .filter(each -> each.holds().contains(hold))
                .findFirst()
                .orElse(null);
        Id id = hold.id();
        if (name == null || !id.isHeld() || id.downgraded || !lease.isValid()) {
            return false;
        }
        Transfer transfer = new Transfer(
                lease.name(), id.terms.kind(), "transfer-" + id.text, id.grantNumber, lease.fencingToken());
        world.time().trace(() -> who + " hands over " + lease);
        world.witness().released(lease);
        name.release(hold, transfer).whenComplete(world.witness().watched((release, failure) -> {
            if (release == Hold.Release.RELEASED) {
                world.count("handed over");
                for (int takers = world.random().nextInt(3); takers > 0; takers--) {
                    world.anyUser().takeOverSoon(transfer, kind);
                }
            }
        }));
        return true;
    }

    private void takeOverSoon(Transfer transfer, Kind kind) {
        client.after(world.upTo(SECOND), () -> {
            if (client.isStopping()) {
                return;
            }
            Terms terms = kind.terms(world.anyTtl(), world.random().nextInt(5) > 0);
            world.time().trace(() -> who + " takes over " + transfer.id());
            CompletableFuture<Lease> taken = client.engine.takeOver(
                    new LockRequest(
                            transfer.name(),
                            null,
                            terms,
                            world.upTo(10 * SECOND),
                            0,
                            true,
                            false,
                            LockRequest.ANY_NUMBER),
                    transfer);
            taken.whenComplete(world.witness().watched((lease, failure) -> {
                if (failure != null) {
                    refused(failure);
                } else {
                    world.count("taken over");
                    world.witness().tookOver(who, kind, lease);
                    endAfter(world.upTo(world.random().nextInt(3) == 0 ? 6 * SECOND : 20 * MILLI), lease, kind);
                }
            }));
            if (world.random().nextInt(10) == 0) {
                client.after(world.upTo(SECOND), () -> taken.cancel(false));
            }
        });
    }

    private void downgrade(Lease lease) {
        Hold hold = Hold.of(lease);
        Name name = client.engine.name(LockKind.EXCLUSIVE, lease.name());
        if (name != null && hold.state() == Hold.State.HELD) {
            world.count("downgraded");
            world.time().trace(() -> who + " downgrades " + lease);
            world.witness().downgraded(lease);
            name.downgrade(hold);
        }
    }

    private void release(Lease lease) {
        boolean held = lease.isValid();
        world.witness().released(lease);
        world.time().trace(() -> who + " releases " + lease);
        if (!Hold.of(lease).waiter().request().awaitsRelease()) {
            lease.onLost(
                    () -> world.witness().watched((none, failure) -> lost(held)).accept(null, null));
        }
        lease.closeAfter(Duration.ofNanos(keeps(lease)))
                .whenComplete(world.witness().watched((none, failure) -> {
                    if (failure != null) {
                        assertThat(failure).isInstanceOf(LockLostException.class);
                        lost(held);
                    }
                }));
    }

    /** For how long the lock stays taken after its hold. */
    private long keeps(Lease lease) {
        if (world.weather() == Simulation.Weather.SPECIFIED || world.random().nextInt(6) > 0) {
            return 0;
        }
        world.count("kept");
        long keep = world.upTo(4 * SECOND);
        boolean certain = world.weather() == Simulation.Weather.CALM && lease.isValid();
        if (certain && world.kinds().stream().allMatch(Kind::isExclusive)) {
            world.witness().kept(lease.name(), world.time().now() + keep);
        }
        return keep;
    }

    private void lost(boolean wasHeld) {
        world.count("lost");
        if (world.weather() != Simulation.Weather.DATA_LOSS) {
            assertThat(wasHeld)
                    .as("reported lost though it was held to its end")
                    .isFalse();
        }
    }
}
