package io.github.lockboot;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import io.github.lockboot.internal.HeldByThread;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Several locks of a call: how they are acquired, kept and released. */
class HeldLocksTests {

    private static final LockOptions PATIENT = LockOptions.defaults().withWaitTime(Duration.ofMinutes(1));

    private static final Duration KEPT = Duration.ofMinutes(1);

    private final RecordingLockRegistry registry = new RecordingLockRegistry();

    private LockContext wanted(int number) {
        NamedLock lock = registry.get("lock " + number, PATIENT);
        return HeldLocks.wanted(lock, wait -> registry.acquireAsync(lock, wait), null);
    }

    private LockContext kept() {
        NamedLock lock = registry.get("lock 0", PATIENT);
        return HeldLocks.wanted(lock, wait -> registry.acquireAsync(lock, wait), new LockContext.Keep(KEPT, false));
    }

    private List<LockContext> first(int count) {
        return IntStream.range(0, count).mapToObj(this::wanted).toList();
    }

    /** Is asked whether it is given up as long as its thread remembers it. */
    private static final class Counted extends HeldByThread {

        static int remembered;

        private boolean givenUp;

        @Override
        public LockLostException findLoss(String reason) {
            return null;
        }

        @Override
        protected boolean isGivenUp() {
            remembered++;
            return givenUp;
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 5})
    void aThreadWhoseLeasesEndElsewhereDoesNotRememberThem(int atATime) {
        Deque<Counted> held = new ArrayDeque<>();
        for (int i = 0; i < 1_000; i++) {
            Counted next = new Counted();
            next.begin();
            held.add(next);
            if (held.size() > atATime) {
                CompletableFuture.runAsync(held.remove()::end).join();
            }
        }
        Counted.remembered = 0;
        HeldByThread.ignoreThoseGivenUp();
        held.forEach(HeldByThread::end);
        assertThat(Counted.remembered).isLessThan(2 * atATime + 2);
    }

    @Test
    void aThreadDoesNotRememberWhatEndedElsewhereBeforeWhatItEndedItself() {
        Counted last = new Counted();
        last.begin();
        for (int i = 0; i < 1_000; i++) {
            Counted elsewhere = new Counted();
            elsewhere.begin();
            Counted next = new Counted();
            next.begin();
            CompletableFuture.runAsync(elsewhere::end).join();
            last.end();
            last = next;
        }
        Counted.remembered = 0;
        HeldByThread.ignoreThoseGivenUp();
        last.end();
        assertThat(Counted.remembered).isLessThan(5);
    }

