package io.github.lockboot.sample;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;

import io.github.lockboot.fixture.RedisServer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Grabs that come the moment two instances of the sample are up, beside a thread that keeps one core busy. */
@Tag("burst")
class BurstTests {

    private static final int ROUNDS = Integer.getInteger("rounds", 10);
    private static final int GRABS = 2_000;
    private static final int CLIENTS = 16;
    private static final int OPENIDS = 200;

    @Test
    void noGrabFailsRightAfterTheStart() throws Exception {
        AtomicBoolean over = new AtomicBoolean();
        Thread busy = new Thread(() -> {
            while (!over.get()) {
                Thread.onSpinWait();
            }
        });
        busy.setDaemon(true);
        busy.start();
        ExecutorService clients = Executors.newFixedThreadPool(CLIENTS);
        try (RedisServer redis = RedisServer.start();
                SampleInstance warm = SampleInstance.on(redis)) {
            for (int round = 1; round <= ROUNDS; round++) {
                burst(redis, warm, clients, round);
            }
        } finally {
            over.set(true);
            clients.shutdownNow();
        }
    }

    private void burst(RedisServer redis, SampleInstance warm, ExecutorService clients, int round) throws Exception {
        redis.command("SCRIPT", "FLUSH");
        String grab = "/red-packets/"
                + warm.post("/red-packets?amount=100.00&count=50").<String>read("$.id") + "/grab?openid=o";
        try (SampleProcess one = new SampleProcess(SampleApplication.class, redis);
                SampleProcess two = new SampleProcess(SampleApplication.class, redis)) {
            List<String> urls = List.of(one.url(), two.url());
            List<Callable<Integer>> grabs = IntStream.range(0, GRABS)
                    .<Callable<Integer>>mapToObj(number ->
                            () -> SampleInstance.send("POST", urls.get(number % 2) + grab + number / (GRABS / OPENIDS))
                                    .status())
                    .toList();
            List<Integer> failed = new ArrayList<>();
            for (Future<Integer> answer : clients.invokeAll(grabs)) {
                if (answer.get() != 200) {
                    failed.add(answer.get());
                }
            }
            assertThat(failed)
                    .as(() -> "round " + round + ":\n" + String.join("\n", one.log()) + "\n"
                            + String.join("\n", two.log()))
                    .isEmpty();
        }
    }
}
