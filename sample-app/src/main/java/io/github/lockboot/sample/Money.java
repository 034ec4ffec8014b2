package io.github.lockboot.sample;

import java.math.BigDecimal;
import java.util.regex.Pattern;

import com.fasterxml.jackson.annotation.JsonValue;

/**
 * An amount in whole cents, written in yuan: {@code 123} cents are {@code "1.23"}.
 *
 * @param cents never negative
 */
public record Money(long cents) {

    public static final Money MAX = new Money(100_000_000);

    private static final Pattern YUAN = Pattern.compile("\\d{1,7}(\\.\\d{1,2})?");

    /**
     * Reads an amount in yuan; Spring calls this for a request parameter of this type.
     *
     * @throws IllegalArgumentException unless it is from 0.01 to {@link #MAX} with at most two decimals
     */
    public static Money valueOf(String yuan) {
        if (YUAN.matcher(yuan).matches()) {
            long cents = new BigDecimal(yuan).movePointRight(2).longValueExact();
            if (cents >= 1 && cents <= MAX.cents) {
                return new Money(cents);
            }
        }
        throw new IllegalArgumentException(
                "must be yuan with at most two decimals, from 0.01 to " + MAX + ", such as 100.00");
    }

    /** Reads what {@link #cents} was written as. */
    public static Money ofCents(String cents) {
        return new Money(Long.parseLong(cents));
    }

    @JsonValue
    @Override
    public String toString() {
        return BigDecimal.valueOf(cents, 2).toPlainString();
    }
}
