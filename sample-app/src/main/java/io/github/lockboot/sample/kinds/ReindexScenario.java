package io.github.lockboot.sample.kinds;

import java.time.Duration;
import java.util.Map;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.DistributedLock.IfNotAcquired;
import io.github.lockboot.sample.NeedsLocks;
import io.github.lockboot.sample.live.Figures;
import io.github.lockboot.sample.live.Load;
import io.github.lockboot.sample.live.Scenario;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;
import org.springframework.stereotype.Service;

/** Each change wants the index to be built again. */
@Component
@NeedsLocks
class ReindexScenario extends Scenario {

    private static final Duration BETWEEN_CHANGES = Duration.ofMillis(50);

    private final Index index;
    private final Figures figures;

    ReindexScenario(Index index, Figures figures) {
        super(Index.NAME, 6, Index.NAME);
        this.index = index;
        this.figures = figures;
    }

    @Override
    public void prepare(Load load) {
        figures.reset(Index.FIGURES);
    }

    @Override
    public boolean step(Load load, int worker) throws InterruptedException {
        figures.count(Index.FIGURES, "changes");
        if (index.build() == null) {
            figures.count(Index.FIGURES, "returned");
        }
        load.sleep(BETWEEN_CHANGES);
        return true;
    }

    @Override
    public Object state() {
        long indexed = figures.counted(Index.FIGURES, "indexed"); // first: changes come meanwhile
        return Map.of(
                "changes", figures.counted(Index.FIGURES, "changes"),
                "runs", figures.counted(Index.FIGURES, "runs"),
                "returned", figures.counted(Index.FIGURES, "returned"),
                "behind", figures.counted(Index.FIGURES, "changes") - indexed);
    }

    /** An index of which one run may be under way, and one may wait in each instance. */
    @Service
    @NeedsLocks
    static class Index {

        static final String NAME = "reindex";
        static final String FIGURES = "sample:reindex";

        private static final long BUILD_MILLIS = 300;

        private final Figures figures;

        Index(Figures figures) {
            this.figures = figures;
        }

        /** Returns null if another call waits, which will see all that this caller has changed. */
        @DistributedLock(name = "reindex", maxWaiting = "1", waitTime = "1m", ifNotAcquired = IfNotAcquired.SKIP)
        @Nullable
        Boolean build() throws InterruptedException {
            long seen = figures.counted(FIGURES, "changes");
            Thread.sleep(BUILD_MILLIS);
            figures.add(FIGURES, "indexed", seen - figures.counted(FIGURES, "indexed"));
            figures.count(FIGURES, "runs");
            return true;
        }
    }
}
