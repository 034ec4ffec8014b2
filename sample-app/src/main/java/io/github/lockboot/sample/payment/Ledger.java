package io.github.lockboot.sample.payment;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import io.github.lockboot.sample.Money;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.core.HashOperations;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.stereotype.Component;

import static java.util.Objects.requireNonNull;

/**
 * Accounts in Redis, a hash for each mode, so that the errors of one mode do not affect the others. The hash has the balance and
 * the number of payments in it, which are written together. Nothing here checks whether another caller wrote in between.
 */
@Component
class Ledger {

    private static final Duration KEPT = Duration.ofDays(1);

    private final StringRedisTemplate redis;
    private final HashOperations<String, String, String> hashes;

    Ledger(StringRedisTemplate redis) {
        this.redis = redis;
        this.hashes = redis.opsForHash();
    }

    void open(String accountId, String mode, Money balance) {
        redis.delete(List.of(key(accountId, mode), ordersKey(accountId, mode)));
        String cents = String.valueOf(balance.cents());
        hashes.putAll(key(accountId, mode), Map.of("opening", cents, "balance", cents, "payments", "0"));
        redis.expire(key(accountId, mode), KEPT);
    }

    boolean exists(String accountId, String mode) {
        return redis.hasKey(key(accountId, mode));
    }

    /** @throws UnknownAccountException if there is none */
    Entry read(String accountId, String mode) {
        Map<String, String> account = hashes.entries(key(accountId, mode));
        if (account.isEmpty()) {
            throw new UnknownAccountException(accountId);
        }
        return new Entry(
                money(requireNonNull(account.get("opening"))),
                money(requireNonNull(account.get("balance"))),
                Long.parseLong(account.get("payments")));
    }

    /** Overwrites the balance after a payment. */
    void write(String accountId, String mode, String orderId, Money balance, long payments) {
        hashes.putAll(
                key(accountId, mode),
                Map.of("balance", String.valueOf(balance.cents()), "payments", String.valueOf(payments)));
        redis.expire(key(accountId, mode), KEPT);
        hashes.put(ordersKey(accountId, mode), orderId, String.valueOf(balance.cents()));
        redis.expire(ordersKey(accountId, mode), KEPT);
    }

    /** The balance after the payment for an order; null if that has not been paid. */
    @Nullable
    Money paid(String accountId, String mode, String orderId) {
        String cents = hashes.get(ordersKey(accountId, mode), orderId);
        return cents == null ? null : money(cents);
    }

    private static Money money(String cents) {
        return new Money(Long.parseLong(cents));
    }

    private static String key(String accountId, String mode) {
        return "account:" + accountId + ":" + mode;
    }

    private static String ordersKey(String accountId, String mode) {
        return key(accountId, mode) + ":orders";
    }

    /** @param payments how many are in the balance */
    record Entry(Money opening, Money balance, long payments) {}
}
