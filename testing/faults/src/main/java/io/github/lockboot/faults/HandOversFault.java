package io.github.lockboot.faults;

import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;

import io.github.lockboot.fixture.TcpProxy;
import org.jspecify.annotations.Nullable;

/**
 * What happens while a lease changes its process.
 *
 * @param name on the command line and in the table
 * @param injection in words for the table
 * @param promised how long after its last holder has ended the lock is granted again at most, but for
 *     {@link Terms#SLACK}
 * @param redis that has the lock
 * @param way what happens in one round
 */
record HandOversFault(String name, String injection, Duration promised, Supplier<Standalone> redis, Way way) {

    /** What happens in one round. */
    @FunctionalInterface
    interface Way {
        void into(HandOvers.Round round);
    }

    private interface Trouble {
        void in(HandOvers.Round round, TcpProxy proxy);
    }

    private static final String EACH = "handover";

    /** A lost message costs a poll and a command timeout. */
    private static final Duration PROMPT = Terms.POLL.plus(Terms.COMMAND_TIMEOUT);

    /** What each direction takes where a command is to be met on its way. */
    private static final Duration DELAY = Duration.ofMillis(30);

    /** A command is sent, executed and answered within that time. */
    private static final Duration AMID = DELAY.multipliedBy(3);

    /** In the order of the table. */
    static final List<HandOversFault> ALL = List.of(
            of("handover-none", "nothing: the lease goes to the taker and back", PROMPT, HandOversFault::goAndComeBack),
            of(
                    "handover-race",
                    "two takers at the same time",
                    PROMPT,
                    round -> round.releaseBy(round.takeByOneOf(round.give(), round.taker(), round.rival()))),
            of("handover-giver-killed", "SIGKILL to the giver as soon as it has the text", PROMPT, round -> {
                String text = round.give();
                round.giver().kill();
                round.take(round.taker(), text);
                round.pass(Duration.ZERO, Terms.ONE_LEASE);
                round.releaseBy(round.taker());
            }),
            of(
                    "handover-giver-killed-amid",
                    "SIGKILL to the giver within 90 ms of its call, whose command takes 30 ms each way; the text is not passed on",
                    Terms.ONE_LEASE,
                    round -> {
                        round.proxyOf(round.giver()).delay(DELAY);
                        round.beginToGive();
                        round.pass(Duration.ZERO, AMID);
                        round.killLastOne(round.giver());
                    }),
            of("handover-taker-killed-before", "SIGKILL to the taker before its call", Terms.ONE_LEASE, round -> {
                String text = round.give();
                round.killLastOne(round.taker());
                round.awaitFree();
                round.requireWorthless(text);
            }),
            of(
                    "handover-taker-killed-amid",
                    "SIGKILL to the taker within 90 ms of its call, whose command takes 30 ms each way",
                    Terms.ONE_LEASE,
                    round -> {
                        String text = round.give();
                        round.proxyOf(round.taker()).delay(DELAY);
                        round.beginToTake(text);
                        round.pass(Duration.ZERO, AMID);
                        round.killLastOne(round.taker());
                        round.awaitFree();
                        round.requireWorthless(text);
                    }),
            of(
                    "handover-taker-killed",
                    "SIGKILL to the taker within 2 s after it has the lease",
                    Terms.ONE_LEASE,
                    round -> {
                        String text = round.give();
                        round.take(round.taker(), text);
                        round.pass(Duration.ZERO, Duration.ofSeconds(2));
                        round.killLastOne(round.taker());
                        round.awaitFree();
                        round.requireWorthless(text);
                    }),
            whileGiving(
                    "handover-giver-cut",
                    "the giver's connections are cut within 90 ms of its call, whose command takes 30 ms each way",
                    HandOversFault::cut),
            whileTaking(
                    "handover-taker-cut",
                    "the taker's connections are cut within 90 ms of its call, whose command takes 30 ms each way",
                    HandOversFault::cut),
            whileGiving(
                    "handover-giver-reply-lost",
                    "what Redis answers the giver is lost for up to 1 s, then its connections are cut",
                    HandOversFault::loseReplies),
            whileTaking(
                    "handover-taker-reply-lost",
                    "what Redis answers the taker is lost for up to 1 s, then its connections are cut",
                    HandOversFault::loseReplies),
            whileGiving(
                    "handover-giver-silence",
                    "what Redis answers the giver is lost for up to 2.5 s, longer than a command may take",
                    HandOversFault::beSilent),
            whileTaking(
                    "handover-taker-silence",
                    "what Redis answers the taker is lost for up to 2.5 s, longer than the call may wait",
                    HandOversFault::beSilent),
            whileGiving(
                            "handover-giver-redis-killed",
                            "SIGKILL to Redis with appendfsync always within 90 ms of the giver's call, 0.5 s without it, restart",
                            HandOversFault::killRedis)
                    .on(Standalone::durable),
            whileTaking(
                            "handover-taker-redis-killed",
                            "the same within 90 ms of the taker's call",
                            HandOversFault::killRedis)
                    .on(Standalone::durable));

