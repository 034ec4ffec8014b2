package io.github.lockboot.sample.kinds;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.DistributedLock.Mode;
import io.github.lockboot.sample.NeedsLocks;
import org.springframework.stereotype.Service;

/** Two prices that belong together. They are written and read one after the other, so a report without the lock could see half an import. */
@Service
@NeedsLocks
class Prices {

    static final String SCENARIO = "reports";
    static final String LOCK = "prices";

    private static final long STEP_MILLIS = 100;

    private final Figures figures;

    Prices(Figures figures) {
        this.figures = figures;
    }

    @DistributedLock(name = LOCK, mode = Mode.SHARED)
    void report() throws InterruptedException {
        figures.during(SCENARIO, () -> {
            long euros = figures.counted(SCENARIO, "euros");
            Thread.sleep(STEP_MILLIS);
            boolean whole = figures.counted(SCENARIO, "dollars") == euros;
            figures.count(SCENARIO, whole ? "reports" : "torn");
        });
    }

    @DistributedLock(name = LOCK)
    void importPrices() throws InterruptedException {
        figures.count(SCENARIO, "euros");
        Thread.sleep(STEP_MILLIS);
        figures.count(SCENARIO, "dollars");
    }
}
