package io.github.lockboot.sample.payment;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

import io.github.lockboot.sample.BadParameterException;
import io.github.lockboot.sample.Money;
import io.github.lockboot.sample.NeedsLocks;
import io.github.lockboot.sample.live.Waits;
import org.springframework.stereotype.Service;

/** Pays by reading the balance, checking it and writing what is left, which is correct only if no other caller does so meanwhile. */
@Service
@NeedsLocks
class PaymentService {

    static final String NAME = "payments";

    /** The expiry of the hand-made locks and the lease of the library's. */
    static final Duration LEASE = Duration.ofSeconds(2);

    /** How long a payment waits for the account. */
    static final Duration PATIENCE = Duration.ofSeconds(5);

    private static final Duration WORK = Duration.ofMillis(2);
    private static final Duration MISHAP = Duration.ofSeconds(3);

    /** In the order in which they are shown. */
    static final List<String> MODES = List.of("setnx", "expiring", "owned", "lock");

    private final Map<String, AccountLock> locks;
    private final Ledger ledger;
    private final Witness witness;
    private final Waits waits;

    PaymentService(List<AccountLock> locks, Ledger ledger, Witness witness, Waits waits) {
        this.locks = locks.stream().collect(Collectors.toMap(AccountLock::mode, Function.identity()));
        this.ledger = ledger;
        this.witness = witness;
        this.waits = waits;
    }

    /** Opens the account, again if it exists, with this balance, without payments, and without a lock that a crash left behind. */
    void open(String accountId, Money balance) {
        for (String mode : MODES) {
            ledger.open(accountId, mode, balance);
            witness.forget(accountId, mode);
            lock(mode).clear(accountId);
        }
    }

    /** Pays an order, unless it has been paid already. */
    Payment pay(String accountId, String mode, String orderId, Money money, Mishap mishap) throws InterruptedException {
        AccountLock lock = lock(mode);
        ledger.read(accountId, mode); // throws for an unknown account before it becomes part of a lock's name
        AccountLock.Release release =
                waits.during(mode.equals("lock") ? NAME : "hand-made", () -> lock.acquire(accountId));
        Duration work = mishap == Mishap.SLOW ? MISHAP : WORK;
        try {
            return witness.watch(accountId, mode, () -> payUnderLock(accountId, mode, orderId, money, work));
        } finally {
            release.release(() -> Thread.sleep(mishap == Mishap.LATE ? MISHAP.toMillis() : 0));
        }
    }

    /** Simulates a process that dies while it holds the lock of the account. */
    void crash(String accountId, String mode) throws InterruptedException {
        AccountLock lock = lock(mode);
        ledger.read(accountId, mode);
        lock.crash(accountId);
    }

    boolean exists(String accountId) {
        return ledger.exists(accountId, MODES.get(0));
    }

    Map<String, Report> report(String accountId) {
        return perMode(mode -> witness.report(
                accountId, mode, () -> ledger.read(accountId, mode).payments()));
    }

    Map<String, Account> get(String accountId) {
        return perMode(mode -> {
            Money paid = witness.paid(accountId, mode);
            Ledger.Entry entry = ledger.read(accountId, mode);
            return new Account(entry.balance(), new Money(entry.opening().cents() - paid.cents()));
        });
    }

    private Payment payUnderLock(String accountId, String mode, String orderId, Money money, Duration work)
            throws InterruptedException {
        Money paid = ledger.paid(accountId, mode, orderId);
        if (paid != null) {
            return new Payment(orderId, paid);
        }
        Ledger.Entry before = ledger.read(accountId, mode);
        if (before.balance().cents() < money.cents()) {
            throw new InsufficientBalanceException(before.balance(), money);
        }
        Thread.sleep(work.toMillis());
        Money after = new Money(before.balance().cents() - money.cents());
        ledger.write(accountId, mode, orderId, after, before.payments() + 1);
        witness.count(accountId, mode, money);
        return new Payment(orderId, after);
    }

    private AccountLock lock(String mode) {
        AccountLock lock = locks.get(mode);
        if (lock == null) {
            throw new BadParameterException("mode", "must be one of " + String.join(", ", MODES));
        }
        return lock;
    }

    private static <T> Map<String, T> perMode(Function<String, T> value) {
        Map<String, T> values = new LinkedHashMap<>();
        MODES.forEach(mode -> values.put(mode, value.apply(mode)));
        return values;
    }
}