    /** As after {@code if (lock.isHeldByCurrentThread()) lock.unlock()}. */
    @Test
    void aThreadRemembersOnlyTheNewestLocksThatItHasGivenUpAndNeverReleases() {
        List<HeldByThread> givenUp = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            HeldByThread lost = new HeldByThread() {

                @Override
                public LockLostException findLoss(String reason) {
                    return null;
                }

                @Override
                protected boolean isGivenUp() {
                    return true;
                }
            };
            lost.begin();
            givenUp.add(lost);
        }
        assertThat(HeldByThread.all().filter(givenUp::contains)).hasSizeBetween(64, 128);
        givenUp.forEach(HeldByThread::end);
    }

    /** Nor when the newest is one that it has given up. */
    @Test
    void aLockCostsAThreadNoMoreTheMoreItHas() {
        List<Counted> held = new ArrayList<>();
        for (int i = 0; i <= 10_000; i++) {
            Counted next = new Counted();
            next.begin();
            held.add(next);
        }
        held.get(10_000).givenUp = true;
        Counted.remembered = 0;
        for (int i = 0; i < 100; i++) {
            Counted next = new Counted();
            next.begin();
            next.end();
        }
        assertThat(Counted.remembered).isLessThan(1_000);
        held.forEach(HeldByThread::end);
        assertThat(HeldByThread.all()).isEmpty();
    }

    @Test
    void aThreadHasItsLocksTheNewestFirstInWhateverOrderOthersEnd() {
        List<Counted> held = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            Counted next = new Counted();
            next.begin();
            held.add(next);
        }
        held.get(2).end();
        held.get(2).end();
        CompletableFuture.runAsync(held.get(4)::end).join();
        assertThat(HeldByThread.all()).containsExactly(held.get(3), held.get(1), held.get(0));
        held.get(0).end();
        assertThat(HeldByThread.all()).containsExactly(held.get(3), held.get(1));
        held.forEach(HeldByThread::end);
        assertThat(HeldByThread.all()).isEmpty();
    }

    @Test
    void thousandsThatAreFreeAtOnceDoNotOverflowTheStack() {
        HeldLocks held = HeldLocks.acquireAsync(first(10_000)).join();
        assertThat(held.size()).isEqualTo(10_000);
        held.releaseLater(true).join();
        assertThat(registry.events()).hasSize(20_000);
    }

    @Test
    void thousandsThatAreFreeOnceTheFirstIsDoNotOverflowTheStack() {
        CompletableFuture<Lease> first = new CompletableFuture<>();
        List<LockContext> all = IntStream.range(0, 10_000)
                .mapToObj(i -> i > 0 ? wanted(i) : HeldLocks.wanted(wanted(i).lock(), wait -> first, null))
                .toList();
        CompletableFuture<HeldLocks> taking = HeldLocks.acquireAsync(all);
        assertThat(taking).isNotDone();
        first.complete(registry.acquire("lock 0", PATIENT));
        assertThat(taking.join().size()).isEqualTo(10_000);
    }

    @Test
    void aBodyUnderThousandsOfLocksDoesNotOverflowTheStack() {
        HeldLocks held = HeldLocks.acquireAsync(first(10_000)).join();
        assertThat(held.<String, RuntimeException>call(() -> false, () -> "ran"))
                .isEqualTo("ran");
    }

    /** A lease with a listener. */
    private LockContext listened(int number, Runnable exit) {
        NamedLock lock = wanted(number).lock();
        Lease lease = (Lease) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {Lease.class, LockScope.class}, (proxy, method, args) -> {
                    if (method.getName().equals("enter")) {
                        registry.record("enter " + number);
                        return exit;
                    }
                    return true; // it is valid
                });
        return HeldLocks.wanted(lock, wait -> CompletableFuture.completedFuture(lease), null);
    }

    @Test
    void whatListenersSetUpUnderSeveralLocksEndsInReverseEvenIfOneEndFails() {
        HeldLocks held = HeldLocks.acquireAsync(List.of(
                        listened(0, () -> registry.record("exit 0")),
                        listened(1, () -> {
                            throw new AssertionError("exit");
                        }),
                        listened(2, () -> registry.record("exit 2"))))
                .join();
        held.call(() -> false, () -> {
            registry.record("body");
            return null;
        });
        assertThat(registry.events()).containsExactly("enter 0", "enter 1", "enter 2", "body", "exit 2", "exit 0");
        assertThat(HeldByThread.all()).doesNotContain(held);
    }

    @Test
    void cancellingGivesBackWhatWasTaken() {
        registry.answerLater();
        CompletableFuture<HeldLocks> taking = HeldLocks.acquireAsync(first(2));
        registry.answer("lock 0");
        taking.cancel(false);
        assertThat(registry.request("lock 1")).isCancelled();
        assertThat(registry.events()).containsExactly("lock lock 0", "unlock lock 0");
    }

    @Test
    void aLockIsKeptFromTheBeginOfTheBodyOnHoweverLongTheOthersWereWaitedFor() {
        registry.answerLater();
        CompletableFuture<HeldLocks> taking = HeldLocks.acquireAsync(List.of(kept(), wanted(1)));
        registry.answer("lock 0");
        long taken = System.nanoTime();
        Actor.await("time passes", () -> System.nanoTime() - taken > 50_000_000);
        long before = System.nanoTime();
        registry.answer("lock 1");
        HeldLocks held = taking.join();
        held.runAndRelease(() -> held.call(() -> false, () -> null));
        assertThat(registry.lastKeep())
                .isGreaterThanOrEqualTo(KEPT.minusNanos(System.nanoTime() - before))
                .isLessThan(KEPT);
    }

    @Test
    void ifALockThrowsWhenAskedWhetherItWasLostTheCallFailsAndKeepsNone() {
        RuntimeException failure = new IllegalStateException("asked");
        registry.failValidity("lock 0", failure);
        assertThatThrownBy(() -> HeldLocks.acquire(first(2))).isSameAs(failure);
        assertThat(registry.events()).endsWith("unlock lock 1", "unlock lock 0");
    }

    @Test
    void ifItDoesSoInACallThatNoThreadWaitsForThatEndsTheSameWay() {
        RuntimeException failure = new IllegalStateException("asked");
        registry.failValidity("lock 0", failure);
        assertThat(HeldLocks.acquireAsync(first(2)))
                .isCompletedExceptionally()
                .satisfies(taking -> assertThatThrownBy(taking::join).hasCause(failure));
        assertThat(registry.events()).endsWith("unlock lock 1", "unlock lock 0");
    }

    @Test
    void aCallThatCannotTakeItsLocksAgainAfterALossEnds() {
        RuntimeException failure = new IllegalStateException("options");
        LockContext second = wanted(1);
        NamedLock lock = (NamedLock) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {NamedLock.class}, (proxy, method, args) -> {
                    if (registry.names().contains("lock 1")) {
                        throw failure;
                    }
                    return PATIENT;
                });
        registry.lose("lock 0");
        CompletableFuture<HeldLocks> taking =
                HeldLocks.acquireAsync(List.of(wanted(0), HeldLocks.wanted(lock, second::lease, null)));
        assertThat(taking).isCompletedExceptionally();
        assertThatThrownBy(taking::join).hasCause(failure);
        assertThat(registry.events()).endsWith("unlock lock 1", "unlock lock 0");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aLockThatThrowsWhenAskedWhetherItWasLostIsKeptLikeAnyOther(boolean later) {
        HeldLocks held = HeldLocks.acquireAsync(List.of(kept())).join();
        held.call(() -> false, () -> null);
        registry.failValidity("lock 0", new IllegalStateException("asked"));
        if (later) {
            assertThat(held.releaseLater(true)).isCompleted();
        } else {
            held.release(true);
        }
        assertThat(registry.events()).containsExactly("lock lock 0", "keep lock 0");
    }

    private static final Callable<Lease> FREE = () -> null;

    private static Callable<Lease> taken(String name) {
        return () -> {
            throw new LockNotAcquiredException(name, Duration.ZERO);
        };
    }

    private static final Callable<Lease> INTERRUPTED = () -> {
        throw new InterruptedException();
    };

    @Test
    void allAreTriedBeforeTheFirstAnswerIsAwaitedAndReleasedLikewise() {
        HeldLocks held = HeldLocks.acquire(List.of(tried("a", FREE), tried("b", FREE), tried("c", FREE)));
        held.release(true);
        assertThat(registry.events())
                .containsExactly(
                        "try a",
                        "try b",
                        "try c",
                        "await a",
                        "await b",
                        "await c",
                        "release c",
                        "release b",
                        "release a",
                        "released c",
                        "released b",
                        "released a");
    }

    @Test
    void onlyOneIsNotTriedFirst() {
        HeldLocks.acquire(List.of(tried("a", FREE))).release(true);
        assertThat(registry.events()).containsExactly("wait for a", "release a", "released a");
    }

    @Test
    void locksOfWhichOneCannotBeTriedAreAcquiredOneAfterTheOther() {
        HeldLocks.acquire(List.of(tried("a", FREE), HeldLocks.wanted(wanted(1).lock(), null, null)))
                .release(true);
        assertThat(registry.events())
                .containsExactly("wait for a", "lock lock 1", "release a", "unlock lock 1", "released a");
    }

    @Test
    void thoseBeforeTheFirstThatIsTakenStayAndThoseAfterItAreReleasedBeforeItIsWaitedFor() {
        HeldLocks.acquire(List.of(tried("a", FREE), tried("b", taken("b")), tried("c", FREE), tried("d", taken("d"))));
        assertThat(registry.events())
                .containsSubsequence("await d", "release c", "released c", "wait for b", "wait for c", "wait for d")
                .doesNotContain("wait for a", "release a");
    }

    @Test
    void ifOneCannotBeTriedThoseBeforeItAreReleased() {
        RuntimeException failure = new IllegalStateException("held otherwise");
        LockContext second = tried("b", FREE, () -> {
            throw failure;
        });
        assertThatThrownBy(() -> HeldLocks.acquire(List.of(tried("a", FREE), second, tried("c", FREE))))
                .isSameAs(failure);
        assertThat(registry.events()).containsExactly("try a", "try b", "await a", "release a", "released a");
    }

    @Test
    void whatIsNoRefusalEndsTheCall() {
        RuntimeException failure = new LockUnavailableException("c", "cut off", null);
        Callable<Lease> unavailable = () -> {
            throw failure;
        };
        assertThatThrownBy(() -> HeldLocks.acquire(
                        List.of(tried("a", FREE), tried("b", taken("b")), tried("c", unavailable), tried("d", FREE))))
                .isSameAs(failure);
        assertThat(registry.events()).endsWith("await d", "release d", "release a", "released d", "released a");
    }

    @Test
    void anErrorWhenTheReleaseOfOneBeginsKeepsNone() {
        Error error = new AssertionError("release");
        HeldLocks held =
                HeldLocks.acquire(List.of(tried("a", FREE), tried("b", FREE), tried("c", FREE, () -> {}, () -> {
                    throw error;
                })));
        assertThatThrownBy(() -> held.release(true)).isSameAs(error);
        assertThat(registry.events()).endsWith("release c", "release b", "release a", "released b", "released a");
    }

    /** The wait for the first is interrupted, and the others were free. */
    @Test
    void anInterruptNamesTheLockWhoseWaitItEnded() {
        List<LockContext> all = List.of(tried("a", INTERRUPTED), tried("b", FREE), tried("c", INTERRUPTED));
        assertThatThrownBy(() -> HeldLocks.acquire(all))
                .isInstanceOf(LockNotAcquiredException.class)
                .hasCauseInstanceOf(InterruptedException.class)
                .hasMessageMatching("interrupted after waiting .* for lock 'a'; .*");
        assertThat(Thread.interrupted()).isTrue();
        assertThat(registry.events()).endsWith("await c", "release b", "released b");
    }

    @Test
    void anInterruptAfterARefusalNamesTheLockWhoseWaitItEnded() {
        List<LockContext> all = List.of(tried("a", taken("a")), tried("b", INTERRUPTED), tried("c", FREE));
        assertThatThrownBy(() -> HeldLocks.acquire(all))
                .hasMessageMatching("interrupted after waiting .* for lock 'b'; .*");
        assertThat(Thread.interrupted()).isTrue();
        assertThat(registry.events()).endsWith("await c", "release c", "released c");
    }

    @Test
    void anInterruptOfALaterLockNamesThatOne() {
        registry.record("begin");
        LockContext second = HeldLocks.wanted(
                wanted(1).lock(),
                wait -> {
                    Thread.currentThread().interrupt();
                    return new CompletableFuture<>();
                },
                null);
        assertThatThrownBy(() -> HeldLocks.acquire(List.of(wanted(0), second, wanted(2))))
                .hasMessageMatching("interrupted after waiting .* for lock 'lock 1'; .*");
        assertThat(Thread.interrupted()).isTrue();
        assertThat(registry.events()).containsExactly("begin", "lock lock 0", "unlock lock 0");
    }

    /** A lock of a thread that can be tried at once with others, and is free if it is waited for. */
    private LockContext tried(String name, Callable<Lease> answer) {
        return tried(name, answer, () -> {});
    }

    private LockContext tried(String name, Callable<Lease> answer, Runnable begin) {
        return tried(name, answer, begin, () -> {});
    }

    private LockContext tried(String name, Callable<Lease> answer, Runnable begin, Runnable release) {
        NamedLock lock = (NamedLock) Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {NamedLock.class, LockScope.OfLock.class},
                (proxy, method, args) -> switch (method.getName()) {
                    case "getName" -> name;
                    case "waitTime" -> PATIENT.waitTime();
                    case "attempt" -> {
                        registry.record("try " + name);
                        begin.run();
                        yield (Callable<Lease>) () -> {
                            registry.record("await " + name);
                            return answer.call();
                        };
                    }
                    case "tryAcquire" -> {
                        registry.record("wait for " + name);
                        yield null;
                    }
                    case "beginRelease" -> {
                        registry.record("release " + name);
                        release.run();
                        yield (Runnable) () -> registry.record("released " + name);
                    }
                    case "remainingLease" -> Duration.ofSeconds(20);
                    default -> PATIENT;
                });
        return HeldLocks.wanted(lock, null, null);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aLockIsNotKeptForABodyThatHasNotRun(boolean cancelled) {
        registry.answerLater();
        CompletableFuture<HeldLocks> taking = HeldLocks.acquireAsync(List.of(kept(), wanted(1)));
        registry.answer("lock 0");
        if (cancelled) {
            taking.cancel(false);
        } else {
            registry.request("lock 1").completeExceptionally(new LockNotAcquiredException("lock 1", Duration.ZERO));
        }
        assertThat(registry.events()).containsExactly("lock lock 0", "unlock lock 0");
    }

    @Test
    void anErrorOfOneReleaseDoesNotKeepTheOtherLocks() {
        Error second = new AssertionError("second");
        Error first = new AssertionError("first");
        registry.failRelease("lock 1", second);
        registry.failRelease("lock 2", first);
        HeldLocks held = HeldLocks.acquireAsync(first(3)).join();
        assertThatThrownBy(() -> held.release(true)).isSameAs(first).hasSuppressedException(second);
        assertThat(registry.events()).endsWith("unlock lock 2", "unlock lock 1", "unlock lock 0");
    }

    @Test
    void anErrorOfAReleaseDoesNotReplaceTheFailureOfTheBody() {
        Error error = new AssertionError("release");
        registry.failRelease("lock 0", error);
        HeldLocks held = HeldLocks.acquireAsync(first(1)).join();
        assertThatIllegalStateException()
                .isThrownBy(() -> held.runAndRelease(() -> {
                    throw new IllegalStateException("body");
                }))
                .withMessage("body")
                .satisfies(failure -> assertThat(failure).hasSuppressedException(error));
    }
}
