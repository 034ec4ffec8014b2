package io.github.lockboot.engine;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

import io.github.lockboot.Lease;
import io.github.lockboot.engine.LockRequest.Terms;
import org.jspecify.annotations.Nullable;

/**
 * The schedule in which an answer is older than the grant that it finds, which no random one shows: a push counts from
 * the last answer that queued its id, so an earlier grant cannot have run out by then. Its key has been deleted.
 *
 * <pre>
 *   other    holds            releases                  holds           releases
 *   waiter          queued      :    asks                 :     queued     :    has the push     the answer comes
 *                               +--- push lost            :       ^        +----------^                 ^
 *   Redis                             grants  deleted     grants  |                                     |
 *                                     :                           |                                     |
 *                                     +---------------------------+--- a copy of the question           |
 *                                     +-----------------------------------------------------------------+
 * </pre>
 */
final class OlderAnswerSchedule {

    private static final long MILLI = 1_000_000;
    private static final long TTL_MILLIS = 30_000;

    private final SimulatedTime time = new SimulatedTime(Boolean.getBoolean("simulation.trace"));
    private final Random random = new Random(1);
    private final SimulatedClient.Faults faults = new SimulatedClient.Faults();
    private final Map<String, SimulatedClient> clients = new LinkedHashMap<>();
    private final SimulatedRedis redis;
    private final SimulationTrace protocol;

    OlderAnswerSchedule(@Nullable RealScripts scripts) {
        redis = new SimulatedRedis(time, null, new ToClients());
        redis.runOn(scripts);
        protocol = new SimulationTrace(redis);
        redis.traceTo(protocol);
        for (String session : List.of("waiter", "other")) {
            SimulatedClient client =
                    new SimulatedClient(session, 64, false, time, random, faults, redis, null, protocol);
            clients.put(session, client);
            protocol.joined(client);
        }
    }

    private final class ToClients implements SimulatedRedis.Publisher {

        @Override
        public void toSession(String session, String message) {
            clients.get(session).published(message);
        }

        @Override
        public void changed(String session, String key) {}
    }

    List<String> run() {
        SimulatedClient waiter = clients.get("waiter");
        SimulatedClient other = clients.get("other");
        protocol.begins();
        at(0, other, () -> acquire(other, lease -> releaseAt(100, other, lease)));
        at(20, waiter, () -> acquire(waiter, lease -> releaseAt(3_000, waiter, lease)));
        at(99, waiter, () -> waiter.cutChannel(0, 10 * MILLI));
        at(108, waiter, () -> {
            faults.late = 1;
            faults.planned.addAll(List.of(MILLI, 500 * MILLI, 1_500 * MILLI)); // the question, its copy, the answer
        });
        at(300, waiter, () -> {
            faults.late = 0;
            redis.delete("lock:n");
        });
        at(450, other, () -> acquire(other, lease -> releaseAt(700, other, lease)));
        time.runUntil(60_000 * MILLI, () -> {});
        return protocol.lines();
    }

    private void at(long millis, SimulatedClient client, Runnable task) {
        client.after(millis * MILLI - time.now(), task);
    }

    private void releaseAt(long millis, SimulatedClient client, Lease lease) {
        at(millis, client, () -> lease.closeAfter(Duration.ZERO));
    }

    private static void acquire(SimulatedClient client, Consumer<Lease> user) {
        CompletableFuture<Lease> lease = client.engine.acquireAsync(new LockRequest(
                "n", null, Terms.exclusive(TTL_MILLIS, true), 60_000 * MILLI, 0, true, false, LockRequest.ANY_NUMBER));
        lease.thenAccept(user);
    }
}
