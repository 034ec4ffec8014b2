package io.github.lockboot.redis;

import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.concurrent.atomic.AtomicLong;

/** Acquisition ids, {@code <session>-<sequence>}: each is used for one acquisition and never again. */
final class AcquisitionIds {

    private static final int SESSION_BYTES = 16;

    private final String session;
    private final AtomicLong sequence = new AtomicLong();

    AcquisitionIds(String session) {
        this.session = session;
    }

    /** Ids of a new session that nobody else can have or guess. */
    static AcquisitionIds random() {
        byte[] bytes = new byte[SESSION_BYTES];
        new SecureRandom().nextBytes(bytes);
        return new AcquisitionIds(HexFormat.of().formatHex(bytes));
    }

    String session() {
        return session;
    }

    String next() {
        return session + "-" + sequence.incrementAndGet();
    }

    boolean isOurs(String id) {
        return id.startsWith(session) && id.startsWith("-", session.length());
    }
}
