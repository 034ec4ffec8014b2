package io.github.lockboot.sample.ticket;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;

import io.github.lockboot.Lease;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.sample.NeedsLocks;
import io.github.lockboot.sample.live.Waits;
import org.springframework.stereotype.Component;

import static java.util.Objects.requireNonNull;

/**
 * Windows that take turns exactly. The lock serves first come, first served; so all windows queue before the first ticket is
 * sold, and each queues for its next turn before it ends this one. A thread that unlocks and then locks may be too late for that,
 * but a {@link Lease} can be requested while another is still held.
 */
@Component
@NeedsLocks
class FairWindows implements Windows {

    private static final LockOptions OPTIONS = LockOptions.defaults().withWaitTime(Duration.ofMinutes(5));

    private final LockRegistry locks;
    private final Waits waits;

    FairWindows(LockRegistry locks, Waits waits) {
        this.locks = locks;
        this.waits = waits;
    }

    @Override
    public String mode() {
        return "fair";
    }

    @Override
    public void sell(String lockName, List<Integer> windows, Counter counter) throws InterruptedException {
        Map<Integer, CompletableFuture<Lease>> turns = new ConcurrentHashMap<>();
        try {
            Lease shutters = locks.acquire(lockName, OPTIONS);
            try {
                windows.forEach(window -> turns.put(window, locks.acquireAsync(lockName, OPTIONS)));
            } finally {
                shutters.close();
            }
            WindowThreads.runAll(windows, window -> {
                boolean open = true;
                while (open) {
                    Lease turn = waits.during(TicketService.NAME, () -> await(requireNonNull(turns.get(window))));
                    try {
                        open = counter.sellOne(window);
                        if (open) {
                            turns.put(window, locks.acquireAsync(lockName, OPTIONS));
                        }
                    } finally {
                        turn.close();
                    }
                }
            });
        } finally {
            turns.values().forEach(FairWindows::giveUp);
        }
    }

    /** A turn that has come already is released. */
    private static void giveUp(CompletableFuture<Lease> turn) {
        if (!turn.cancel(false) && !turn.isCompletedExceptionally()) {
            turn.join().close();
        }
    }

    private static Lease await(CompletableFuture<Lease> turn) throws InterruptedException {
        try {
            return turn.get();
        } catch (ExecutionException failure) {
            throw failure.getCause() instanceof RuntimeException cause
                    ? cause
                    : new IllegalStateException(failure.getCause());
        }
    }
}
