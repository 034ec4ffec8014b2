package io.github.lockboot.sample.payment;

import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

import io.github.lockboot.sample.Money;
import io.github.lockboot.sample.NeedsLocks;
import io.github.lockboot.sample.live.EventLog;
import io.github.lockboot.sample.live.Load;
import io.github.lockboot.sample.live.Scenario;
import io.github.lockboot.sample.payment.PaymentService.Mishap;
import org.jspecify.annotations.Nullable;
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
    private final Map<String, Queue<Trouble>> troubles = new ConcurrentHashMap<>();

    PaymentScenario(PaymentService payments, EventLog events) {
        super(PaymentService.NAME, WORKERS_PER_MODE * PaymentService.MODES.size(), LibraryLock.name(ACCOUNT));
        this.payments = payments;
        this.events = events;
    }

    @Override
    public void prepare(Load load) {
        payments.open(ACCOUNT, OPENING);
        for (String mode : PaymentService.MODES) {
            troubles.put(mode, new ArrayDeque<>(List.of(Trouble.values())));
            payments.begin(ACCOUNT, mode);
        }
    }

    @Override
    public boolean step(Load load, int worker) throws InterruptedException {
        String mode = mode(worker);
        Trouble trouble = load.ledHere() ? nextDue(mode, load) : null;
        if (trouble == Trouble.CRASH) {
            crash(mode);
        } else {
            Mishap mishap = trouble == null ? Mishap.NONE : trouble.mishap;
            Money money = new Money(100L * (1 + worker / PaymentService.MODES.size()));
            payments.pay(ACCOUNT, mode, UUID.randomUUID().toString(), money, mishap);
        }
        return true;
    }

    @Override
    public void finish(Load load, int worker) {
        payments.end(ACCOUNT, mode(worker));
    }

    private static String mode(int worker) {
        return PaymentService.MODES.get(worker % PaymentService.MODES.size());
    }

    private void crash(String mode) throws InterruptedException {
        payments.crash(ACCOUNT, mode);
        events.add("crashed", Map.of("mode", mode));
    }

    private synchronized @Nullable Trouble nextDue(String mode, Load load) {
        Queue<Trouble> ahead = requireNonNull(troubles.get(mode));
        Trouble next = ahead.peek();
        return next != null && load.progress() >= next.at ? ahead.poll() : null;
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

    /** What happens once in each mode, and when: the first payment is like most. */
    private enum Trouble {
        NONE(0, Mishap.NONE),
        CRASH(0.05, Mishap.NONE),
        SLOW(0.3, Mishap.SLOW);

        private final double at;
        private final Mishap mishap;

        Trouble(double at, Mishap mishap) {
            this.at = at;
            this.mishap = mishap;
        }
    }
}
