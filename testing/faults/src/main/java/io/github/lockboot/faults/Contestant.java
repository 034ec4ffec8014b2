package io.github.lockboot.faults;

import java.util.Arrays;
import java.util.Locale;
import java.util.function.IntFunction;

import io.github.lockboot.harness.Contender;
import io.github.lockboot.harness.Redisson;
import io.github.lockboot.harness.SpringIntegration;
import io.github.lockboot.harness.ThisLibrary;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;

/** Who is driven through faults. */
enum Contestant {
    THIS_LIBRARY(handoffLimit -> new ThisLibrary("this library", handoffLimit, Terms.TIMING)),
    REDISSON(handoffLimit -> new Redisson("Redisson RLock", Redisson.Type.PLAIN, Terms.TIMING)),
    SPRING_INTEGRATION(
            handoffLimit -> new SpringIntegration("Spring Integration", RedisLockType.SPIN_LOCK, Terms.TIMING));

    private final IntFunction<Contender> contender;

    Contestant(IntFunction<Contender> contender) {
        this.contender = contender;
    }

    /** Its name on the command line and in results. */
    String id() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Whether it tells leases, tokens and losses, so that all rules can be applied to its log. */
    boolean isOurs() {
        return this == THIS_LIBRARY;
    }

    /** @param handoffLimit for those who have one */
    Contender contender(int handoffLimit) {
        return contender.apply(handoffLimit);
    }

    /** The key in Redis of a lock; of {@code *}, what matches all its keys. */
    String key(String lock) {
        return contender(0).key(lock);
    }

    static Contestant withId(String id) {
        return Arrays.stream(values())
                .filter(contestant -> contestant.id().equals(id))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no contestant is called " + id));
    }
}
