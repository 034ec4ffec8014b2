package io.github.lockboot.benchmarks;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;

import io.github.lockboot.fixture.RedisCluster;
import io.github.lockboot.fixture.RedisProbe;
import io.github.lockboot.fixture.RedisProbe.ErrorReply;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.harness.Markdown;

import static java.util.Objects.requireNonNull;

/**
 * What the bus of a Cluster costs beside the locks: the processor time of each of six masters for a hold, for a message
 * and for a hand-over, all sent to one of them on 16 connections, and the same on a server alone. What a server uses
 * without work is subtracted. See README.md.
 */
public final class BusCost implements AutoCloseable {

    private static final int MASTERS = 6;
    private static final int ROUNDS = 5;
    private static final int CONNECTIONS = 16;
    private static final int CALLS = 300;
    private static final int WAITERS = 3;
    private static final int IDLE_MILLIS = 2_000;
    private static final String POLL = "2000";

    /** All keys and shard channels have its slot. */
    private static final String TAG = "{bus}";

    private final RedisServer alone = RedisServer.start();
    private final RedisCluster cluster = RedisCluster.ofMasters(MASTERS);
    private final RedisServer master = cluster.ownerOf(TAG);
    private final RedisServer other = cluster.servers().stream()
            .filter(server -> server != master)
            .findFirst()
            .orElseThrow();
    private final ExecutorService threads = Executors.newFixedThreadPool(CONNECTIONS);
    private final List<Listener> listeners = new ArrayList<>();
    private final List<Lane> onAlone = lanes(alone);
    private final List<Lane> onCluster = lanes(master);

    /** What one connection does, with names of its own. */
    private static final class Lane implements AutoCloseable {

        final RedisProbe redis;
        final ScriptCalls scripts;
        final String free;
        final String contended;
        final List<String> sessions = new ArrayList<>();
        final List<String> ids = new ArrayList<>(); // the holder first

        Lane(RedisServer server, int number) {
            redis = server.probe();
            scripts = new ScriptCalls(redis);
            free = "lock:" + TAG + "free-" + number;
            contended = "lock:" + TAG + "contended-" + number;
            for (int i = 0; i <= WAITERS; i++) {
                sessions.add(ScriptCalls.session());
                ids.add(ScriptCalls.id(sessions.get(i)));
                scripts.acquire(contended, ids.get(i), POLL);
            }
        }

        void hold() {
            String id = ScriptCalls.id(sessions.get(0));
            require("GRANTED", scripts.acquire(free, id, POLL));
            require("RELEASED", scripts.unlock(free, id, POLL));
        }

        /** To the next instance; the one that had it queues again. */
        void handOver() {
            String next = ScriptCalls.id(sessions.get(0));
            sessions.add(sessions.remove(0));
            ids.add(next);
            require("QUEUED", scripts.unlock(contended, ids.remove(0), POLL, next));
        }

        /** The lease of a hand-over is short. */
        void renew() {
            scripts.acquire(contended, ids.get(0), POLL);
        }

        void publish(String command, String channel) {
            redis.command(command, channel, ids.get(1) + " 1763850000000000 6000 3 1763850000000000 " + contended);
        }

        private static void require(String status, String reply) {
            if (!reply.contains(" " + status)) {
                throw new IllegalStateException(reply);
            }
        }

        @Override
        public void close() {
            redis.close();
        }
    }

    /** Something that is asked of a server, on each connection. */
    private record Work(String name, List<Lane> lanes, Call call) {}

    private interface Call {

        void on(Lane lane);
    }

    /** What it cost, in microseconds for each call, and how many bytes the server wrote that was asked. */
    private record Cost(double there, double elsewhere, double written) {}

    private static List<Lane> lanes(RedisServer server) {
        return IntStream.range(0, CONNECTIONS)
                .mapToObj(i -> new Lane(server, i))
                .toList();
    }

    /** Prints a table. */
    public static void main(String[] args) throws Exception {
        try (BusCost cost = new BusCost()) {
            System.out.println(cost.alone.product() + ", " + MASTERS + " masters, medians of " + ROUNDS + " rounds of "
                    + CONNECTIONS * CALLS + " calls\n");
            System.out.println(cost.table());
        }
    }