    /** @param faults names separated by commas, or null for all; {@code handover} is each of these */
    static List<HandOversFault> named(@Nullable String faults) {
        return ALL.stream()
                .filter(fault -> faults == null
                        || List.of(faults.split(",")).contains(EACH)
                        || List.of(faults.split(",")).contains(fault.name))
                .toList();
    }

    @Override
    public String toString() {
        return name;
    }

    private static HandOversFault of(String name, String injection, Duration promised, Way way) {
        return new HandOversFault(name, injection, promised, Standalone::inMemory, way);
    }

    private HandOversFault on(Supplier<Standalone> another) {
        return new HandOversFault(name, injection, promised, another, way);
    }

    private static HandOversFault whileGiving(String name, String injection, Trouble trouble) {
        return of(name, injection, Terms.ONE_LEASE, round -> {
            TcpProxy proxy = round.proxyOf(round.giver());
            proxy.delay(DELAY);
            round.beginToGive();
            trouble.in(round, proxy);
            String text = round.given();
            if (text != null) {
                round.take(round.taker(), text);
                round.releaseBy(round.taker());
            }
        });
    }

    private static HandOversFault whileTaking(String name, String injection, Trouble trouble) {
        return of(name, injection, Terms.ONE_LEASE, round -> {
            String text = round.give();
            TcpProxy proxy = round.proxyOf(round.taker());
            proxy.delay(DELAY);
            round.beginToTake(text);
            trouble.in(round, proxy);
            if (round.taken()) {
                round.releaseBy(round.taker());
            }
            round.awaitFree();
            round.requireWorthless(text);
        });
    }

    private static void cut(HandOvers.Round round, TcpProxy proxy) {
        round.pass(Duration.ZERO, AMID);
        proxy.cut();
        proxy.pass();
    }

    private static void loseReplies(HandOvers.Round round, TcpProxy proxy) {
        proxy.swallowReplies();
        round.pass(DELAY.multipliedBy(2), Duration.ofSeconds(1));
        proxy.pass();
    }

    private static void beSilent(HandOvers.Round round, TcpProxy proxy) {
        proxy.swallowReplies();
        round.pass(Duration.ofMillis(2_200), Duration.ofMillis(2_500));
        proxy.pass();
    }

    private static void killRedis(HandOvers.Round round, TcpProxy proxy) {
        round.pass(Duration.ZERO, AMID);
        round.redis().server().kill();
        proxy.pass();
        Pause.of(Duration.ofMillis(500));
        round.redis().server().restart();
    }

    private static void goAndComeBack(HandOvers.Round round) {
        round.take(round.taker(), round.give());
        round.pass(Duration.ZERO, Duration.ofSeconds(1));
        round.take(round.giver(), round.giveBy(round.taker()));
        round.pass(Duration.ZERO, Duration.ofSeconds(1));
        round.releaseBy(round.giver());
    }
}
