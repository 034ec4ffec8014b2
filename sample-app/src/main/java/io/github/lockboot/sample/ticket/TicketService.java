package io.github.lockboot.sample.ticket;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.Lock;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;

import io.github.lockboot.Lease;
import io.github.lockboot.LockOptions;
import io.github.lockboot.redis.RedisLockRegistry;
import io.github.lockboot.sample.NeedsLocks;
import io.github.lockboot.sample.live.Waits;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Service;
import org.springframework.web.server.ResponseStatusException;

import static java.util.Objects.requireNonNull;

/** Windows that sell one ticket at a time, each on a thread of its own. */
@Service
@NeedsLocks
class TicketService {

    static final String NAME = "tickets";
    static final List<String> MODES = List.of("lock", "fair");

    private static final LockOptions PATIENT = LockOptions.defaults().withWaitTime(Duration.ofMinutes(5));

    private final RedisLockRegistry locks;
    private final TicketStock stock;
    private final Waits waits;

    TicketService(RedisLockRegistry locks, TicketStock stock, Waits waits) {
        this.locks = locks;
        this.stock = stock;
        this.waits = waits;
    }

    /**
     * Opens windows of this instance and sells until the tickets are gone. A sale that another instance opened is
     * joined.
     *
     * @param count how many tickets there are, if the sale is new
     * @param printing how long a window takes for a ticket, while all others wait
     * @param closing when to close the windows with tickets left
     */
    TicketStock.Sale sell(
            String saleId, int windows, int count, String mode, Duration printing, BooleanSupplier closing)
            throws InterruptedException {
        if (!MODES.contains(mode)) {
            throw new ResponseStatusException(HttpStatus.BAD_REQUEST, "'mode' must be one of " + MODES);
        }
        stock.open(saleId, count);
        int first = stock.openWindows(saleId, windows);
        List<Integer> numbers = IntStream.range(first, first + windows).boxed().toList();
        Counter counter = window -> {
            Thread.sleep(printing.toMillis());
            return !closing.getAsBoolean() && stock.sellOne(saleId, window);
        };
        if (mode.equals("fair")) {
            sellInTurns(lockName(saleId), numbers, counter);
        } else {
            Lock lock = locks.get(lockName(saleId));
            sellUnder(lock, numbers, counter);
        }
        return stock.sale(saleId);
    }

    static String lockName(String saleId) {
        return "tickets:" + saleId;
    }

    private void sellUnder(Lock lock, List<Integer> windows, Counter counter) throws InterruptedException {
        runAll(windows, window -> {
            waits.during(NAME, () -> {
                lock.lockInterruptibly();
                return lock;
            });
            try {
                return counter.sellOne(window);
            } finally {
                lock.unlock();
            }
        });
    }

    /**
     * Windows that take turns exactly. The lock serves first come, first served; so all windows queue before the first
     * ticket is sold, and each queues for its next turn before it ends this one. A thread that unlocks and then locks
     * may be too late for that, but a {@link Lease} can be requested while another is still held.
     */
    private void sellInTurns(String lock, List<Integer> windows, Counter counter) throws InterruptedException {
        Map<Integer, CompletableFuture<Lease>> turns = new ConcurrentHashMap<>();
        try {
            Lease shutters = locks.acquire(lock, PATIENT);
            try {
                windows.forEach(window -> turns.put(window, locks.acquireAsync(lock, PATIENT)));
            } finally {
                shutters.close();
            }
            runAll(windows, window -> {
                Lease turn = waits.during(NAME, () -> get(requireNonNull(turns.get(window))));
                try {
                    boolean open = counter.sellOne(window);
                    if (open) {
                        turns.put(window, locks.acquireAsync(lock, PATIENT));
                    }
                    return open;
                } finally {
                    turn.close();
                }
            });
        } finally {
            turns.values().forEach(TicketService::giveUp);
        }
    }

    /** A turn that has come already is released. */
    private static void giveUp(CompletableFuture<Lease> turn) {
        if (!turn.cancel(false) && !turn.isCompletedExceptionally()) {
            turn.join().close();
        }
    }

    /** Each window sells until it closes. Ends when all have closed, or one has failed. */
    private static void runAll(List<Integer> windows, Counter counter) throws InterruptedException {
        ExecutorService threads = Executors.newFixedThreadPool(windows.size());
        try {
            List<Future<Integer>> running = windows.stream()
                    .map(window -> threads.submit((Callable<Integer>) () -> {
                        while (counter.sellOne(window)) {}
                        return window;
                    }))
                    .toList();
            for (Future<Integer> window : running) {
                get(window);
            }
        } finally {
            threads.shutdownNow();
        }
    }

    private static <T> T get(Future<T> result) throws InterruptedException {
        try {
            return result.get();
        } catch (ExecutionException failure) {
            throw failure.getCause() instanceof RuntimeException cause ? cause : new IllegalStateException(failure);
        }
    }

    /** Sells one ticket, which must happen at one window at a time. */
    private interface Counter {

        /** @return whether there was one and the window stays open */
        boolean sellOne(int window) throws InterruptedException;
    }
}
