package io.github.lockboot.benchmarks;

import java.util.List;

import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;

/** Who takes part. */
final class Contenders {

    static final Contender RAW = new RawLettuce();
    static final Contender OURS = new ThisLibrary("this library", 64);
    static final Contender OURS_STRICT = new ThisLibrary("this library, limit 0", 0);
    static final Contender RLOCK = new Redisson("Redisson RLock", false);
    static final Contender RFAIR = new Redisson("Redisson RFairLock", true);
    static final Contender SI_SPIN = new SpringIntegration("Spring Integration, spin", RedisLockType.SPIN_LOCK);
    static final Contender SI_PUB_SUB =
            new SpringIntegration("Spring Integration, pub/sub", RedisLockType.PUB_SUB_LOCK);
    static final Contender LOCK4J = new Lock4j();
    static final Contender JDK = new JdkFairLock();

    static final List<Contender> ALL = List.of(RAW, OURS, OURS_STRICT, RLOCK, RFAIR, SI_SPIN, SI_PUB_SUB, LOCK4J, JDK);

    private Contenders() {}

    static Contender named(String name) {
        return ALL.stream()
                .filter(contender -> contender.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no contender is called " + name));
    }
}
