package io.github.lockboot.benchmarks;

import java.lang.management.ManagementFactory;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongFunction;
import java.util.stream.IntStream;

import com.sun.management.OperatingSystemMXBean;
import io.github.lockboot.harness.Contender;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/** The threads of one process in one round. */
final class Crew {

    /** Threads do not begin all at once: turns count only after this part of a round's time has gone by before it. */
    private static final int RAMP = 4;

    private static final OperatingSystemMXBean PROCESS =
            ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

    private static final int TURNS_A_WRITE = 20;

    /** A thread that waits for so long beyond its round is left behind, ns. */
    private static final long LAST_WAITS = TimeUnit.SECONDS.toNanos(5);

    private final Contender.Client client;
    private final Round round;
    private final long[] turns;
    private final Histogram waits = Sample.noWaits();
    private final LongAdder acquisitions = new LongAdder();
    private final ReentrantLock collecting = new ReentrantLock();
    private final CountDownLatch start = new CountDownLatch(1);
    private final CountDownLatch done;
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    private final LongAccumulator longestHold = new LongAccumulator(Math::max, 0);
    private final AtomicLong due = new AtomicLong();
    private volatile long startedAt;
    private volatile long countFrom;
    private volatile long stopAt;

    private Crew(Contender.Client client, Round round) {
        this.client = client;
        this.round = round;
        this.turns = new long[round.threads()];
        this.done = new CountDownLatch(turns.length);
    }

    /** Does a round. Ends when all threads have, or soon after its time. */
    static Sample run(Contender.Client client, Round round) throws Exception {
        return new Crew(client, round).run();
    }

    private Sample run() throws Exception {
        for (int i = 0; i < turns.length; i++) {
            int number = i;
            start(() -> work(number));
        }
        Thread.sleep(Math.max(0, round.startEpochMillis() - System.currentTimeMillis()));
        long usedBefore = PROCESS.getProcessCpuTime();
        startedAt = System.nanoTime();
        long window = round.turns() > 0 ? Long.MAX_VALUE / 4 : TimeUnit.MILLISECONDS.toNanos(round.millis());
        countFrom = round.turns() > 0 ? startedAt : startedAt + window / RAMP;
        stopAt = countFrom + window;
        start.countDown();
        if (round.turns() > 0) {
            done.await();
        } else {
            boolean unused = done.await(stopAt - System.nanoTime() + LAST_WAITS, TimeUnit.NANOSECONDS);
        }
        Throwable failed = failure.get();
        if (failed != null) {
            throw new IllegalStateException(failed);
        }
        long took = round.turns() > 0 ? System.nanoTime() - startedAt : window;
        double used = (PROCESS.getProcessCpuTime() - usedBefore) / 1e9;
        return new Sample(took / 1e9, turns, acquisitions.sum(), used, longestHold.get(), waits);
    }

    /** Virtual threads are younger than the Java release this is compiled for. */
    private void start(Runnable work) throws ReflectiveOperationException {
        if (round.load().isVirtual()) {
            Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, work);
        } else {
            Thread thread = new Thread(work, "crew");
            thread.setDaemon(true);
            thread.start();
        }
    }

    private void work(int number) {
        Histogram own = Sample.noWaits();
        try {
            start.await();
            takeTurns(number, own);
        } catch (Throwable failed) {
            failure.compareAndSet(null, failed);
        }
        collecting.lock();
        try {
            waits.add(own);
        } finally {
            collecting.unlock();
        }
        done.countDown();
    }

    private void takeTurns(int number, Histogram own) throws InterruptedException {
        int holds = round.load().holds();
        LongFunction<Lock> locks = locks(number);
        boolean writer = round.isWriter(number);
        boolean reader = round.load().kind() == Load.Kind.WRITER && !writer;
        boolean working = reader || round.load().kind() == Load.Kind.WORKING;
        boolean pausing = writer || round.load().kind() == Load.Kind.PAUSING;
        long counted = 0;
        long acquired = 0;
        for (long turn = 0; failure.get() == null; turn++) {
            Lock lock = locks.apply(turn);
            if (pausing) {
                pause();
            }
            long before = round.load().isOpen() ? awaitDue() : System.nanoTime();
            lock.lock();
            long after = System.nanoTime();
            if (working) {
                pause();
            }
            for (int hold = 1; hold < holds; hold++) {
                lock.lock();
            }
            for (int hold = 1; hold < holds; hold++) {
                lock.unlock();
            }
            long end = reader ? System.nanoTime() : after;
            lock.unlock();
            acquired++;
            if (after - countFrom >= 0) {
                if (reader) {
                    longestHold.accumulate(end - after);
                } else {
                    own.recordValue(after - before);
                }
                counted += after - stopAt < 0 ? 1 : 0;
                turns[number] = counted;
            }
            if (after - stopAt >= 0 || counted == round.turns() && counted > 0) {
                break;
            }
        }
        acquisitions.add(acquired);
    }

    /**
     * Waits until the next turn of this process is due, if it is not yet.
     *
     * @return when it was due: a turn that begins late has waited since then
     */
    private long awaitDue() {
        double interval = 1e9 / round.load().perSecond();
        long at = startedAt + (long) (due.getAndIncrement() * interval);
        for (long left = at - System.nanoTime(); left > 0; left = at - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
        return at;
    }

    /** What this thread locks, by its turn. */
    private LongFunction<Lock> locks(int number) {
        int names = round.load().names();
        String name = nameOf(number);
        return switch (round.load().kind()) {
            case EXCLUSIVE, PAUSING, WORKING -> {
                Lock only = client.lock(name);
                yield names == 1 ? turn -> only : turn -> client.lock(nameOf((number + turn * turns.length) % names));
            }
            case READERS -> {
                Lock read = client.lock(name, Contender.Client.UNLIMITED);
                Lock write = client.lock(name);
                Random random = new Random();
                yield turn -> random.nextInt(TURNS_A_WRITE) == 0 ? write : read;
            }
            case PERMITS -> {
                Lock permit = client.lock(name, Load.PERMITS);
                yield turn -> permit;
            }
            case SEVERAL -> {
                Lock all = client.lockOfAll(IntStream.range(0, Load.SEVERAL)
                        .mapToObj(other -> name + ":" + other)
                        .toList());
                yield turn -> all;
            }
            case WRITER -> {
                Lock side = round.isWriter(number) ? client.lock(name) : client.lock(name, Contender.Client.UNLIMITED);
                yield turn -> side;
            }
        };
    }

    private static void pause() throws InterruptedException {
        Thread.sleep(Load.PAUSE_MILLIS);
    }

    private String nameOf(long number) {
        return "benchmark:" + round.load().kind() + ":" + number % round.load().names();
    }
}
