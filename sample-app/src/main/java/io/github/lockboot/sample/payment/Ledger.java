package io.github.lockboot.sample.payment;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import io.github.lockboot.sample.Money;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.core.HashOperations;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Component;
import org.springframework.web.server.ResponseStatusException;

import static java.util.Objects.requireNonNull;

/**
 * Accounts in Redis, a hash for each mode, so that the errors of one mode do not affect the others. The hash has the
 * balance and the number of payments in it, which are written together. Nothing here checks whether another caller
 * wrote in between.
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

    void open(String account, Money balance) {
        redis.delete(List.of(account, account + ":orders"));
        String cents = String.valueOf(balance.cents());
        hashes.putAll(account, Map.of("opening", cents, "balance", cents, "payments", "0"));
        redis.expire(account, KEPT);
    }

    boolean exists(String account) {
        return redis.hasKey(account);
    }

    Entry read(String account) {
        Map<String, String> fields = hashes.entries(account);
        if (fields.isEmpty()) {
            throw new ResponseStatusException(
                    HttpStatus.NOT_FOUND, "There is no '" + account + "'; accounts are kept for a day.");
        }
        return new Entry(
                Money.ofCents(requireNonNull(fields.get("opening"))),
                Money.ofCents(requireNonNull(fields.get("balance"))),
                Long.parseLong(fields.get("payments")));
    }

    /** Overwrites the balance after a payment. */
    void write(String account, String orderId, Money balance, long payments) {
        String cents = String.valueOf(balance.cents());
        hashes.putAll(account, Map.of("balance", cents, "payments", String.valueOf(payments)));
        redis.expire(account, KEPT);
        hashes.put(account + ":orders", orderId, cents);
        redis.expire(account + ":orders", KEPT);
    }

    /** The balance after the payment for an order; null if that has not been paid. */
    @Nullable
    Money paid(String account, String orderId) {
        String cents = hashes.get(account + ":orders", orderId);
        return cents == null ? null : Money.ofCents(cents);
    }

    /** @param payments how many are in the balance */
    record Entry(Money opening, Money balance, long payments) {}
}
