package io.github.lockboot.sample.kinds;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import io.github.lockboot.sample.NeedsLocks;
import io.github.lockboot.sample.live.Load;
import io.github.lockboot.sample.live.Scenario;
import io.github.lockboot.sample.live.Waits;
import org.springframework.stereotype.Component;

/** Reports in every instance, and in one of them an import now and then. */
@Component
@NeedsLocks
class ReportScenario implements Scenario {

    private static final Duration BETWEEN_REPORTS = Duration.ofMillis(50);
    private static final Duration BETWEEN_IMPORTS = Duration.ofMillis(900);

    private final Prices prices;
    private final Figures figures;
    private final Waits waits;

    ReportScenario(Prices prices, Figures figures, Waits waits) {
        this.prices = prices;
        this.figures = figures;
        this.waits = waits;
    }

    @Override
    public String name() {
        return Prices.SCENARIO;
    }

    @Override
    public int workers() {
        return 4;
    }

    @Override
    public void prepare(Load load) {
        figures.reset(name());
    }

    @Override
    public boolean step(Load load, int worker) throws InterruptedException {
        boolean imports = worker == 0 && load.isLedHere();
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
                "reports", figures.counted(name(), "reports"),
                "atOnce", figures.mostAtOnce(name()),
                "imports", figures.counted(name(), "dollars"),
                "torn", figures.counted(name(), "torn"));
    }

    @Override
    public List<String> locks() {
        return List.of(Prices.LOCK);
    }
}
