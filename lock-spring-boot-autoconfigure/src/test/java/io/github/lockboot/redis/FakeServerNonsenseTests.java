package io.github.lockboot.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.stream.Stream;

import io.github.lockboot.Actor;
import io.github.lockboot.Figures;
import io.github.lockboot.LockLostException;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.NamedLock;
import io.github.lockboot.fixture.FakeRedis;
import io.github.lockboot.fixture.FakeRedis.Answer;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.redis.protocol.LuaScript;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

import static io.github.lockboot.redis.FakedServer.COMMAND_TIMEOUT;
import static io.github.lockboot.redis.FakedServer.SLACK;
import static io.github.lockboot.redis.FakedServer.TTL;
import static io.github.lockboot.redis.FakedServer.anyScript;
import static io.github.lockboot.redis.FakedServer.canLock;
import static io.github.lockboot.redis.FakedServer.script;
import static io.github.lockboot.redis.FakedServer.timeUntilUnavailable;
import static org.assertj.core.api.Assertions.assertThat;

/** A server that answers our commands with nonsense or half a reply, and one that refuses every tenth of them. */
@Tag("full")
class FakeServerNonsenseTests {

    /** No script of ours answers so; some are no RESP at all, and end the connection. */
    static final List<Answer> NONSENSE = List.of(
            Answer.raw(":1\r\n"),
            Answer.raw("+OK\r\n"),
            Answer.raw("-\r\n"),
            Answer.raw("$-1\r\n"),
            Answer.raw("_\r\n"),
            Answer.raw("#t\r\n"),
            Answer.raw("*0\r\n"),
            Answer.raw("*2\r\n:1\r\n$2\r\nhi\r\n"),
            Answer.raw("%1\r\n+a\r\n+b\r\n"),
            Answer.raw("?!\u0000\u0001 nonsense\r\n"),
            Answer.raw("HTTP/1.1 400 Bad Request\r\n\r\n"),
            Answer.text(""),
            Answer.text("GRANTED"),
            Answer.text("GRANTED a b c"),
            Answer.text("GRANTED 99999999999999999999 30000 0"),
            Answer.text("owner 1 30000 0"),
            Answer.text("\u001b[31mOWNER\r\n1 30000 0"));

    static final List<Answer> HALVES = List.of(
            Answer.half(""),
            Answer.half("$40\r\nOWNER 1"),
            Answer.half("*100000\r\n"),
            Answer.half("-"),
            Answer.half("$notanumber\r\n"),
            Answer.endless("$1000000000\r\n", "GRANTED 1 ".repeat(1_000)),
            Answer.endless("+", "x".repeat(1_000)));

    private static final Duration WAIT = Duration.ofMillis(300);

    private static RedisServer server;

    private final List<Actor> actors = new ArrayList<>();
    private FakedServer faked;

