package io.github.lockboot.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.github.lockboot.fixture.RedisProbe;
import io.github.lockboot.fixture.RedisServer;

import static java.util.Objects.requireNonNull;

/**
 * What servers used while something was done.
 *
 * @param nanos how long it took
 */
record Usage(long nanos, Map<RedisServer, Amount> amounts) {

    /** @param written by the process, to sockets and files; 0 where the system does not tell */
    private record Amount(double seconds, double written) {

        Amount minus(Amount earlier) {
            return new Amount(seconds - earlier.seconds, written - earlier.written);
        }
    }

    /** What is done meanwhile. */
    interface Action {

        void run() throws Exception;
    }

    static Usage over(List<RedisServer> servers, Action action) throws Exception {
        Map<RedisServer, Amount> before = amounts(servers);
        long began = System.nanoTime();
        action.run();
        long nanos = System.nanoTime() - began;
        Map<RedisServer, Amount> used = amounts(servers);
        used.replaceAll((server, amount) -> amount.minus(requireNonNull(before.get(server))));
        return new Usage(nanos, used);
    }

    private static Map<RedisServer, Amount> amounts(List<RedisServer> servers) {
        Map<RedisServer, Amount> amounts = new HashMap<>();
        for (RedisServer server : servers) {
            try (RedisProbe redis = server.probe()) {
                amounts.put(server, new Amount(ScriptCalls.processorSeconds(redis), written(server)));
            }
        }
        return amounts;
    }

    private static double written(RedisServer server) {
        try {
            return Files.readAllLines(Path.of("/proc", String.valueOf(server.pid()), "io")).stream()
                    .filter(line -> line.startsWith("wchar: "))
                    .mapToDouble(line -> Double.parseDouble(line.substring("wchar: ".length())))
                    .findFirst()
                    .orElse(0);
        } catch (IOException notLinux) {
            return 0;
        }
    }

    /** Its processor time beyond what it uses in the same time without work. */
    double microsBeyond(Usage idle, RedisServer server) {
        double seconds = of(server).seconds - idle.of(server).seconds * nanos / idle.nanos;
        return seconds * 1e6;
    }

    double writtenBeyond(Usage idle, RedisServer server) {
        return of(server).written - idle.of(server).written * nanos / idle.nanos;
    }

    private Amount of(RedisServer server) {
        return requireNonNull(amounts.get(server));
    }
}
