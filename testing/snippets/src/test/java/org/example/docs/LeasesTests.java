package org.example.docs;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.DistributedLock.Release;
import io.github.lockboot.Lease;
import io.github.lockboot.LockContext;
import io.github.lockboot.LockListener;
import io.github.lockboot.LockLostException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockUse;
import io.github.lockboot.NamedLock;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.stereotype.Component;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** What docs/api.md shows of leases and their loss: here a lock is lost because somebody deletes its key. */
class LeasesTests extends OnRedis {

    @Autowired
    private Exports exports;

    @Autowired
    private LostLocks lostLocks;

    @Test
    void aLossIsToldBeforeTheReleaseAndByIt() throws Exception {
        CompletableFuture<String> stopped = new CompletableFuture<>();
        // tag::lost
        NamedLock lock = registry.get("import", LockOptions.defaults().withTtl(Duration.ofSeconds(3)));
        lock.lock();
        lock.onLost(() -> stopped.complete("notified")); // once, on a thread of the registry
        // end::lost
        redis("DEL", "lock:import");
        assertThat(stopped.get(60, TimeUnit.SECONDS)).isEqualTo("notified");
        assertThat(lock.isHeldByCurrentThread()).isFalse();
        assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::unlock);
        assertThat(lostLocks.reasons).isNotEmpty();
    }

    @Test
    void aReleaseThatIsNotAwaitedFreesTheLock() throws Exception {
        // tag::sent
        NamedLock lock = registry.get("counter", LockOptions.defaults().withRelease(Release.SEND));
        lock.lock(); // waits for Redis
        lock.unlock(); // does not
        // end::sent
        assertThat(lock.isHeldByCurrentThread()).isFalse();
        anotherInstance().acquire("counter").close();
    }

    @Test
    void aLeaseThatIsNotRenewedEnds() throws Exception {
        // tag::fixed
        LockOptions fixed =
                LockOptions.defaults().withTtl(Duration.ofSeconds(1)).withoutRenewal();
        NamedLock lock = registry.get("slot", fixed);
        // end::fixed
        lock.lock();
        assertThat(lock.remainingLease()).isLessThanOrEqualTo(Duration.ofSeconds(1));
        anotherInstance().acquire("slot").close();
        assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::unlock);
    }

    @Test
    void aLeaseThatIsNotRenewedIsExtended() {
        LockOptions fixed =
                LockOptions.defaults().withTtl(Duration.ofSeconds(1)).withoutRenewal();
        // tag::extended
        NamedLock lock = registry.get("backup", fixed);
        lock.lock();
        boolean goOn = lock.extend(Duration.ofMinutes(2)); // false: another may have the lock
        // end::extended
        assertThat(goOn).isTrue();
        assertThat(lock.remainingLease()).isGreaterThan(Duration.ofMinutes(1));
        lock.unlock();
    }

    @Test
    void aLeaseThatIsHandedOverGoesOnElsewhere() throws Exception {
        LockRegistry elsewhere = anotherInstance();
        // tag::handed-over
        Lease lease = registry.acquire("import:42");
        String text = lease.handOver(); // from now on, this process has no part in the lock
        // end::handed-over
        long token = lease.fencingToken();
        assertThat(lease.isValid()).isFalse();
        // tag::taken-over
        try (Lease taken = elsewhere.takeOver(text)) { // one of several; LockLostException for the others
            assertThat(taken.fencingToken()).isEqualTo(token);
        }
        // end::taken-over
        assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> registry.takeOver(text));
    }

    @Test
    void beforeWhatCannotBeUndoneTheLockIsLookedAt() {
        exports.export("2026-11");
        assertThat(exports.sent()).containsExactly("2026-11");
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import({Exports.class, LostLocks.class})
    static class Application {}
}

class Exports {

    private final List<String> sent = new CopyOnWriteArrayList<>();

    List<String> sent() {
        return sent;
    }

    // tag::valid
    @DistributedLock(name = "export", key = "#month", ttl = "2m", maxHold = "10m")
    public void export(String month) {
        String file = write(month); // slow, and can be done again
        if (LockContext.current().isValid()) { // by the clock of this JVM alone, without a command
            send(file); // cannot be undone
        }
    }
    // end::valid

    private String write(String month) {
        return month;
    }

    private void send(String file) {
        sent.add(file);
    }
}

// tag::listener
@Component
class LostLocks implements LockListener {

    // end::listener
    final List<String> reasons = new CopyOnWriteArrayList<>();

    private final Alarms alarms = (group, reason) -> reasons.add(group + ": " + reason);

    interface Alarms {
        void raise(String group, String reason);
    }

    // tag::listener
    @Override
    public void lost(LockUse use, Duration held, String reason) { // on a thread of the registry
        alarms.raise(use.group(), reason);
    }
}
// end::listener
