package io.github.lockboot.faults;

import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

import io.github.lockboot.faults.Fault.Harm;
import io.github.lockboot.faults.Fault.Start;
import io.github.lockboot.fixture.TcpProxy;

/** What happens between processes and Redis. */
final class NetworkFaults {

    private static final Duration MOMENT = Duration.ofMillis(200);

    static final List<Fault<Standalone>> ALL = List.of(
            Fault.of(
                            "request-lost",
                            "what the holder sends is lost for up to 1 s in which it releases, then its connection is cut",
                            Standalone::inMemory,
                            scene -> releaseWhile(scene, TcpProxy::swallowRequests))
                    .from(Start.HELD)
                    .mayHarm(Harm.HOLDS)
                    .within(Terms.ONE_LEASE),
            Fault.of(
                            "reply-lost",
                            "what Redis answers the holder is lost for up to 1 s in which it releases, then its connection is cut",
                            Standalone::inMemory,
                            scene -> releaseWhile(scene, TcpProxy::swallowReplies))
                    .from(Start.HELD)
                    .mayHarm(Harm.HOLDS)
                    .within(Terms.ONE_LEASE),
            Fault.of(
                            "half-open",
                            "the holder's connections stay open and carry nothing for two leases; counted from their beginning",
                            Standalone::inMemory,
                            scene -> {
                                TcpProxy proxy = holdersProxy(scene);
                                scene.recoveryFromNow();
                                proxy.swallowRequests();
                                scene.pass(Terms.TTL.multipliedBy(2));
                                proxy.pass();
                            })
                    .from(Start.HELD)
                    .mayHarm(Harm.HOLDS)
                    .within(Terms.ONE_LEASE),
            Fault.of("cut-in-flight", "all connections are cut every 50 ms for 5 s", Standalone::inMemory, scene -> {
                        for (int i = 0; i < 100; i++) {
                            proxies(scene).forEach(TcpProxy::cut);
                            scene.pass(Duration.ofMillis(50));
                        }
                    })
                    .mayHarm(Harm.HOLDS),
            Fault.of(
                            "flapping",
                            "200 ms of no connection, 200 ms of connection, for 60 s",
                            Standalone::inMemory,
                            scene -> {
                                for (int i = 0; i < 150; i++) {
                                    proxies(scene).forEach(TcpProxy::refuse);
                                    scene.pass(MOMENT);
                                    proxies(scene).forEach(TcpProxy::pass);
                                    scene.pass(MOMENT);
                                }
                            })
                    .mayHarm(Harm.HOLDS)
                    .rarely(5),
            Fault.of(
                            "flaky",
                            "each process for itself, for 10 s: cuts, losses of requests or replies, delays, refusals, of up to 2 s",
                            Standalone::inMemory,
                            NetworkFaults::flake)
                    .mayHarm(Harm.HOLDS)
                    .rarely(2),
            Fault.of(
                    "client-kill",
                    "CLIENT KILL of all connections every 200 ms for 5 s",
                    Standalone::inMemory,
                    scene -> {
                        for (int i = 0; i < 25; i++) {
                            scene.redis().command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
                            scene.redis().command("CLIENT", "KILL", "TYPE", "pubsub");
                            scene.pass(MOMENT);
                        }
                    }),
            Fault.of(
                    "pubsub-gone",
                    "the user loses all channels and pub/sub connections are killed, for good",
                    Standalone::inMemory,
                    scene -> {
                        scene.afterwards(() -> scene.redis().command("ACL", "SETUSER", "default", "allchannels"));
                        scene.redis().command("ACL", "SETUSER", "default", "resetchannels");
                        scene.redis().command("CLIENT", "KILL", "TYPE", "pubsub");
                    }));

    private NetworkFaults() {}

    private static TcpProxy holdersProxy(Scene<Standalone> scene) {
        return scene.redis().proxy(scene.indexOfHolder());
    }

    private static List<TcpProxy> proxies(Scene<Standalone> scene) {
        return IntStream.range(0, scene.workers().size())
                .mapToObj(scene.redis()::proxy)
                .toList();
    }

    private interface Trouble {
        void begin(TcpProxy proxy);
    }

    private static void releaseWhile(Scene<Standalone> scene, Trouble trouble) {
        TcpProxy proxy = holdersProxy(scene);
        trouble.begin(proxy);
        scene.pass(Duration.ofMillis(20));
        scene.release();
        scene.pass(scene.between(Duration.ofMillis(100), Duration.ofSeconds(1)));
        proxy.pass();
    }

    private static void flake(Scene<Standalone> scene) throws InterruptedException {
        List<Thread> threads = proxies(scene).stream()
                .map(proxy -> {
                    Random random = new Random(scene.random().nextLong());
                    return new Thread(() -> flake(proxy, random), "flaky");
                })
                .toList();
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private static void flake(TcpProxy proxy, Random random) {
        long end = System.nanoTime() + Duration.ofSeconds(10).toNanos();
        while (System.nanoTime() - end < 0) {
            switch (random.nextInt(5)) {
                case 0 -> proxy.cut();
                case 1 -> proxy.swallowRequests();
                case 2 -> proxy.swallowReplies();
                case 3 -> proxy.delay(Duration.ofMillis(random.nextInt(100)));
                default -> proxy.refuse();
            }
            Pause.of(Duration.ofMillis(random.nextInt(3) == 0 ? 1_000 + random.nextInt(1_000) : random.nextInt(300)));
            proxy.pass();
            Pause.of(Duration.ofMillis(random.nextInt(500)));
        }
    }
}
