package io.github.lockboot.aop;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

import io.github.lockboot.Lease;
import io.github.lockboot.LockLostException;
import io.github.lockboot.LockNotAcquiredException;
import org.jspecify.annotations.Nullable;

/** As {@link BlockingAcquisition}, without a thread that waits. */
final class AsyncAcquisition {

    private final List<WantedLock> wanted;
    private final long start = System.nanoTime();
    private final CompletableFuture<Attempt> result = new CompletableFuture<>();
    private HeldLocks held;
    private volatile @Nullable Question asking;

    private record Question(String name, CompletableFuture<Lease> answer) {}

    private AsyncAcquisition(List<WantedLock> wanted) {
        this.wanted = wanted;
        this.held = new HeldLocks(wanted.size());
    }

    /** @return what came of it; cancelling it gives back what has been taken by then */
    static CompletableFuture<Attempt> begin(List<WantedLock> wanted) {
        AsyncAcquisition acquisition = new AsyncAcquisition(wanted);
        acquisition.begin();
        return acquisition.result;
    }

    /**
     * As {@link #begin(List)}, on a thread that waits. An interrupt ends the wait.
     *
     * @return what came of it, which is known
     */
    static CompletableFuture<Attempt> await(List<WantedLock> wanted) {
        AsyncAcquisition acquisition = new AsyncAcquisition(wanted);
        acquisition.begin();
        try {
            acquisition.result.get();
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
            acquisition.interrupted(interrupt);
        } catch (ExecutionException | CancellationException failure) {
            // told to those who depend on the future
        }
        return acquisition.result;
    }

    private void begin() {
        result.whenComplete((attempt, failure) -> stopAskingIfDecided());
        take(0);
    }

    private void interrupted(InterruptedException interrupt) {
        Question question = asking;
        if (question != null) {
            Duration waited = Duration.ofNanos(System.nanoTime() - start);
            result.completeExceptionally(new LockNotAcquiredException(question.name(), waited, interrupt));
        }
    }

    private void take(int index) {
        if (index == wanted.size()) {
            tell();
            return;
        }
        WantedLock next = wanted.get(index);
        CompletableFuture<Lease> request;
        try {
            request = next.acquireAsync(start);
        } catch (RuntimeException refused) {
            fail(refused);
            return;
        }
        asking = new Question(next.name(), request);
        stopAskingIfDecided();
        request.whenComplete((lease, failure) -> {
            if (failure == null) {
                held.add(HeldLock.ByCall.of(lease, next.spec().keep()));
                take(index + 1);
            } else if (HeldLocks.unwrap(failure) instanceof LockNotAcquiredException contention) {
                held.releaseLaterAfter(contention)
                        .thenRun(() -> result.complete(new Attempt.Refusal(next.spec(), contention)));
            } else {
                fail(HeldLocks.unwrap(failure));
            }
        });
    }

    private void tell() {
        try {
            held.checkBeforeUse();
        } catch (LockLostException lost) {
            held.releaseLaterAfter(lost).thenRun(() -> takeAnew(lost));
            return;
        }
        if (!result.complete(held)) {
            held.releaseLater(false);
        }
    }

    private void takeAnew(LockLostException lost) {
        if (WantedLock.mayWait(wanted, start)) {
            held = new HeldLocks(wanted.size());
            take(0);
        } else {
            result.completeExceptionally(lost);
        }
    }

    private void fail(Throwable failure) {
        held.releaseLaterAfter(failure).thenRun(() -> result.completeExceptionally(failure));
    }

    /** It may be decided by a cancellation or an interrupt; what is granted all the same is given back. */
    private void stopAskingIfDecided() {
        Question question = asking;
        if (question != null && result.isDone()) {
            question.answer().cancel(false);
        }
    }
}
