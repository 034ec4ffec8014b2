package io.github.lockboot.sample.ticket;

import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.core.HashOperations;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.stereotype.Component;

/** The tickets of a sale, a hash in Redis that all instances sell from. */
@Component
class TicketStock {

    private static final Duration KEPT = Duration.ofDays(1);
    private static final String SOLD = "sold:";

    private final StringRedisTemplate redis;
    private final HashOperations<String, String, String> hashes;

    TicketStock(StringRedisTemplate redis) {
        this.redis = redis;
        this.hashes = redis.opsForHash();
    }

    /** Puts the tickets up for sale, unless another instance did. */
    void open(String saleId, int count) {
        hashes.putIfAbsent(key(saleId), "total", String.valueOf(count));
        redis.expire(key(saleId), KEPT);
    }

    void remove(String saleId) {
        redis.delete(key(saleId));
    }

    /** @return the number of the first of them */
    int openWindows(String saleId, int windows) {
        int last = hashes.increment(key(saleId), "windows", windows).intValue();
        for (int window = last - windows + 1; window <= last; window++) {
            hashes.put(key(saleId), SOLD + window, "0");
        }
        return last - windows + 1;
    }

    /**
     * Sells one ticket, by reading how many there are and writing one less: right only under the lock of the sale.
     *
     * @return whether there was one
     */
    boolean sellOne(String saleId, int window) {
        int left = left(saleId);
        if (left == 0) {
            return false;
        }
        hashes.put(key(saleId), "left", String.valueOf(left - 1));
        hashes.increment(key(saleId), SOLD + window, 1);
        return true;
    }

    int left(String saleId) {
        String left = hashes.get(key(saleId), "left");
        return left == null ? number(hashes.get(key(saleId), "total")) : number(left);
    }

    Sale sale(String saleId) {
        Map<Integer, Integer> sold = new TreeMap<>();
        Map<String, String> fields = hashes.entries(key(saleId));
        fields.forEach((field, count) -> {
            if (field.startsWith(SOLD)) {
                sold.put(Integer.valueOf(field.substring(SOLD.length())), number(count));
            }
        });
        return new Sale(number(fields.get("total")), sold);
    }

    private static int number(@Nullable String text) {
        return text == null ? 0 : Integer.parseInt(text);
    }

    private static String key(String saleId) {
        return "tickets:" + saleId;
    }

    /**
     * The result of a sale.
     *
     * @param total the tickets there were
     * @param sold by window, of all instances that took part
     */
    record Sale(int total, Map<Integer, Integer> sold) {}
}
