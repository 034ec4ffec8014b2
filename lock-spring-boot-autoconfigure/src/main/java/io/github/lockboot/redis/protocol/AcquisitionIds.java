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

    private static final int SESSION_BYTES = 16;

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
        SingletonSupplier<SecureRandom> random = SingletonSupplier.of(SecureRandom::new);
        return new AcquisitionIds(SingletonSupplier.of(() -> session(random.obtain())), () -> nonce(random.obtain()));
    }

    private static String session(SecureRandom random) {
        byte[] bytes = new byte[SESSION_BYTES];
        random.nextBytes(bytes);
        return HexFormat.of().formatHex(bytes);
    }

    private static String nonce(SecureRandom random) {
        return "." + HexFormat.of().toHexDigits(random.nextLong());
    }

    public String session() {
        return session.get();
    }

    public String next() {
        return session() + "-" + sequence.incrementAndGet() + ending.get();
    }

    public boolean isOurs(String id) {
        String ours = session();
        return id.startsWith(ours) && id.startsWith("-", ours.length());
    }
}
