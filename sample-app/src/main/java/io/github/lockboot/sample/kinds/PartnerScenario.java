package io.github.lockboot.sample.kinds;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import io.github.lockboot.sample.NeedsLocks;
import io.github.lockboot.sample.live.Load;
import io.github.lockboot.sample.live.Scenario;
import io.github.lockboot.sample.live.Waits;
import org.springframework.stereotype.Component;

/** More workers than permits, in every instance. */
@Component
@NeedsLocks
class PartnerScenario implements Scenario {

    private static final Duration BETWEEN_CALLS = Duration.ofMillis(50);

    private final Partner partner;
    private final Figures figures;
    private final Waits waits;

    PartnerScenario(Partner partner, Figures figures, Waits waits) {
        this.partner = partner;
        this.figures = figures;
        this.waits = waits;
    }

    @Override
    public String name() {
        return Partner.NAME;
    }

    @Override
    public int workers() {
        return 7;
    }

    @Override
    public void prepare(Load load) {
        figures.reset(name());
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
        return Map.of("calls", figures.counted(name(), "calls"), "atOnce", figures.mostAtOnce(name()));
    }

    @Override
    public List<String> locks() {
        return List.of(Partner.NAME);
    }
}
