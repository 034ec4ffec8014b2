package io.github.lockboot.redis.connection;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.LongFunction;

import io.github.lockboot.engine.LockRequest.Terms;
import io.github.lockboot.engine.LockStore.Grant;
import io.github.lockboot.engine.PatientStore;
import io.github.lockboot.engine.Reply;
import io.github.lockboot.fixture.Await;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.fixture.StoredLock;
import io.github.lockboot.fixture.TcpProxy;
import io.github.lockboot.internal.Timer;
import io.github.lockboot.redis.connection.Connections.AcknowledgedBy;
import io.github.lockboot.redis.protocol.ScriptStore;
import io.lettuce.core.RedisURI;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.SocketAddressResolver;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Leases that a replica has to acknowledge, on a real master and its replica that change places, for the specification
 * to judge. Two clients take, renew and release a lock at random; sometimes nothing is copied to the replica meanwhile,
 * and sometimes the replica is promoted before it has the lease. All share a connection, which moves to the new master.
 *
 * <p>What was seen, one line for each step:
 *
 * <pre>
 *   grant c, renew c      the master wrote it
 *   refused c             it did not, which never happens to one that believes
 *   believes c            it was acknowledged
 *   gives up c            it was not
 *   release c
 *   hold, go              nothing is copied in between
 *   fail over
 * </pre>
 */
public final class AcknowledgedSchedule implements AutoCloseable {

    private static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(2);

    /** Outlives the schedule. */
    private static final long TTL_MILLIS = 300_000;

    private static final int STEPS = 8;
    private static final String NAME = "n";

    private enum Interruption {
        NONE,
        NOTHING_IS_COPIED,
        FAILOVER
    }

    private final Random random;
    private final List<String> lines = new ArrayList<>();
    private final RedisServer[] servers = {RedisServer.start(), RedisServer.start()};
    private final TcpProxy[] copying = {TcpProxy.to(servers[0]), TcpProxy.to(servers[1])};
    private final Timer timer = Timer.system(task -> new Thread(task, "acknowledged-timer"));
    private final ExecutorService workers = Executors.newCachedThreadPool();
    private final ClientResources resources =
            ClientResources.builder().socketAddressResolver(new ToMaster()).build();
    private final LettuceConnectionFactory factory = new LettuceConnectionFactory(
            new RedisStandaloneConfiguration(),
            LettuceClientConfiguration.builder().clientResources(resources).build());
    private final Connections connections;
    private final ScriptStore store;
    private volatile int master;

    private AcknowledgedSchedule(long seed) {
        random = new Random(seed);
        factory.afterPropertiesSet();
        factory.start();
        connections = Connections.to(
                factory, false, AcknowledgedBy.ONE_REPLICA, COMMAND_TIMEOUT, () -> "0123456789", timer, workers);
        store = PatientStore.on(connections.runner(), Duration.ofSeconds(2), COMMAND_TIMEOUT);
    }

    private final class ToMaster extends SocketAddressResolver {

        @Override
        public SocketAddress resolve(RedisURI uri) {
            return new InetSocketAddress(servers[master].host(), servers[master].port());
        }
    }

    /** {@return what was seen} */
    public static List<String> trace(long seed) {
        try (AcknowledgedSchedule schedule = new AcknowledgedSchedule(seed)) {
            schedule.run();
            return schedule.lines;
        }
    }

    @Override
    public void close() {
        connections.runner().close();
        factory.destroy();
        resources.shutdown(0, 0, TimeUnit.SECONDS).awaitUninterruptibly(10, TimeUnit.SECONDS);
        timer.close();
        workers.shutdownNow();
        for (int i = 0; i < 2; i++) {
            copying[i].close();
            servers[i].close();
        }
    }

    private void run() {
        follow();
        String holder = null;
        for (int step = 0; step < STEPS; step++) {
            if (holder == null) {
                String id = (random.nextBoolean() ? "a" : "b") + "-" + step;
                if (isAcknowledged(
                        "grant", id, ttl -> store.acquire(NAME, id, Terms.exclusive(ttl, true), false, null))) {
                    holder = id;
                } else {
                    store.release(NAME, id, 0, null).join();
                }
            } else if (random.nextInt(3) > 0) {
                String id = holder;
                isAcknowledged("renew", id, ttl -> {
                    Grant grant = new Grant(id, stored(master).fence(), ttl);
                    return store.renew(NAME, List.of(grant), late -> {});
                });
            } else {
                store.release(NAME, holder, stored(master).fence(), null).join();
                see("release", holder);
                holder = null;
            }
            Await.until("all is copied", () -> stored(0).equals(stored(1)));
        }
    }

    /** @param asked with a ttl that no other has, so that the write can be told from the one before */
    private boolean isAcknowledged(String what, String id, LongFunction<CompletableFuture<Reply>> asked) {
        Interruption interruption = Interruption.values()[random.nextInt(3)];
        if (interruption != Interruption.NONE) {
            copying[master].swallowReplies();
            lines.add("hold");
        }
        StoredLock before = stored(master);
        CompletableFuture<Reply> answer = asked.apply(TTL_MILLIS + lines.size());
        Await.until(
                "it is written or refused",
                () -> answer.isDone() || !stored(master).equals(before));
        see(stored(master).equals(before) ? "refused" : what, id);
        if (interruption == Interruption.FAILOVER) {
            failOver();
        }
        boolean acknowledged =
                answer.handle((reply, failure) -> failure == null).join();
        see(acknowledged ? "believes" : "gives up", id);
        if (interruption == Interruption.NOTHING_IS_COPIED) {
            copying[master].pass();
            lines.add("go");
        }
        Await.until("the replica is online", this::isReplicaOnline);
        return acknowledged;
    }

    /** The replica begins with what it has, and the client follows it. */
    private void failOver() {
        RedisServer old = servers[master];
        servers[1 - master].command("REPLICAOF", "NO", "ONE");
        copying[master].pass();
        master = 1 - master;
        lines.add("fail over");
        old.command("CLIENT", "KILL", "TYPE", "normal");
        lines.add("go");
        follow();
    }

    private void follow() {
        TcpProxy copied = copying[master];
        servers[1 - master].command("REPLICAOF", copied.host(), String.valueOf(copied.port()));
        Await.until("the replica is online", this::isReplicaOnline);
    }

    private boolean isReplicaOnline() {
        return String.valueOf(servers[master].command("INFO", "replication")).contains("state=online");
    }

    private StoredLock stored(int server) {
        return StoredLock.at(servers[server], "lock:" + NAME);
    }

    private void see(String what, String id) {
        lines.add(what + " " + id.charAt(0));
    }
}
