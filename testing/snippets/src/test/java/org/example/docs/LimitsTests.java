package org.example.docs;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockboot.LockOptions;
import io.github.lockboot.LockTemplate;
import io.github.lockboot.fixture.Await;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.stereotype.Component;

import static org.assertj.core.api.Assertions.assertThat;

/** What docs/recipes.md shows of a scheduler that runs at most n tasks of each type in all instances. */
class LimitsTests extends OnRedis {

    @Autowired
    private TaskRunner here;

    @Test
    void atMostSoManyOfATypeRunInAllInstancesAndTheOthersAreLeftForLater() throws Exception {
        TaskRunner there = new TaskRunner(new LockTemplate(anotherInstance()));
        List<Thread> workers = new ArrayList<>();
        AtomicInteger later = new AtomicInteger();
        for (int i = 0; i < 10; i++) {
            TaskRunner runner = i % 2 == 0 ? here : there;
            QueuedTask task = new QueuedTask(i < 6 ? "mail" : "report");
            Thread worker = new Thread(() -> {
                if (!runner.run(task)) {
                    later.incrementAndGet();
                }
            });
            worker.start();
            workers.add(worker);
        }
        Await.until("those without a permit are back", () -> later.get() == 10 - 3 - 1);
        assertThat(QueuedTask.running.get("mail")).hasValue(3);
        assertThat(QueuedTask.running.get("report")).hasValue(1);
        QueuedTask.end.countDown();
        for (Thread worker : workers) {
            worker.join(60_000);
        }
        assertThat(here.run(new QueuedTask("report"))).isTrue();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(TaskRunner.class)
    static class Application {}
}

record QueuedTask(String type) {

    static final Map<String, AtomicInteger> running = new ConcurrentHashMap<>();
    static final CountDownLatch end = new CountDownLatch(1);

    void work() {
        AtomicInteger ofThisType = running.computeIfAbsent(type, first -> new AtomicInteger());
        ofThisType.incrementAndGet();
        try {
            end.await(60, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        } finally {
            ofThisType.decrementAndGet();
        }
    }
}

// tag::limits
@Component
class TaskRunner {

    private static final Map<String, Integer> LIMITS = Map.of("mail", 3, "report", 1);

    private final LockTemplate locks;

    TaskRunner(LockTemplate locks) {
        this.locks = locks;
    }

    boolean run(QueuedTask task) { // false: all permits of its type are taken, try again later
        LockOptions limit = LockOptions.defaults()
                .withGroup("task-" + task.type())
                .withPermits(LIMITS.get(task.type()))
                .withWaitTime(Duration.ZERO);
        return locks.tryExecute("task-type:" + task.type(), limit, () -> {
                    task.work();
                    return true;
                })
                .isAcquired();
    }
}
// end::limits
