package io.github.lockboot.sample.ticket;

import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;

import io.github.lockboot.sample.BadParameterException;
import io.github.lockboot.sample.NeedsLocks;
import org.springframework.stereotype.Service;

@Service
@NeedsLocks
class TicketService {

    static final String NAME = "tickets";

    private final List<Windows> ways;
    private final TicketStock stock;

    TicketService(List<Windows> ways, TicketStock stock) {
        this.ways = ways;
        this.stock = stock;
    }

    /**
     * Opens windows of this instance and sells until the tickets are gone. A sale that another instance opened is joined.
     *
     * @param count how many tickets there are, if the sale is new
     * @param printing how long a window takes for a ticket, while all others wait
     * @param closing when to close the windows with tickets left
     */
    Sale sell(String saleId, int windows, int count, String mode, Duration printing, BooleanSupplier closing)
            throws InterruptedException {
        Windows way = way(mode);
        stock.open(saleId, count);
        int first = stock.openWindows(saleId, windows);
        List<Integer> numbers = IntStream.range(first, first + windows).boxed().toList();
        way.sell(lockName(saleId), numbers, window -> {
            Thread.sleep(printing.toMillis());
            return !closing.getAsBoolean() && stock.sellOne(saleId, window);
        });
        return stock.sale(saleId);
    }

    static String lockName(String saleId) {
        return "tickets:" + saleId;
    }

    private Windows way(String mode) {
        return ways.stream()
                .filter(way -> way.mode().equals(mode))
                .findAny()
                .orElseThrow(() -> new BadParameterException("mode", "must be one of lock, fair"));
    }
}
