package io.github.lockboot;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

import io.github.lockboot.fixture.Await;

/**
 * A thread that does what a test tells it, step by step. It is a virtual one where the system property {@code actors}
 * says {@code virtual}.
 */
public final class Actor implements AutoCloseable {

    private static final Duration LONG = Duration.ofSeconds(30);
    private static final ThreadFactory FACTORY =
            "virtual".equals(System.getProperty("actors")) ? virtualThreads() : Thread::new;

    private final AtomicReference<Thread> thread = new AtomicReference<>();
    private volatile boolean inStep;
    private final ExecutorService executor = Executors.newSingleThreadExecutor(task -> {
        Thread made = FACTORY.newThread(task);
        made.setName("actor");
        made.setDaemon(true);
        thread.set(made);
        return made;
    });

    /** What may be done there. */
    @FunctionalInterface
    public interface Step {
        void run() throws Exception;
    }

    /** Does it there and waits for it; what it throws comes out. */
    public <T> T call(Callable<T> step) throws Exception {
        return get(start(step));
    }

    /** Does it there and waits for it; what it throws comes out. */
    public void run(Step step) throws Exception {
        call(() -> {
            step.run();
            return null;
        });
    }

    /** Begins it there. */
    public <T> CompletableFuture<T> start(Callable<T> step) {
        CompletableFuture<T> result = new CompletableFuture<>();
        executor.execute(() -> {
            inStep = true;
            try {
                T done = step.call();
                inStep = false; // before anyone learns of the result
                result.complete(done);
            } catch (Throwable failure) {
                inStep = false;
                result.completeExceptionally(failure);
            }
        });
        return result;
    }

    /** Begins it there. */
    public CompletableFuture<Void> begin(Step step) {
        return start(() -> {
            step.run();
            return null;
        });
    }

    public void interrupt() {
        thread.get().interrupt();
    }

    /** Whether its thread is parked in what it does, and not only on its way through a mutex. */
    public boolean isWaiting() {
        Thread current = thread.get();
        return inStep
                && current != null
                && (current.getState() == Thread.State.WAITING || current.getState() == Thread.State.TIMED_WAITING)
                && !isAtMutex(LockSupport.getBlocker(current));
    }

    private static boolean isAtMutex(Object blocker) {
        return blocker != null && blocker.getClass().getEnclosingClass() == ReentrantLock.class;
    }

    @Override
    public void close() {
        executor.shutdownNow();
    }

    /** Of the JDK that runs the tests; the one that compiles them may have none. */
    private static ThreadFactory virtualThreads() {
        try {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            return (ThreadFactory) Class.forName("java.lang.Thread$Builder")
                    .getMethod("factory")
                    .invoke(builder);
        } catch (ReflectiveOperationException older) {
            throw new IllegalStateException("virtual threads need a JDK 21 or newer", older);
        }
    }

    /** The result of something begun, within a time that is long for any test; what it throws comes out. */
    public static <T> T get(CompletableFuture<T> future) throws Exception {
        try {
            return future.get(LONG.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException failure) {
            if (failure.getCause() instanceof Exception cause) {
                throw cause;
            }
            throw failure;
        }
    }

    /** Waits until it is so, and fails if that takes too long for any test. */
    public static void await(String what, BooleanSupplier condition) {
        Await.until(what, condition);
    }

    /** Waits until it is so, and fails if that takes too long. */
    public static void await(String what, Duration atMost, BooleanSupplier condition) {
        Await.until(atMost, condition, () -> "not within " + atMost + ": " + what);
    }

    /** Waits until a lease has been renewed so often: the time that it has left becomes more then, and only then. */
    public static void awaitRenewals(int times, Supplier<Duration> remainingLease) {
        for (int i = 1; i <= times; i++) {
            AtomicReference<Duration> left = new AtomicReference<>(remainingLease.get());
            await("renewal " + i, () -> {
                Duration now = remainingLease.get();
                return now.compareTo(left.getAndSet(now)) > 0;
            });
        }
    }

    /** Lets a time pass that is itself what the test is about. */
    public static void pass(Duration time) {
        long end = System.nanoTime() + time.toNanos();
        while (System.nanoTime() - end < 0) {
            LockSupport.parkNanos(end - System.nanoTime());
        }
    }
}