    @BeforeAll
    static void startServer() {
        server = RedisServer.start();
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    @BeforeEach
    void start() {
        faked = new FakedServer(server);
    }

    @AfterEach
    void stop() {
        actors.forEach(Actor::close);
        faked.close();
    }

    @ParameterizedTest(name = "{index}")
    @FieldSource("NONSENSE")
    void nonsenseIsNoAnswerAndDoesNoHarm(Answer nonsense) {
        NamedLock lock = faked.registry.get("x");
        faked.fake.answer(script(LuaScript.ACQUIRE, "x"), nonsense, FakeRedis.FOR_EVER);
        assertThat(timeUntilUnavailable(() -> lock.tryLock(1, TimeUnit.MINUTES)))
                .isLessThan(COMMAND_TIMEOUT.plus(SLACK));
        faked.fake.pass();
        Actor.await("it works again", () -> canLock(faked.registry));
        lock.lock();
        faked.fake.answer(script(LuaScript.RENEW, "x"), nonsense, 1);
        Actor.pass(TTL.dividedBy(2)); // its first renewal comes after a third
        assertThat(lock.isHeldByCurrentThread()).isTrue();
        faked.fake.answer(script(LuaScript.UNLOCK, "x"), nonsense.afterRunning(), 2);
        lock.unlock();
        faked.awaitFree("x");
        faked.awaitNothingLeft();
    }

    @ParameterizedTest(name = "{index}")
    @FieldSource("HALVES")
    void halfAReplyHoldsUpNobodyBeyondTheCommandTimeout(Answer half) {
        NamedLock lock = faked.registry.get("x");
        faked.fake.answer(script(LuaScript.ACQUIRE, "x"), half, FakeRedis.FOR_EVER);
        assertThat(timeUntilUnavailable(() -> lock.tryLock(WAIT.toMillis(), TimeUnit.MILLISECONDS)))
                .isLessThan(WAIT.plus(COMMAND_TIMEOUT).plus(SLACK));
        assertThat(FakedServer.timeOfTry(faked.registry.get("behind it"))) // it may be on a new connection already
                .isLessThan(COMMAND_TIMEOUT.plus(SLACK));
        faked.fake.pass();
        Actor.await("it works again", () -> canLock(faked.registry));
        faked.awaitNothingLeft();
    }

    @Test
    void withEveryTenthCommandRefusedNoTwoHoldAndNothingStays() throws Exception {
        long seed = Long.getLong("lock.fake.seed", 1);
        Random random = new Random(seed);
        List<String> errors = Stream.concat(FakeServerTests.REFUSALS.stream(), FakeServerTests.OTHER_ERRORS.stream())
                .toList();
        double each = 0.1 / (2 * errors.size());
        for (String error : errors) {
            Predicate<List<String>> some = command -> anyScript("chaos").test(command) && random.nextDouble() < each;
            faked.fake.answer(some, Answer.error(error), FakeRedis.FOR_EVER);
            if (!error.startsWith(
                    "NOSCRIPT")) { // only a server that has lost its scripts says so, and that is another epoch
                faked.fake.answer(some, Answer.error(error).afterRunning(), FakeRedis.FOR_EVER);
            }
        }
        AtomicInteger inside = new AtomicInteger();
        AtomicLong newest = new AtomicLong();
        AtomicInteger violations = new AtomicInteger();
        AtomicInteger holds = new AtomicInteger();
        AtomicInteger losses = new AtomicInteger();
        long end = System.nanoTime() + Duration.ofSeconds(5).toNanos();
        Step hold = lock -> {
            boolean alone = inside.incrementAndGet() == 1;
            boolean newer = newest.getAndSet(lock.fencingToken()) < lock.fencingToken();
            LockSupport.parkNanos(100_000);
            inside.decrementAndGet();
            holds.incrementAndGet();
            if (!alone || !newer) {
                violations.incrementAndGet();
            }
        };
        List<CompletableFuture<Void>> runs = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            NamedLock lock = (i < 4 ? faked.registry : faked.other).get("chaos");
            Actor actor = new Actor();
            actors.add(actor);
            runs.add(actor.begin(() -> {
                while (System.nanoTime() - end < 0) {
                    try {
                        if (lock.tryLock(200, TimeUnit.MILLISECONDS)) {
                            hold.on(lock);
                            lock.unlock();
                        }
                    } catch (LockUnavailableException expected) {
                        continue;
                    } catch (LockLostException lost) {
                        losses.incrementAndGet();
                    }
                }
            }));
        }
        for (CompletableFuture<Void> run : runs) {
            Actor.get(run);
        }
        faked.fake.pass();
        faked.awaitNothingLeft();
        Figures.report(
                "every tenth command refused (seed %d): %d commands answered, %d holds, %d violations, %d losses",
                seed, faked.fake.answered().size(), holds.get(), violations.get(), losses.get());
        assertThat(violations).as("seed " + seed).hasValue(0);
        assertThat(losses).as("seed " + seed).hasValue(0);
        assertThat(faked.fake.answered()).hasSizeGreaterThan(5);
    }

    private interface Step {
        void on(NamedLock lock);
    }
}
