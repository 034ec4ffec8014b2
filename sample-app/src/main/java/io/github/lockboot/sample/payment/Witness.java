package io.github.lockboot.sample.payment;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.function.LongSupplier;

import io.github.lockboot.sample.Money;
import org.springframework.data.redis.core.HashOperations;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.stereotype.Component;

import static java.util.Objects.requireNonNull;

/**
 * Watches payments without taking part. A set in Redis has the callers that are paying, and every payment made is counted there in
 * one atomic step. It relies on no lock.
 */
@Component
class Witness {

    private static final Duration KEPT = Duration.ofDays(1);
    private static final Duration LONGEST_STAY = Duration.ofSeconds(30);

    private final StringRedisTemplate redis;
    private final HashOperations<String, String, String> hashes;

    Witness(StringRedisTemplate redis) {
        this.redis = redis;
        this.hashes = redis.opsForHash();
    }

    void forget(String accountId, String mode) {
        redis.delete(List.of(key(accountId, mode), insideKey(accountId, mode)));
    }

    /** Runs an action that must not overlap with others. A caller sees all that entered before it, so no overlap is missed. */
    <T, E extends Throwable> T watch(String accountId, String mode, Action<T, E> action) throws E {
        String inside = insideKey(accountId, mode);
        String me = UUID.randomUUID().toString();
        long now = System.currentTimeMillis();
        redis.opsForZSet().add(inside, me, now);
        try {
            redis.opsForZSet().removeRangeByScore(inside, 0, now - LONGEST_STAY.toMillis());
            redis.expire(inside, LONGEST_STAY);
            if (requireNonNull(redis.opsForZSet().zCard(inside)) > 1) {
                count(accountId, mode, "overlaps", 1);
            }
            return action.run();
        } finally {
            redis.opsForZSet().remove(inside, me);
        }
    }

    void count(String accountId, String mode, Money money) {
        count(accountId, mode, "payments", 1);
        count(accountId, mode, "cents", money.cents());
    }

    /** @param inBalance how many payments the account knows of, asked for after those made were counted */
    Report report(String accountId, String mode, LongSupplier inBalance) {
        long payments = number(accountId, mode, "payments");
        long overlaps = number(accountId, mode, "overlaps");
        // The account may know one more, which is counted next.
        return new Report(payments, overlaps, Math.max(0, payments - inBalance.getAsLong()));
    }

    /** What was paid in all. */
    Money paid(String accountId, String mode) {
        return new Money(number(accountId, mode, "cents"));
    }

    private void count(String accountId, String mode, String what, long by) {
        hashes.increment(key(accountId, mode), what, by);
        redis.expire(key(accountId, mode), KEPT);
    }

    private long number(String accountId, String mode, String what) {
        String number = hashes.get(key(accountId, mode), what);
        return number == null ? 0 : Long.parseLong(number);
    }

    private static String key(String accountId, String mode) {
        return "account:" + accountId + ":" + mode + ":witness";
    }

    private static String insideKey(String accountId, String mode) {
        return "account:" + accountId + ":" + mode + ":inside";
    }

    /**
     * @param <T> what it returns
     * @param <E> what it throws
     */
    @FunctionalInterface
    interface Action<T, E extends Throwable> {

        T run() throws E;
    }
}
