package io.github.lockboot.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import io.github.lockboot.Actor;
import io.github.lockboot.Figures;
import io.github.lockboot.Lease;
import io.github.lockboot.LockLostException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.NamedLock;
import io.github.lockboot.fixture.FakeRedis;
import io.github.lockboot.fixture.FakeRedis.Answer;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.fixture.StoredLock;
import io.github.lockboot.redis.protocol.LuaScript;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

import static io.github.lockboot.redis.FakedServer.COMMAND_TIMEOUT;
import static io.github.lockboot.redis.FakedServer.SLACK;
import static io.github.lockboot.redis.FakedServer.TTL;
import static io.github.lockboot.redis.FakedServer.anyScript;
import static io.github.lockboot.redis.FakedServer.script;
import static io.github.lockboot.redis.FakedServer.timeUntilUnavailable;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * A server that answers our commands with every error Redis has for them and some it has not: before the command has
 * run and after, which is what is read when a command was sent twice and only the second copy was refused.
 */
class FakeServerTests {

    /** They say that the command was not run, for now. */
    static final List<String> REFUSALS = List.of(
            "TRYAGAIN Multiple keys request during rehashing of slot",
            "CLUSTERDOWN Hash slot not served",
            "LOADING Redis is loading the dataset in memory",
            "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
            "OOM command not allowed when used memory > 'maxmemory'.",
            "READONLY You can't write against a read only replica.",
            "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
            "NOREPLICAS Not enough good replicas to write.",
            "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.",
            "NOSCRIPT No matching script. Please use EVAL.",
            "@user_script: 37: -READONLY You can't write against a read only replica.",
            "ERR Error running script (call to f_1): @user_script:1: -OOM command not allowed");

    /**
     * They say nothing about whether it ran, or that it never will here, as a redirection that this client does not
     * follow.
     */
    static final List<String> OTHER_ERRORS = List.of(
            "MOVED 866 127.0.0.1:1",
            "ASK 866 127.0.0.1:1",
            "ERR unknown command 'EVALSHA'",
            "WRONGTYPE Operation against a key holding the wrong kind of value",
            "NOAUTH Authentication required.",
            "NOPERM this user has no permissions to run the 'evalsha' command",
            "EXECABORT Transaction discarded because of previous errors.",
            "UNKILLABLE Sorry the script already executed write commands",
            "MOVEDX",
            "\u001b[31mforged \u2028line");

    private static final Duration WAIT = Duration.ofMillis(300);

    private static RedisServer server;

    private final List<Actor> actors = new ArrayList<>();
    private FakedServer faked;
    private String test;

