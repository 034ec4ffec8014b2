package io.github.lockboot.memory;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.LockOptions;
import io.github.lockboot.NamedLock;
import io.github.lockboot.engine.Handles;
import io.github.lockboot.engine.LockEngine;
import io.github.lockboot.schedules.Linearizability;
import io.github.lockboot.schedules.StillTimer;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.ThreadIdGen;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Both sides of a lock that threads of two instances try to take, against the same in one thread. Lincheck cannot
 * verify a call that waits for another thread, so none waits. Its model checker is too slow for a whole engine.
 */
@Tag("full")
@Tag("schedules")
class NamedLockLinearizabilityTests {

    private static final LockOptions WRITE = LockOptions.defaults()
            .withTtl(Duration.ofSeconds(30))
            .withWaitTime(Duration.ofSeconds(10))
            .withRelease(DistributedLock.Release.AWAIT)
            .withRenewal();

    @Param(name = "thread", gen = ThreadIdGen.class)
    public static class BothSides {

        private final MemoryStore store = new MemoryStore(new StillTimer(), 200);
        private final List<LockEngine> instances = List.of(store.newEngine("a"), store.newEngine("b"));

        private NamedLock write(int thread) {
            return Handles.of(instances.get(thread % 2), "name", WRITE);
        }

        private NamedLock read(int thread) {
            return Handles.of(instances.get(thread % 2), "name", WRITE.shared());
        }

        @Operation
        public boolean tryWrite(@Param(name = "thread") int thread) {
            return write(thread).tryLock();
        }

        @Operation
        public void unlockWrite(@Param(name = "thread") int thread) {
            write(thread).unlock();
        }

        @Operation
        public boolean tryRead(@Param(name = "thread") int thread) {
            return read(thread).tryLock();
        }

        @Operation
        public void unlockRead(@Param(name = "thread") int thread) {
            read(thread).unlock();
        }

        @Operation
        public int writes(@Param(name = "thread") int thread) {
            return write(thread).getHoldCount();
        }

        @Operation
        public boolean isLocked(@Param(name = "thread") int thread) {
            return write(thread).isLocked();
        }
    }

    /** The contract of {@link NamedLock}, for calls one after the other. */
    public static class Contract {

        private final Map<Integer, Integer> reads = new HashMap<>();
        private Integer writer;
        private int writes;

        public boolean tryWrite(int thread) {
            boolean mine = writer != null && writer == thread;
            if (!mine && reads.containsKey(thread)) {
                throw new IllegalStateException("it would wait for itself");
            }
            boolean taken = mine || writer == null && reads.isEmpty();
            if (taken) {
                writer = thread;
                writes++;
            }
            return taken;
        }

        public void unlockWrite(int thread) {
            if (writer == null || writer != thread) {
                throw new IllegalMonitorStateException();
            }
            writes--;
            if (writes == 0) {
                writer = null;
            }
        }

        public boolean tryRead(int thread) {
            boolean taken = writer == null || writer == thread;
            if (taken) {
                reads.merge(thread, 1, Integer::sum);
            }
            return taken;
        }

        public void unlockRead(int thread) {
            if (!reads.containsKey(thread)) {
                throw new IllegalMonitorStateException();
            }
            reads.computeIfPresent(thread, (t, count) -> count == 1 ? null : count - 1);
        }

        public int writes(int thread) {
            return writer != null && writer == thread ? writes : 0;
        }

        public boolean isLocked(int thread) {
            return writer != null || !reads.isEmpty();
        }
    }

    @Test
    void threadsOfTwoInstancesSeeOneLock() {
        Linearizability.stress(BothSides.class, Contract.class);
    }
}
