package io.github.lockboot.redis;

import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

import org.springframework.util.function.SingletonSupplier;

/** Acquisition ids, {@code <session>-<sequence>}: each is used for one acquisition and never again. */
final class AcquisitionIds {

    private static final int SESSION_BYTES = 16;

    private final Supplier<String> session;
    private final AtomicLong sequence = new AtomicLong();

    AcquisitionIds(String session) {
        this(() -> session);
    }

    private AcquisitionIds(Supplier<String> session) {
        this.session = session;
    }

    /** Ids of a new session that nobody else can have or guess, drawn at the first use: that is slow in a young process. */
    static AcquisitionIds random() {
        return new AcquisitionIds(SingletonSupplier.of(AcquisitionIds::draw));
    }

    private static String draw() {
        byte[] bytes = new byte[SESSION_BYTES];
        new SecureRandom().nextBytes(bytes);
        return HexFormat.of().formatHex(bytes);
    }

    String session() {
        return session.get();
    }

    String next() {
        return session() + "-" + sequence.incrementAndGet();
    }

    boolean isOurs(String id) {
        String ours = session();
        return id.startsWith(ours) && id.startsWith("-", ours.length());
    }
}
