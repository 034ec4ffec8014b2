package io.github.lockboot.faults;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

import io.github.lockboot.faults.Fault.Harm;
import io.github.lockboot.fixture.TcpProxy;

/**
 * Replies that reach other commands than those they answer, as after a mistake of a client or of what lies before
 * Redis.
 */
final class ReplyFaults {

    private static final Duration PAUSE = Duration.ofMillis(100);
    private static final int TIMES = 50;

    static final List<Fault<Standalone>> ALL = List.of(
            fault(
                    "replies-missing",
                    "one reply is missing on each connection every 100 ms for 5 s, and the next comes in its place",
                    TcpProxy::loseReply),
            fault(
                    "replies-doubled",
                    "one reply comes twice on each connection every 100 ms for 5 s",
                    TcpProxy::doubleReply),
            fault(
                    "replies-swapped",
                    "two replies change places on each connection every 100 ms for 5 s",
                    TcpProxy::swapReplies));

    private ReplyFaults() {}

    private static Fault<Standalone> fault(String name, String injection, Consumer<TcpProxy> mixUp) {
        return Fault.of(name, injection, Standalone::inMemory, scene -> mix(scene, mixUp))
                .mayHarm(Harm.HOLDS)
                .within(Terms.ONE_LEASE);
    }

    private static void mix(Scene<Standalone> scene, Consumer<TcpProxy> mixUp) {
        for (int i = 0; i < TIMES; i++) {
            for (int worker = 0; worker < scene.workers().size(); worker++) {
                mixUp.accept(scene.redis().proxy(worker));
            }
            scene.pass(PAUSE);
        }
        for (int worker = 0; worker < scene.workers().size(); worker++) {
            scene.redis().proxy(worker).pass();
        }
    }
}
