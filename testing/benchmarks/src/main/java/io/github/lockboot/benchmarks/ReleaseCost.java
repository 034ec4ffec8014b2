package io.github.lockboot.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.BiFunction;
import java.util.stream.IntStream;

import io.github.lockboot.fixture.RedisProbe;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.harness.Markdown;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.NestedMultiOutput;
import io.lettuce.core.protocol.CommandArgs;

/**
 * What Redis pays for an uncontended hold, if the release is the script of this library, and if it is the server's own
 * comparison and deletion of the stored text: DELEX of Redis from 8.4, DELIFEQ of Valkey from 9.0. The scripts and
 * commands are sent by one connection; no instance runs. See README.md.
 */
public final class ReleaseCost {

    private static final int ROUNDS = 7;
    private static final int HOLDS = 20_000;
    private static final int[] TOGETHER = {1, 16};
    private static final String POLL = "2000";

    private final RedisProbe redis;
    private final ScriptCalls scripts;
    private final StatefulRedisConnection<String, String> connection;
    private final BiFunction<String, String, List<String>> deletion;

    private ReleaseCost(RedisProbe redis, StatefulRedisConnection<String, String> connection) {
        this.redis = redis;
        this.scripts = new ScriptCalls(redis);
        this.connection = connection;
        this.deletion = deletion();
    }

    /** Prints a table. */
    public static void main(String[] args) {
        try (RedisServer server = RedisServer.start();
                RedisProbe redis = server.probe();
                RedisClient client = RedisClient.create("redis://" + server.host() + ":" + server.port());
                StatefulRedisConnection<String, String> connection = client.connect()) {
            ReleaseCost cost = new ReleaseCost(redis, connection);
            System.out.printf("%s, medians of %d rounds of %,d holds%n%n", server.product(), ROUNDS, HOLDS);
            System.out.println(cost.table());
        }
    }

    private BiFunction<String, String, List<String>> deletion() {
        List<BiFunction<String, String, List<String>>> known = List.of(
                (key, text) -> List.of("DELEX", key, "IFEQ", text), (key, text) -> List.of("DELIFEQ", key, text));
        for (BiFunction<String, String, List<String>> one : known) {
            try {
                send(List.of(one.apply("none", "none")));
                return one;
            } catch (CompletionException unknown) {
                // The next may be known.
            }
        }
        throw new UnsupportedOperationException("the server has neither DELEX nor DELIFEQ");
    }

    private String table() {
        StringBuilder text = new StringBuilder(
                "| commands at a time | acquire, µs | release by script, µs | release by command, µs | a hold by command / by script |\n"
                        + "|---:|---:|---:|---:|---:|\n");
        for (int together : TOGETHER) {
            double[][] costs = new double[ROUNDS][];
            for (int round = 0; round <= ROUNDS; round++) { // the first is for warm-up
                double[] byScript = hold(together, false);
                double[] byCommand = hold(together, true);
                costs[Math.max(0, round - 1)] = new double[] {
                    byScript[0], byScript[1], byCommand[1], (byScript[0] + byCommand[1]) / (byScript[0] + byScript[1])
                };
            }
            String[] cells = IntStream.range(0, 4)
                    .mapToObj(column -> Figure.of(IntStream.range(0, ROUNDS)
                                    .mapToDouble(round -> costs[round][column])
                                    .toArray())
                            .toString())
                    .toArray(String[]::new);
            text.append(
                    Markdown.row(String.format(Locale.ROOT, "%d", together), cells[0], cells[1], cells[2], cells[3]));
        }
        return text.toString();
    }

    /** What Redis used for each acquisition and for each release, in microseconds. */
    private double[] hold(int together, boolean byCommand) {
        List<String> ids = IntStream.range(0, HOLDS)
                .mapToObj(i -> ScriptCalls.id(ScriptCalls.session()))
                .toList();
        double acquire = cost(together, i -> scripts.acquireCommand(key(i), ids.get(i), POLL), " GRANTED ");
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < HOLDS; i++) {
            texts.add(String.valueOf(redis.command("GET", key(i))));
        }
        double release = byCommand
                ? cost(together, i -> deletion.apply(key(i), texts.get(i)), "1")
                : cost(together, i -> scripts.unlockCommand(key(i), ids.get(i), POLL), " RELEASED");
        return new double[] {acquire, release};
    }

    private static String key(int number) {
        return "lock:" + number;
    }

    /** Which command is the n-th. */
    private interface Commands {

        List<String> at(int number);
    }

    private double cost(int together, Commands commands, String answer) {
        double before = ScriptCalls.processorSeconds(redis);
        for (int i = 0; i < HOLDS; i += together) {
            List<List<Object>> answers =
                    send(IntStream.range(i, i + together).mapToObj(commands::at).toList());
            answers.forEach(one -> {
                if (!String.valueOf(one).contains(answer)) {
                    throw new IllegalStateException(String.valueOf(one));
                }
            });
        }
        return (ScriptCalls.processorSeconds(redis) - before) * 1e6 / HOLDS;
    }

    /** Sends them together and waits for all answers. */
    private List<List<Object>> send(List<List<String>> commands) {
        connection.setAutoFlushCommands(false);
        List<CompletableFuture<List<Object>>> sent = commands.stream()
                .map(words -> {
                    CommandArgs<String, String> args = new CommandArgs<>(StringCodec.UTF8);
                    words.stream().skip(1).forEach(args::add);
                    return connection
                            .async()
                            .dispatch(new Keyword(words.get(0)), new NestedMultiOutput<>(StringCodec.UTF8), args)
                            .toCompletableFuture();
                })
                .toList();
        connection.flushCommands();
        return sent.stream().map(CompletableFuture::join).toList();
    }
}
