package io.github.lockboot.sample.ticket;

import java.util.List;
import java.util.concurrent.locks.Lock;

import io.github.lockboot.LockRegistry;
import io.github.lockboot.sample.NeedsLocks;
import io.github.lockboot.sample.live.Waits;
import org.springframework.stereotype.Component;

/** Windows that use a lock as any {@link Lock}: lock, sell, unlock. */
@Component
@NeedsLocks
class LockWindows implements Windows {

    private final LockRegistry locks;
    private final Waits waits;

    LockWindows(LockRegistry locks, Waits waits) {
        this.locks = locks;
        this.waits = waits;
    }

    @Override
    public String mode() {
        return "lock";
    }

    @Override
    public void sell(String lockName, List<Integer> windows, Counter counter) throws InterruptedException {
        Lock lock = locks.get(lockName);
        WindowThreads.runAll(windows, window -> {
            boolean open = true;
            while (open) {
                waits.during(TicketService.NAME, () -> {
                    lock.lockInterruptibly();
                    return lock;
                });
                try {
                    open = counter.sellOne(window);
                } finally {
                    lock.unlock();
                }
            }
        });
    }
}
