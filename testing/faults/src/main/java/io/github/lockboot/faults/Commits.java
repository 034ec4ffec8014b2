package io.github.lockboot.faults;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import io.github.lockboot.LockLostException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.NamedLock;
import io.github.lockboot.autoconfigure.LockAutoConfiguration;
import io.github.lockboot.fixture.Await;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * One run of one {@link CommitsFault}: threads of an application each work in one transaction after the other under a
 * lock, whose key somebody deletes. They commit as soon as their instance knows of the loss.
 */
final class Commits implements AutoCloseable {

    static final int THREADS = 4;
    static final int TRANSACTIONS = 10;
    private static final LockOptions BRIEF = LockOptions.defaults().withTtl(Duration.ofSeconds(1));

    private final Standalone redis = Standalone.inMemory();
    private final LettuceConnectionFactory factory = redis.address(0).forSpring();
    private final AnnotationConfigApplicationContext parent = new AnnotationConfigApplicationContext();
    private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
    private final AtomicInteger refused = new AtomicInteger();

    private Commits(CommitsFault fault) {
        if (fault.isInParent()) {
            parent.register(fault.application());
        } else {
            context.register(fault.application());
        }
        parent.refresh();
        context.setParent(parent);
        context.registerBean(LettuceConnectionFactory.class, () -> factory, bean -> bean.setDestroyMethodName(""));
        context.register(LockAutoConfiguration.class);
        context.refresh();
    }

    static CommitsResult run(CommitsFault fault) {
        try (Commits scene = new Commits(fault)) {
            return scene.resultOf(fault);
        }
    }

    private CommitsResult resultOf(CommitsFault fault) {
        CountingTransactionManager manager = context.getBean(CountingTransactionManager.class);
        int before = manager.commits();
        Thread[] threads = IntStream.range(0, THREADS)
                .mapToObj(number -> new Thread(() -> work("entry-" + number, new TransactionTemplate(manager))))
                .toArray(Thread[]::new);
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            Await.until("the thread has ended", () -> !thread.isAlive());
        }
        return new CommitsResult(fault.name(), THREADS * TRANSACTIONS, refused.get(), manager.commits() - before);
    }

    private void work(String name, TransactionTemplate transactions) {
        NamedLock lock = context.getBean(LockRegistry.class).get(name, BRIEF);
        for (int i = 0; i < TRANSACTIONS; i++) {
            lock.lock();
            try {
                transactions.executeWithoutResult(status -> {
                    redis.command("DEL", "lock:" + name);
                    Await.until("the loss is known", () -> lock.remainingLease().isZero());
                });
            } catch (LockLostException lost) {
                refused.incrementAndGet();
            } finally {
                unlock(lock);
            }
        }
    }

    private static void unlock(NamedLock lock) {
        try {
            lock.unlock();
        } catch (LockLostException expected) {
            // The thread begins anew.
        }
    }

    @Override
    public void close() {
        context.close();
        parent.close();
        factory.destroy();
        redis.close();
    }
}
