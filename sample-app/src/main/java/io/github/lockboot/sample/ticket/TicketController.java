package io.github.lockboot.sample.ticket;

import java.time.Duration;
import java.util.UUID;

import io.github.lockboot.sample.Ids;
import io.github.lockboot.sample.NeedsLocks;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.Pattern;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

@RestController
@RequestMapping("/tickets")
@NeedsLocks
class TicketController {

    private final TicketService tickets;

    TicketController(TicketService tickets) {
        this.tickets = tickets;
    }

    /** @param sale to sell together with another instance, the same for both; by default a sale of its own */
    @PostMapping("/sale")
    TicketStock.Sale sell(
            @RequestParam @Min(1) @Max(20) int windows,
            @RequestParam @Min(1) @Max(10_000) int count,
            @RequestParam(defaultValue = "lock") String mode,
            @RequestParam(required = false) @Pattern(regexp = Ids.FORM) String sale)
            throws InterruptedException {
        String saleId = sale == null ? UUID.randomUUID().toString() : sale;
        return tickets.sell(saleId, windows, count, mode, Duration.ZERO, () -> false);
    }
}
