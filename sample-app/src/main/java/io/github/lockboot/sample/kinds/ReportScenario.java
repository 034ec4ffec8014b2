package io.github.lockboot.sample.kinds;

import java.time.Duration;
import java.util.Map;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.DistributedLock.Mode;
import io.github.lockboot.sample.NeedsLocks;
import io.github.lockboot.sample.live.Figures;
import io.github.lockboot.sample.live.Load;
import io.github.lockboot.sample.live.Scenario;
import io.github.lockboot.sample.live.Waits;
import org.springframework.stereotype.Component;
import org.springframework.stereotype.Service;

/** Reports in every instance, and in one of them an import now and then. */
@Component
@NeedsLocks
class ReportScenario extends Scenario {

    private static final Duration BETWEEN_REPORTS = Duration.ofMillis(50);
    private static final Duration BETWEEN_IMPORTS = Duration.ofMillis(900);

    private final Prices prices;
    private final Figures figures;
    private final Waits waits;

    ReportScenario(Prices prices, Figures figures, Waits waits) {
        super("reports", 4, Prices.LOCK);
        this.prices = prices;
        this.figures = figures;
        this.waits = waits;
    }

    @Override
    public void prepare(Load load) {
        figures.reset(Prices.FIGURES);
    }

    @Override
    public boolean step(Load load, int worker) throws InterruptedException {
        boolean imports = worker == 0 && load.ledHere();
        waits.during(name(), () -> {
            if (imports) {
                prices.importPrices();
            } else {
                prices.report();
            }
            return worker;
        });
        load.sleep(imports ? BETWEEN_IMPORTS : BETWEEN_REPORTS);
        return true;
    }

    @Override
    public Object state() {
        return Map.of(
                "reports", figures.counted(Prices.FIGURES, "reports"),
                "atOnce", figures.mostAtOnce(Prices.FIGURES),
                "imports", figures.counted(Prices.FIGURES, "dollars"),
                "torn", figures.counted(Prices.FIGURES, "torn"));
    }

    /**
     * Two prices that belong together. They are written and read one after the other, so a report without the lock
     * could see half an import.
     */
    @Service
    @NeedsLocks
    static class Prices {

        static final String FIGURES = "sample:reports";
        static final String LOCK = "prices";

        private static final long STEP_MILLIS = 100;

        private final Figures figures;

        Prices(Figures figures) {
            this.figures = figures;
        }

        @DistributedLock(name = "prices", mode = Mode.SHARED)
        void report() throws InterruptedException {
            figures.during(FIGURES, () -> {
                long euros = figures.counted(FIGURES, "euros");
                Thread.sleep(STEP_MILLIS);
                boolean whole = figures.counted(FIGURES, "dollars") == euros;
                figures.count(FIGURES, whole ? "reports" : "torn");
                return whole;
            });
        }

        @DistributedLock(name = "prices")
        void importPrices() throws InterruptedException {
            figures.count(FIGURES, "euros");
            Thread.sleep(STEP_MILLIS);
            figures.count(FIGURES, "dollars");
        }
    }
}