    private String table() throws Exception {
        listen(alone, "SUBSCRIBE", onAlone);
        listen(other, "SUBSCRIBE", onCluster);
        List<Work> works = new ArrayList<>(List.of(
                new Work("a hold, alone", onAlone, Lane::hold),
                new Work("a hold, on the Cluster", onCluster, Lane::hold),
                new Work("a message, alone", onAlone, lane -> lane.publish("PUBLISH", channel(lane))),
                new Work("a message, on the Cluster", onCluster, lane -> lane.publish("PUBLISH", channel(lane))),
                new Work("a hand-over, alone", onAlone, Lane::handOver),
                new Work("a hand-over, on the Cluster", onCluster, Lane::handOver)));
        if (hasShardChannels()) {
            listeners.add(Listener.on(master, "SSUBSCRIBE", List.of(TAG)));
            works.add(new Work("a message on a shard channel", onCluster, lane -> lane.publish("SPUBLISH", TAG)));
        }
        Map<Work, List<Cost>> costs = new LinkedHashMap<>();
        works.forEach(work -> costs.put(work, new ArrayList<>()));
        for (int round = -1; round < ROUNDS; round++) { // the first is for warm-up
            Usage idle = Usage.over(servers(), () -> Thread.sleep(IDLE_MILLIS));
            for (Work work : works) {
                Cost cost = measure(work, idle);
                if (round >= 0) {
                    requireNonNull(costs.get(work)).add(cost);
                }
            }
        }
        return table(costs);
    }

    private static String channel(Lane lane) {
        return "lock:client:" + lane.sessions.get(0);
    }

    private void listen(RedisServer server, String command, List<Lane> lanes) {
        List<String> channels = lanes.stream()
                .flatMap(lane -> lane.sessions.stream())
                .map(session -> "lock:client:" + session)
                .toList();
        listeners.add(Listener.on(server, command, channels));
    }

    private boolean hasShardChannels() {
        try {
            master.command("SPUBLISH", TAG, "");
            return true;
        } catch (ErrorReply older) {
            return false;
        }
    }

    private List<RedisServer> servers() {
        List<RedisServer> servers = new ArrayList<>(cluster.servers());
        servers.add(alone);
        return servers;
    }

    private Cost measure(Work work, Usage idle) throws Exception {
        RedisServer asked = work.lanes() == onAlone ? alone : master;
        work.lanes().forEach(Lane::renew);
        Usage used = Usage.over(servers(), () -> {
            List<CompletableFuture<Void>> all = work.lanes().stream()
                    .map(lane -> CompletableFuture.runAsync(() -> repeat(work.call(), lane), threads))
                    .toList();
            all.forEach(CompletableFuture::join);
        });
        int calls = CONNECTIONS * CALLS;
        double elsewhere = work.lanes() == onAlone
                ? 0
                : cluster.servers().stream()
                        .filter(server -> server != master)
                        .mapToDouble(server -> used.microsBeyond(idle, server))
                        .sum();
        return new Cost(
                used.microsBeyond(idle, asked) / calls, elsewhere / calls, used.writtenBeyond(idle, asked) / calls);
    }

    private static void repeat(Call call, Lane lane) {
        for (int i = 0; i < CALLS; i++) {
            call.on(lane);
        }
    }

    private static String table(Map<Work, List<Cost>> costs) {
        StringBuilder text = new StringBuilder(
                "| | at the master that is asked, µs | at each of the five others, µs | at all six, µs | bytes written by the first |\n"
                        + "|---|---:|---:|---:|---:|\n");
        costs.forEach((work, measured) -> {
            double there = median(measured.stream().map(Cost::there).toList());
            double elsewhere = median(measured.stream().map(Cost::elsewhere).toList());
            double written = median(measured.stream().map(Cost::written).toList());
            text.append(Markdown.row(
                    work.name(),
                    number("%.1f", there),
                    number("%.1f", elsewhere / (MASTERS - 1)),
                    number("%.1f", there + elsewhere),
                    number("%,.0f", written)));
        });
        return text.toString();
    }

    private static String number(String format, double value) {
        return String.format(Locale.ROOT, format, value);
    }

    private static double median(List<Double> values) {
        return values.stream().sorted().toList().get(values.size() / 2);
    }

    @Override
    public void close() {
        listeners.forEach(Listener::close);
        threads.shutdownNow();
        onAlone.forEach(Lane::close);
        onCluster.forEach(Lane::close);
        cluster.close();
        alone.close();
    }
}
