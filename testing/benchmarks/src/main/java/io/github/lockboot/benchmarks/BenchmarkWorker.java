package io.github.lockboot.benchmarks;

import io.github.lockboot.harness.RedisAddress;
import io.github.lockboot.harness.Worker;

/** A worker that does a round for each line it reads and answers with what it saw. */
final class BenchmarkWorker {

    static final String DONE = "done ";

    private BenchmarkWorker() {}

    /** @param args contender, address of Redis, whether to take no lock before the first round */
    public static void main(String[] args) {
        Worker.run(
                Contenders.named(args[0]),
                RedisAddress.parse(args[1]),
                Boolean.parseBoolean(args[2]),
                client -> order -> System.out.println(
                        DONE + Crew.run(client, Round.parse(order)).encode()));
    }
}
