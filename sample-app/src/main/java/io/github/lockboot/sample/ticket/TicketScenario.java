package io.github.lockboot.sample.ticket;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import io.github.lockboot.sample.NeedsLocks;
import io.github.lockboot.sample.live.Load;
import io.github.lockboot.sample.live.Scenario;
import org.springframework.stereotype.Component;

/** One sale in which every instance has five windows. Its one worker opens them. */
@Component
@NeedsLocks
class TicketScenario extends Scenario {

    private static final String SALE = "demo";
    private static final int WINDOWS = 5;
    private static final Duration PRINTING = Duration.ofMillis(20);

    private final TicketService tickets;
    private final TicketStock stock;

    TicketScenario(TicketService tickets, TicketStock stock) {
        super(TicketService.NAME, 1, TicketService.lockName(SALE));
        this.tickets = tickets;
        this.stock = stock;
    }

    @Override
    public List<String> modes() {
        return TicketService.MODES;
    }

    @Override
    public void prepare(Load load) {
        stock.remove(SALE);
        stock.open(SALE, countFor(load));
    }

    @Override
    public boolean step(Load load, int worker) throws InterruptedException {
        tickets.sell(SALE, WINDOWS, countFor(load), load.mode(), PRINTING, load::isOver);
        return false;
    }

    /** So many that they are gone before the load is over, also on a slow machine. */
    private static int countFor(Load load) {
        return (int) (load.duration().toMillis() / PRINTING.toMillis() * 2 / 5);
    }

    @Override
    public Object state() {
        TicketStock.Sale sale = stock.sale(SALE);
        return Map.of("total", sale.total(), "left", stock.left(SALE), "sold", sale.sold());
    }
}
