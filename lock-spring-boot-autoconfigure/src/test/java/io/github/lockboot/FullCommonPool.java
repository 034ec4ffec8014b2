package io.github.lockboot;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import io.github.lockboot.memory.MemoryLockRegistry;
import io.github.lockboot.redis.RedisLockRegistry;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * A program whose common pool has no free thread, and which uses locks asynchronously all the same. It says in a line
 * for each step whether it came to an end. With a parallelism of one a {@link CompletableFuture} does not use that
 * pool, so the program is given a larger one when it is started.
 */
final class FullCommonPool {

    private static final Duration ENOUGH = Duration.ofSeconds(10);

    private final String kind;
    private final LockRegistry registry;
    private final LockTemplate template;

    private FullCommonPool(String kind, LockRegistry registry) {
        this.kind = kind;
        this.registry = registry;
        this.template = new LockTemplate(registry, ENOUGH.multipliedBy(6));
    }

    /** @param args host and port of a Redis */
    public static void main(String[] args) {
        LettuceConnectionFactory redis =
                new LettuceConnectionFactory(new RedisStandaloneConfiguration(args[0], Integer.parseInt(args[1])));
        redis.afterPropertiesSet();
        redis.start();
        new FullCommonPool("memory", new MemoryLockRegistry()).run();
        new FullCommonPool("redis", RedisLockRegistry.builder(redis).build()).run();
        System.exit(0); // threads that are stuck do not end
    }

    private interface Step {
        CompletionStage<?> begin() throws Exception;
    }

    private void run() {
        Actor.await(
                "there is a connection", this::canLock); // which a slow machine may take more than a command's time for
        withTasksThatWait("executeAsync", () -> template.executeAsync("a", () -> CompletableFuture.completedStage(1)));
        withTasksThatWait(
                "a failure in executeAsync",
                () -> template.executeAsync("a", () -> {
                            throw new IllegalStateException("failed");
                        })
                        .exceptionally(failure -> null));
        withTasksThatWait(
                "closeAfter",
                () -> registry.acquireAsync("a", LockOptions.defaults())
                        .thenCompose(lease -> lease.closeAfter(Duration.ZERO)));
        withTasksThatWait(
                "closeAfter a time",
                () -> registry.acquireAsync("a", LockOptions.defaults())
                        .thenCompose(lease -> lease.closeAfter(Duration.ofMillis(20))));
        withTasksThatWait("a flight", this::leadAndFollow);
        withTasksThatWantTheLock();
    }

    private boolean canLock() {
        try {
            return template.execute("first", () -> true);
        } catch (LockUnavailableException notYet) {
            return false;
        }
    }

    private CompletableFuture<?> leadAndFollow() {
        AtomicReference<String> cache = new AtomicReference<>();
        CompletableFuture<String> upstream = new CompletableFuture<>();
        CompletableFuture<Void> loading = new CompletableFuture<>();
        CompletableFuture<String> leader = flight(cache, () -> {
            loading.complete(null);
            return upstream;
        });
        loading.orTimeout(ENOUGH.toMillis(), TimeUnit.MILLISECONDS).join();
        CompletableFuture<String> follower = flight(cache, () -> {
            throw new AssertionError("it is loaded once");
        });
        cache.set("loaded");
        upstream.complete("loaded");
        return CompletableFuture.allOf(leader, follower);
    }

    private CompletableFuture<String> flight(AtomicReference<String> cache, Loader load) {
        return template.singleFlightAsync("f", () -> CompletableFuture.completedFuture(cache.get()), load::begin);
    }

    private interface Loader {
        CompletableFuture<String> begin();
    }

    /** Every thread of the pool waits, for something else. */
    private void withTasksThatWait(String what, Step step) {
        CountDownLatch end = new CountDownLatch(1);
        fill(() -> {
            try {
                end.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        try {
            say(what, step);
        } finally {
            end.countDown();
        }
    }

    /** Every thread of the pool waits for the lock that is to be released. */
    private void withTasksThatWantTheLock() {
        CompletableFuture<Integer> work = new CompletableFuture<>();
        CompletableFuture<Integer> call = template.executeAsync("b", () -> work);
        Actor.await("the lock is held", () -> registry.get("b").isLocked());
        AtomicInteger held = new AtomicInteger();
        int wanted = fill(() -> {
            NamedLock lock = registry.get("b");
            lock.lock();
            held.incrementAndGet();
            lock.unlock();
        });
        work.complete(1);
        say("a release for which the pool waits", () -> call);
        Actor.await("all had the lock", () -> held.get() == wanted);
    }

    /** @return how many threads the pool has, all of which run the task now */
    private static int fill(Runnable task) {
        ForkJoinPool pool = ForkJoinPool.commonPool();
        int threads = pool.getParallelism();
        if (threads < 2) {
            throw new IllegalStateException("the common pool has " + threads + " threads, so futures do not use it");
        }
        AtomicInteger begun = new AtomicInteger();
        Actor.await("all its threads are busy", () -> {
            pool.execute(
                    () -> { // more often than needed: a pool may be late to wake a thread
                        if (begun.getAndIncrement() < threads) {
                            task.run();
                        }
                    });
            return begun.get() >= threads;
        });
        return threads;
    }

    private void say(String what, Step step) {
        try {
            step.begin().toCompletableFuture().get(ENOUGH.toSeconds(), TimeUnit.SECONDS);
            System.out.println(kind + ": " + what + " ended");
        } catch (Exception stuck) {
            System.out.println(kind + ": " + what + " did not end: " + stuck);
        }
    }
}
