package io.github.lockboot.sample.payment;

import java.time.Duration;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

import io.github.lockboot.sample.Money;
import io.github.lockboot.sample.NeedsLocks;
import io.github.lockboot.sample.live.EventLog;
import io.github.lockboot.sample.live.Load;
import io.github.lockboot.sample.live.Scenario;
import org.springframework.stereotype.Component;

import static java.util.Objects.requireNonNull;

/**
 * The same payments in all four modes at the same time, with the same two mishaps in each: a process dies while it
 * holds the lock, and later a payment takes longer than the lease.
 */
@Component
@NeedsLocks
class PaymentScenario extends Scenario {

    static final String ACCOUNT = "demo";

    private static final Money OPENING = new Money(10_000_000);
    private static final int WORKERS_PER_MODE = 4;

    private final PaymentService payments;
    private final EventLog events;
    private final Map<String, Set<Trouble>> ahead = new ConcurrentHashMap<>();

    PaymentScenario(PaymentService payments, EventLog events) {
        super(PaymentService.NAME, WORKERS_PER_MODE * PaymentService.MODES.size(), LibraryLock.name(ACCOUNT));
        this.payments = payments;
        this.events = events;
    }

    @Override
    public void prepare(Load load) {
        payments.open(ACCOUNT, OPENING);
        for (String mode : PaymentService.MODES) {
            ahead.put(mode, Collections.synchronizedSet(EnumSet.allOf(Trouble.class)));
            payments.begin(ACCOUNT, mode);
        }
    }

    @Override
    public boolean step(Load load, int worker) throws InterruptedException {
        String mode = mode(worker);
        String orderId = UUID.randomUUID().toString();
        Money money = new Money(100L * (1 + worker / PaymentService.MODES.size()));
        payments.pay(ACCOUNT, mode, orderId, money, Duration.ZERO, () -> isDue(Trouble.SLOW, mode, load));
        if (isDue(Trouble.CRASH, mode, load)) {
            payments.crash(ACCOUNT, mode);
            events.add("crashed", Map.of("mode", mode));
        }
        return true;
    }

    /** True once in each mode. */
    private boolean isDue(Trouble trouble, String mode, Load load) {
        return load.ledHere()
                && load.progress() >= trouble.at
                && requireNonNull(ahead.get(mode)).remove(trouble);
    }

    @Override
    public void finish(Load load, int worker) {
        payments.end(ACCOUNT, mode(worker));
    }

    private static String mode(int worker) {
        return PaymentService.MODES.get(worker % PaymentService.MODES.size());
    }

    @Override
    public Object state() {
        if (!payments.exists(ACCOUNT)) {
            return Map.of();
        }
        return Map.of(
                "report", payments.report(ACCOUNT),
                "accounts", payments.get(ACCOUNT),
                "standstills", payments.standstills(ACCOUNT));
    }

    /** What happens once in each mode, and when: the process dies with the lock, or its payment outlasts the lease. */
    private enum Trouble {
        CRASH(0.05),
        SLOW(0.3);

        private final double at;

        Trouble(double at) {
            this.at = at;
        }
    }
}
