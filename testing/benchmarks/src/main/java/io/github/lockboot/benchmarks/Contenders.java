package io.github.lockboot.benchmarks;

import java.time.Duration;
import java.util.List;
import java.util.Set;

import io.github.lockboot.DistributedLock.Release;
import io.github.lockboot.LockOptions;
import io.github.lockboot.harness.Contender;
import io.github.lockboot.harness.Redisson;
import io.github.lockboot.harness.SpringIntegration;
import io.github.lockboot.harness.ThisLibrary;
import io.github.lockboot.harness.Timing;
import io.github.lockboot.redis.RedisLockRegistry.Acknowledge;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;

/** Who takes part. */
final class Contenders {

    /**
     * Its default lease, and long enough for the first connection of many processes that start at once on few cores.
     */
    private static final Timing OUR_TIMING = new Timing(Duration.ofSeconds(30), Duration.ofSeconds(10));

    static final Contender RAW = new RawLettuce(RawLettuce.Release.SCRIPT);
    static final Contender RAW_NATIVE = new RawLettuce(RawLettuce.Release.COMMAND);
    static final Contender OURS = new ThisLibrary("this library", 64, OUR_TIMING);
    static final Contender OURS_STRICT = new ThisLibrary("this library, limit 0", 0, OUR_TIMING);
    static final Contender OURS_ACKNOWLEDGED =
            new ThisLibrary("this library, acknowledge=all", 64, Acknowledge.ALL, OUR_TIMING);
    static final Contender OURS_SENT =
            new ThisLibrary("this library, release=send", LockOptions.defaults().withRelease(Release.SEND), OUR_TIMING);
    static final Contender OURS_LINGERING = new ThisLibrary(
            "this library, linger=1s", LockOptions.defaults().withLinger(Duration.ofSeconds(1)), OUR_TIMING);
    static final Contender RLOCK = new Redisson("Redisson RLock", Redisson.Type.PLAIN, null);
    static final Contender RFAIR = new Redisson("Redisson RFairLock", Redisson.Type.FAIR, null);
    static final Contender RREAD_WRITE = new Redisson("Redisson RReadWriteLock", Redisson.Type.READ_WRITE, null);
    static final Contender RSEMAPHORE =
            new Redisson("Redisson RPermitExpirableSemaphore", Redisson.Type.SEMAPHORE, null);
    static final Contender RMULTI = new Redisson("Redisson RedissonMultiLock", Redisson.Type.PLAIN, null);
    static final Contender SI_SPIN = new SpringIntegration("Spring Integration, spin", RedisLockType.SPIN_LOCK, null);
    static final Contender SI_PUB_SUB =
            new SpringIntegration("Spring Integration, pub/sub", RedisLockType.PUB_SUB_LOCK, null);
    static final Contender LOCK4J = new Lock4j();
    static final Contender JDK = new JdkFairLock();

    static final List<Contender> ALL = List.of(
            RAW,
            RAW_NATIVE,
            OURS,
            OURS_STRICT,
            OURS_ACKNOWLEDGED,
            OURS_SENT,
            OURS_LINGERING,
            RLOCK,
            RFAIR,
            RREAD_WRITE,
            RSEMAPHORE,
            RMULTI,
            SI_SPIN,
            SI_PUB_SUB,
            LOCK4J,
            JDK);

    private Contenders() {}

    /** The commands its client sends besides scripts and subscriptions, as INFO commandstats names them. */
    static Set<String> ownCommands(Contender contender) {
        return contender instanceof RawLettuce ? Set.of("set", "delex", "delifeq") : Set.of();
    }

    static Contender named(String name) {
        return ALL.stream()
                .filter(contender -> contender.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no contender is called " + name));
    }
}
