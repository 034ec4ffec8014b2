package io.github.lockboot.sample.payment;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

import io.github.lockboot.sample.Money;
import io.github.lockboot.sample.NeedsLocks;
import io.github.lockboot.sample.live.Figures;
import io.github.lockboot.sample.live.Waits;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Service;
import org.springframework.web.server.ResponseStatusException;

import static java.util.Objects.requireNonNull;

/**
 * Pays by reading the balance, checking it and writing what is left, which is correct only if no other caller does so
 * meanwhile.
 */
@Service
@NeedsLocks
class PaymentService {

    static final String NAME = "payments";

    /** The expiry of the hand-made locks, and the lease of the library's. */
    static final Duration LEASE = Duration.ofSeconds(2);

    /** How long a payment waits for the account. */
    static final Duration PATIENCE = Duration.ofSeconds(5);

    private static final Duration WORK = Duration.ofMillis(2);
    private static final Duration MISHAP = Duration.ofSeconds(3);

    /** In the order in which they are shown. */
    static final List<String> MODES = List.of("setnx", "expiring", "owned", "lock");

    private final Map<String, AccountLock> locks;
    private final Ledger ledger;
    private final Figures witness;
    private final Waits waits;

    PaymentService(LibraryLock library, StringRedisTemplate redis, Ledger ledger, Figures witness, Waits waits) {
        this.locks = perMode(mode -> mode.equals("lock") ? library : new HandMadeLock(mode, redis));
        this.ledger = ledger;
        this.witness = witness;
        this.waits = waits;
    }

    /**
     * Opens the account, again if it exists, with this balance, without payments, and without a lock that a crash left
     * behind.
     */
    void open(String accountId, Money balance) {
        for (String mode : MODES) {
            ledger.open(account(accountId, mode), balance);
            witness.reset(witness(accountId, mode));
            witness.ended(witness(accountId, mode));
            lock(mode).clear(accountId);
        }
    }

    /** Pays an order, unless it has been paid already. */
    Payment pay(String accountId, String mode, String orderId, Money money, Mishap mishap) throws InterruptedException {
        Duration late = mishap == Mishap.LATE ? MISHAP : Duration.ZERO;
        return pay(accountId, mode, orderId, money, late, () -> mishap == Mishap.SLOW);
    }

    /**
     * @param late how long the release takes
     * @param slow whether the payment takes longer than the lease; asked with the lock
     */
    Payment pay(String accountId, String mode, String orderId, Money money, Duration late, BooleanSupplier slow)
            throws InterruptedException {
        AccountLock lock = lock(mode);
        ledger.read(account(accountId, mode)); // throws for an unknown account before it becomes part of a lock's name
        Waits.Wait wait = waits.begin(mode.equals("lock") ? NAME : "hand-made");
        try {
            return lock.pay(accountId, late, () -> {
                wait.end();
                Duration work = slow.getAsBoolean() ? MISHAP : WORK;
                return witness.during(
                        witness(accountId, mode), () -> payUnderLock(accountId, mode, orderId, money, work));
            });
        } finally {
            wait.end();
        }
    }

    /** Simulates a process that dies while it holds the lock of the account. */
    void crash(String accountId, String mode) throws InterruptedException {
        AccountLock lock = lock(mode);
        ledger.read(account(accountId, mode));
        lock.crash(accountId);
    }

    boolean exists(String accountId) {
        return ledger.exists(account(accountId, MODES.get(0)));
    }

    Map<String, Report> report(String accountId) {
        return perMode(mode -> {
            String witnessed = witness(accountId, mode);
            long payments = witness.counted(witnessed, "payments");
            // Read later, so the account may know of one more, which is counted next.
            long inBalance = ledger.read(account(accountId, mode)).payments();
            return new Report(payments, witness.counted(witnessed, "overlaps"), Math.max(0, payments - inBalance));
        });
    }

    Map<String, Account> get(String accountId) {
        return perMode(mode -> {
            long paid = witness.counted(witness(accountId, mode), "cents");
            Ledger.Entry entry = ledger.read(account(accountId, mode));
            return new Account(entry.balance(), new Money(entry.opening().cents() - paid));
        });
    }

    /** How long no payment was made while some were tried, by mode. */
    Map<String, Figures.Standstill> standstills(String accountId) {
        return perMode(mode -> witness.standstill(witness(accountId, mode)));
    }

    /** From now on, payments are tried in this mode. */
    void begin(String accountId, String mode) {
        witness.begun(witness(accountId, mode));
    }

    /** No further payment is tried in this mode. */
    void end(String accountId, String mode) {
        witness.ended(witness(accountId, mode));
    }

    private Payment payUnderLock(String accountId, String mode, String orderId, Money money, Duration work)
            throws InterruptedException {
        String account = account(accountId, mode);
        Money paid = ledger.paid(account, orderId);
        if (paid != null) {
            return new Payment(orderId, paid);
        }
        Ledger.Entry before = ledger.read(account);
        if (before.balance().cents() < money.cents()) {
            throw new ResponseStatusException(HttpStatus.CONFLICT, "The balance is " + before.balance() + ".");
        }
        Thread.sleep(work.toMillis());
        Money after = new Money(before.balance().cents() - money.cents());
        ledger.write(account, orderId, after, before.payments() + 1);
        witness.count(witness(accountId, mode), "payments");
        witness.add(witness(accountId, mode), "cents", money.cents());
        witness.happened(witness(accountId, mode));
        return new Payment(orderId, after);
    }

    private AccountLock lock(String mode) {
        if (!MODES.contains(mode)) {
            throw new ResponseStatusException(HttpStatus.BAD_REQUEST, "'mode' must be one of " + MODES);
        }
        return requireNonNull(locks.get(mode));
    }

    private static String account(String accountId, String mode) {
        return "account:" + accountId + ":" + mode;
    }

    private static String witness(String accountId, String mode) {
        return account(accountId, mode) + ":witness";
    }

    private static <T> Map<String, T> perMode(Function<String, T> value) {
        Map<String, T> values = new LinkedHashMap<>();
        MODES.forEach(mode -> values.put(mode, value.apply(mode)));
        return values;
    }

    /** @param balance what was left on the account */
    record Payment(String orderId, Money balance) {}

    /**
     * The state of an account in one mode.
     *
     * @param balance the balance that is stored
     * @param expected the balance if no payment had been lost
     */
    record Account(Money balance, Money expected) {}

    /**
     * The result of the payments of one mode.
     *
     * @param payments those made
     * @param overlaps how often one began while another was under way
     * @param lostUpdates those made that the balance does not contain, because a later write was based on an older
     *     balance
     */
    record Report(long payments, long overlaps, long lostUpdates) {}

    /** A failure of a process that pays. */
    enum Mishap {
        NONE,
        /** It is paused before it writes the new balance, for longer than the expiry. */
        SLOW,
        /** It is paused while it releases the lock, for longer than the expiry. */
        LATE
    }
}
