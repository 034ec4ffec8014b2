package io.github.lockboot.redis.protocol;

import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

import org.springframework.util.function.SingletonSupplier;

/**
 * Acquisition ids, {@code <session>-<sequence>.<nonce>}: each is used for one acquisition only. A user who can list channels
 * knows the session; the nonce keeps that user from guessing the id of a waiter and forging its grant.
 */
public final class AcquisitionIds {

    private final Supplier<String> session;
    private final Supplier<String> ending;
    private final AtomicLong sequence = new AtomicLong();

    /** Ids that can be predicted, for tests. */
    public AcquisitionIds(String session) {
        this(() -> session, () -> "");
    }

    /** @param ending makes the next id hard to guess */
    public AcquisitionIds(Supplier<String> session, Supplier<String> ending) {
        this.session = session;
        this.ending = ending;
    }

    /** Ids of a new random session. It is drawn at the first use, because that is slow in a process that has just started. */
    public static AcquisitionIds random() {
        Supplier<SecureRandom> random = SingletonSupplier.of(SecureRandom::new);
        Supplier<String> digits = () -> HexFormat.of().toHexDigits(random.get().nextLong());
        return new AcquisitionIds(SingletonSupplier.of(() -> digits.get() + digits.get()), () -> "." + digits.get());
    }

    public String session() {
        return session.get();
    }

    public String next() {
        return session() + "-" + sequence.incrementAndGet() + ending.get();
    }

    public boolean isOurs(String id) {
        return id.startsWith(session() + "-");
    }
}
