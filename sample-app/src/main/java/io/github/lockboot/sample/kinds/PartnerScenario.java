package io.github.lockboot.sample.kinds;

import java.time.Duration;
import java.util.Map;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.sample.NeedsLocks;
import io.github.lockboot.sample.live.Figures;
import io.github.lockboot.sample.live.Load;
import io.github.lockboot.sample.live.Scenario;
import io.github.lockboot.sample.live.Waits;
import org.springframework.stereotype.Component;
import org.springframework.stereotype.Service;

/** More workers than permits, in every instance. */
@Component
@NeedsLocks
class PartnerScenario extends Scenario {

    private static final Duration BETWEEN_CALLS = Duration.ofMillis(50);

    private final Partner partner;
    private final Figures figures;
    private final Waits waits;

    PartnerScenario(Partner partner, Figures figures, Waits waits) {
        super(Partner.NAME, 7, Partner.NAME);
        this.partner = partner;
        this.figures = figures;
        this.waits = waits;
    }

    @Override
    public void prepare(Load load) {
        figures.reset(Partner.FIGURES);
    }

    @Override
    public boolean step(Load load, int worker) throws InterruptedException {
        waits.during(name(), () -> {
            partner.ask();
            return worker;
        });
        load.sleep(BETWEEN_CALLS);
        return true;
    }

    @Override
    public Object state() {
        return Map.of(
                "calls", figures.counted(Partner.FIGURES, "calls"), "atOnce", figures.mostAtOnce(Partner.FIGURES));
    }

    /** A partner that allows five calls at a time, from all instances together. */
    @Service
    @NeedsLocks
    static class Partner {

        static final String NAME = "partner";
        static final String FIGURES = "sample:partner";

        private static final long ANSWER_MILLIS = 200;

        private final Figures figures;

        Partner(Figures figures) {
            this.figures = figures;
        }

        @DistributedLock(name = "partner", permits = "5")
        void ask() throws InterruptedException {
            figures.during(FIGURES, () -> {
                Thread.sleep(ANSWER_MILLIS);
                return NAME;
            });
            figures.count(FIGURES, "calls");
        }
    }
}
