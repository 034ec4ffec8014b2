package io.github.lockboot.sample.kinds;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.sample.NeedsLocks;
import org.springframework.stereotype.Service;

/** A partner that allows five calls at a time, from all instances together. */
@Service
@NeedsLocks
class Partner {

    static final String NAME = "partner";

    private static final long ANSWER_MILLIS = 200;

    private final Figures figures;

    Partner(Figures figures) {
        this.figures = figures;
    }

    @DistributedLock(name = NAME, permits = "5")
    void ask() throws InterruptedException {
        figures.during(NAME, () -> Thread.sleep(ANSWER_MILLIS));
        figures.count(NAME, "calls");
    }
}
