package io.github.lockboot.sample.transfer;

import java.util.List;
import java.util.Map;

import io.github.lockboot.LockListener;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LockUse;
import io.github.lockboot.sample.Money;
import io.github.lockboot.sample.NeedsLocks;
import io.github.lockboot.sample.live.EventLog;
import io.github.lockboot.sample.live.Figures;
import io.github.lockboot.sample.live.Load;
import io.github.lockboot.sample.live.Scenario;
import io.github.lockboot.sample.live.Waits;
import org.springframework.stereotype.Component;

/** Two transfers at the same time, from A to B and from B to A, in the instance that received the request. */
@Component
@NeedsLocks
class TransferScenario extends Scenario implements LockListener {

    private static final String NAME = "transfers";
    private static final String FIGURES = "sample:transfers";
    private static final List<String> ACCOUNTS = List.of("A", "B");
    private static final Money OPENING = new Money(10_000);

    private final TransferService transfers;
    private final Figures figures;
    private final EventLog events;
    private final Waits waits;

    TransferScenario(TransferService transfers, Figures figures, EventLog events, Waits waits) {
        super(
                NAME,
                ACCOUNTS.size(),
                ACCOUNTS.stream().map(TransferService::lock).toArray(String[]::new));
        this.transfers = transfers;
        this.figures = figures;
        this.events = events;
        this.waits = waits;
    }

    @Override
    public List<String> modes() {
        return TransferService.MODES;
    }

    @Override
    public void prepare(Load load) {
        figures.reset(FIGURES);
        ACCOUNTS.forEach(account -> transfers.open(account, OPENING));
    }

    @Override
    public boolean step(Load load, int worker) throws InterruptedException {
        if (load.ledHere()) {
            transfer(load.mode(), ACCOUNTS.get(worker), ACCOUNTS.get(1 - worker), new Money(1_000L * (worker + 1)));
        }
        return false;
    }

    private void transfer(String mode, String from, String to, Money money) throws InterruptedException {
        try {
            waits.during(NAME, () -> {
                transfers.transfer(mode, from, to, money);
                return money;
            });
            figures.count(FIGURES, "made");
            events.add("transferred", Map.of("money", money.toString(), "from", from, "to", to));
        } catch (LockNotAcquiredException busy) {
            figures.count(FIGURES, "given up");
            events.add("given-up", Map.of("from", from, "to", to, "message", String.valueOf(busy.getMessage())));
        }
    }

    /** The library reports it once in each process, and warns in the log. */
    @Override
    public void takenInBothOrders(LockUse use) {
        events.add("both-orders", Map.of("lock", use.name()));
    }

    @Override
    public Object state() {
        return Map.of(
                "balances", transfers.balances(ACCOUNTS),
                "made", figures.counted(FIGURES, "made"),
                "givenUp", figures.counted(FIGURES, "given up"));
    }
}