    @BeforeAll
    static void startServer() {
        server = RedisServer.start();
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    @BeforeEach
    void start(TestInfo info) {
        test = info.getTestMethod().orElseThrow().getName();
        faked = new FakedServer(server);
    }

    @AfterEach
    void stop() {
        actors.forEach(Actor::close);
        faked.close();
    }

    private interface Try {
        void run(String error, String name, NamedLock lock) throws Exception;
    }

    /** Tries all the errors side by side, each on a lock of its own that is free afterwards. */
    private void withEach(List<String> errors, Try each) throws Exception {
        List<CompletableFuture<Void>> runs = new ArrayList<>();
        for (String error : errors) {
            Actor actor = new Actor();
            actors.add(actor);
            String name = "lock-" + errors.indexOf(error);
            runs.add(actor.begin(() -> each.run(error, name, faked.registry.get(name))));
        }
        for (int i = 0; i < errors.size(); i++) {
            try {
                Actor.get(runs.get(i));
            } catch (Exception | AssertionError failure) {
                throw new AssertionError("with " + errors.get(i), failure);
            }
        }
        faked.fake.pass();
        faked.awaitNothingLeft();
        Figures.report(
                "%s: %d commands answered by the fake",
                test, faked.fake.answered().size());
    }

    // --- taking -----------------------------------------------------------------------------------------------

    @Test
    void aRefusalIsFollowedByTheSameQuestionAgain() throws Exception {
        withEach(REFUSALS, (error, name, lock) -> {
            faked.fake.answer(script(LuaScript.ACQUIRE, name), Answer.error(error), 3);
            assertThat(lock.tryLock(10, TimeUnit.SECONDS)).isTrue();
            assertThat(faked.fake.answered().stream()
                            .filter(anyScript(name))
                            .map(command -> command.get(4))
                            .distinct())
                    .containsExactly(
                            String.valueOf(StoredLock.at(server, "lock:" + name).owner()));
            lock.unlock();
        });
    }

    @Test
    void aRefusalOfASecondCopyIsFollowedByTheSameQuestionAgain() throws Exception {
        withEach(REFUSALS, (error, name, lock) -> {
            faked.fake.answer(
                    script(LuaScript.ACQUIRE, name), Answer.error(error).afterRunning(), 3);
            assertThat(lock.tryLock(10, TimeUnit.SECONDS)).isTrue();
            assertThat(lock.isHeldByCurrentThread()).isTrue();
            lock.unlock();
            assertThat(faked.exists(name)).isFalse();
        });
    }

    @Test
    void aTimedTryThatIsRefusedForEverEndsAtItsDeadline() throws Exception {
        withEach(REFUSALS, (error, name, lock) -> {
            faked.fake.answer(anyScript(name), Answer.error(error), FakeRedis.FOR_EVER);
            assertThat(timeUntilUnavailable(() -> lock.tryLock(WAIT.toMillis(), TimeUnit.MILLISECONDS)))
                    .isBetween(WAIT, WAIT.plus(COMMAND_TIMEOUT).plus(SLACK));
            assertThat(faked.exists(name)).isFalse();
        });
    }

    @Test
    void aTryThatIsRefusedAfterAllOfItRanLeavesNoHalfTakenLock() throws Exception {
        withEach(REFUSALS, (error, name, lock) -> {
            faked.fake.answer(anyScript(name), Answer.error(error).afterRunning(), FakeRedis.FOR_EVER);
            timeUntilUnavailable(() -> lock.tryLock(WAIT.toMillis(), TimeUnit.MILLISECONDS));
            faked.awaitFree(name);
            timeUntilUnavailable(lock::tryLock);
            faked.awaitFree(name);
        });
    }

    @Test
    void aTryWithoutWaitingIsUnavailableAndTheCopyThatRanIsGivenBack() throws Exception {
        withEach(Stream.concat(REFUSALS.stream(), OTHER_ERRORS.stream()).toList(), (error, name, lock) -> {
            faked.fake.answer(
                    script(LuaScript.ACQUIRE, name), Answer.error(error).afterRunning(), FakeRedis.FOR_EVER);
            assertThatThrownBy(lock::tryLock).isInstanceOf(LockUnavailableException.class);
            faked.awaitFree(name);
        });
    }

    @Test
    void alsoAWaitWithoutLimitGivesUpWhatIsRefusedForATtl() throws Exception {
        withEach(REFUSALS, (error, name, lock) -> {
            faked.fake.answer(anyScript(name), Answer.error(error), FakeRedis.FOR_EVER);
            assertThat(timeUntilUnavailable(lock::lock)).isBetween(TTL, TTL.plusSeconds(10));
        });
    }

    @Test
    void anUnknownErrorToTheFirstQuestionIsUnavailableAtOnce() throws Exception {
        withEach(OTHER_ERRORS, (error, name, lock) -> {
            faked.fake.answer(script(LuaScript.ACQUIRE, name), Answer.error(error), FakeRedis.FOR_EVER);
            assertThat(timeUntilUnavailable(() -> lock.tryLock(1, TimeUnit.MINUTES)))
                    .isLessThan(COMMAND_TIMEOUT.plus(SLACK));
        });
    }

    @Test
    void whoAsksWhetherItIsLockedIsToldThatNobodyKnows() throws Exception {
        withEach(Stream.concat(REFUSALS.stream(), OTHER_ERRORS.stream()).toList(), (error, name, lock) -> {
            faked.fake.answer(anyScript(name), Answer.error(error), FakeRedis.FOR_EVER);
            assertThat(timeUntilUnavailable(lock::isLocked)).isLessThan(COMMAND_TIMEOUT.plus(SLACK));
        });
    }

    // --- holding ----------------------------------------------------------------------------------------------

    @Test
    void aReleaseThatIsRefusedReturnsAndTheLockIsFreeAfterwards() throws Exception {
        withEach(Stream.concat(REFUSALS.stream(), OTHER_ERRORS.stream()).toList(), (error, name, lock) -> {
            for (Answer answer :
                    List.of(Answer.error(error), Answer.error(error).afterRunning())) {
                lock.lock();
                AtomicInteger losses = new AtomicInteger();
                lock.onLost(losses::incrementAndGet);
                faked.fake.answer(script(LuaScript.UNLOCK, name), answer, 3);
                lock.unlock();
                assertThat(lock.isHeldByCurrentThread()).isFalse();
                faked.awaitFree(name);
                assertThat(losses).hasValue(0);
            }
        });
    }

    @Test
    void aLeaseOutlivesRefusedRenewals() throws Exception {
        withEach(REFUSALS, (error, name, lock) -> {
            lock.lock();
            faked.fake.answer(script(LuaScript.RENEW, name), Answer.error(error), 1);
            faked.fake.answer(script(LuaScript.RENEW, name), Answer.error(error).afterRunning(), 1);
            long end = System.nanoTime() + TTL.multipliedBy(2).toNanos();
            while (System.nanoTime() - end < 0) {
                assertThat(lock.isHeldByCurrentThread()).isTrue();
                Actor.pass(Duration.ofMillis(20));
            }
            lock.unlock();
        });
    }

    @Test
    void aHoldWhoseRenewalsAreAllRefusedIsLostOnceAndNotLeftBehind() throws Exception {
        withEach(REFUSALS, (error, name, lock) -> {
            lock.lock();
            AtomicInteger losses = new AtomicInteger();
            lock.onLost(losses::incrementAndGet);
            Answer refusal = Answer.error(error);
            faked.fake.answer(
                    script(LuaScript.RENEW, name),
                    REFUSALS.indexOf(error) % 2 == 0 ? refusal : refusal.afterRunning(),
                    FakeRedis.FOR_EVER);
            Actor.await("lost", TTL.plusSeconds(3), () -> losses.get() == 1);
            assertThat(lock.isHeldByCurrentThread()).isFalse();
            assertThatThrownBy(lock::unlock).isInstanceOf(LockLostException.class);
            faked.awaitFree(name);
            assertThat(losses).hasValue(1);
        });
    }

    // --- waiting ----------------------------------------------------------------------------------------------

    @Test
    void whoIsQueuedEnduresRefusalsAndIsServed() throws Exception {
        withEach(Stream.concat(REFUSALS.stream(), OTHER_ERRORS.stream()).toList(), (error, name, unused) -> {
            NamedLock lock = faked.patient.get(name);
            Lease held = faked.other.acquire(name, LockOptions.defaults());
            try (Actor waiter = new Actor()) {
                CompletableFuture<Boolean> served = waiter.start(() -> lock.tryLock(20, TimeUnit.SECONDS));
                Actor.await(
                        "queued", () -> StoredLock.at(server, "lock:" + name).isWaitedFor());
                faked.fake.answer(script(LuaScript.ACQUIRE, name), Answer.error(error), 4);
                Actor.await("refused", () -> refusals(name) == 4);
                assertThat(served).isNotDone();
                held.close();
                assertThat(Actor.get(served)).isTrue();
                waiter.run(lock::unlock);
            }
        });
    }

    private long refusals(String name) {
        return faked.fake.answered().stream().filter(anyScript(name)).count();
    }

    @Test
    void whoMayNotSubscribePolls() throws Exception {
        List<Answer> answers = Stream.concat(
                        Stream.concat(REFUSALS.stream(), OTHER_ERRORS.stream()).map(Answer::error),
                        Stream.of(Answer.half(">3\r\n$9\r\nsubs"), Answer.raw("$-1\r\n"), Answer.raw("?!\r\n")))
                .toList();
        for (Answer answer : answers) {
            faked.fake.pass();
            faked.fake.answer(command -> command.get(0).equals("SUBSCRIBE"), answer, FakeRedis.FOR_EVER);
            try (TestRegistries refused = TestRegistries.at(faked.fake.host(), faked.fake.port());
                    Actor waiter = new Actor()) {
                NamedLock wanted = refused.registry(FakedServer::quick).get("x");
                Lease held = faked.other.acquire("x", LockOptions.defaults());
                int before = faked.fake.answered().size();
                CompletableFuture<Boolean> served = waiter.start(() -> wanted.tryLock(20, TimeUnit.SECONDS));
                Actor.await("queued", () -> StoredLock.at(server, "lock:x").isWaitedFor());
                Actor.await("refused", () -> faked.fake.answered().size() > before);
                held.close();
                assertThat(Actor.get(served)).as(answer.reply()).isTrue();
                waiter.run(wanted::unlock);
            }
        }
    }
}
