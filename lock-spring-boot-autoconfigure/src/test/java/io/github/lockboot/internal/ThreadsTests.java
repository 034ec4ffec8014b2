package io.github.lockboot.internal;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** How many threads a registry takes, and what becomes of what finds none. */
class ThreadsTests {

    @Test
    void aThreadKnowsNothingOfTheRequestThatNeededIt() throws InterruptedException {
        InheritableThreadLocal<String> user = new InheritableThreadLocal<>();
        ThreadFactory threads = Threads.daemons("test");
        ConcurrentLinkedQueue<Object> seen = new ConcurrentLinkedQueue<>();
        ClassLoader ours = Thread.currentThread().getContextClassLoader();
        Thread.currentThread().setContextClassLoader(ClassLoader.getPlatformClassLoader());
        user.set("alice");
        try {
            Thread thread = threads.newThread(() -> {
                seen.add(String.valueOf(user.get()));
                seen.add(Thread.currentThread().getContextClassLoader());
            });
            thread.start();
            thread.join();
        } finally {
            user.remove();
            Thread.currentThread().setContextClassLoader(ours);
        }
        assertThat(seen).containsExactly("null", ours);
    }

    @Nested
    class Workers {

        private final ExecutorService workers = Threads.workers(Threads.daemons("test"));
        private final Set<Thread> used = ConcurrentHashMap.newKeySet();
        private final CountDownLatch free = new CountDownLatch(1);

        @AfterEach
        void stop() {
            free.countDown();
            workers.shutdown();
        }

        private void block(int tasks) throws InterruptedException {
            CountDownLatch begun = new CountDownLatch(tasks);
            for (int i = 0; i < tasks; i++) {
                workers.execute(() -> {
                    used.add(Thread.currentThread());
                    begun.countDown();
                    awaitFree();
                });
            }
            assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();
        }

        private void awaitFree() {
            try {
                free.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }

        @Test
        void thousandsOfTasksTakeNoMoreThreadsThanAreAllowed() throws InterruptedException {
            int tasks = 5_000;
            CountDownLatch ended = new CountDownLatch(tasks);
            for (int i = 0; i < tasks; i++) {
                workers.execute(() -> {
                    used.add(Thread.currentThread());
                    ended.countDown();
                });
            }
            assertThat(ended.await(30, TimeUnit.SECONDS)).isTrue();
            assertThat(used).hasSizeLessThanOrEqualTo(Threads.AT_MOST);
        }

        @Test
        void whatFindsNoThreadWaitsInOrder() throws InterruptedException {
            block(Threads.AT_MOST);
            List<Integer> order = new ArrayList<>();
            CountDownLatch ended = new CountDownLatch(100);
            for (int i = 0; i < 100; i++) {
                int number = i;
                workers.execute(() -> {
                    synchronized (order) {
                        order.add(number);
                    }
                    ended.countDown();
                });
            }
            assertThat(order).isEmpty();
            free.countDown();
            assertThat(ended.await(30, TimeUnit.SECONDS)).isTrue();
            assertThat(used).hasSize(Threads.AT_MOST);
        }

        /** The caller may hold a mutex, or be a thread of a client. */
        @Test
        void onceClosedEachTaskHasAThreadOfItsOwn() throws InterruptedException {
            workers.shutdown();
            block(2);
            assertThat(used).hasSize(2).doesNotContain(Thread.currentThread());
        }
    }

    @Nested
    class OneAfterTheOther {

        private final ConcurrentLinkedQueue<Runnable> threads = new ConcurrentLinkedQueue<>();
        private final List<Integer> done = new ArrayList<>();

        @Test
        void whatOneTaskThrowsHarmsNoOther() {
            SerialExecutor serial = new SerialExecutor(threads::add);
            serial.execute(() -> {
                throw new StackOverflowError();
            });
            serial.execute(() -> done.add(2));
            assertThat(threads).hasSize(1);
            threads.remove().run();
            serial.execute(() -> done.add(3));
            threads.remove().run();
            assertThat(done).containsExactly(2, 3);
        }

        @Test
        void aThreadThatCannotBeHadIsAskedForAgain() {
            AtomicInteger lacking = new AtomicInteger(1);
            Executor scarce = task -> {
                if (lacking.getAndDecrement() > 0) {
                    throw new OutOfMemoryError("unable to create native thread");
                }
                threads.add(task);
            };
            SerialExecutor serial = new SerialExecutor(scarce);
            assertThatExceptionOfType(OutOfMemoryError.class).isThrownBy(() -> serial.execute(() -> done.add(1)));
            serial.execute(() -> done.add(2));
            threads.remove().run();
            assertThat(done).containsExactly(1, 2);
            assertThat(serial.waiting()).isZero();
        }
    }
}
