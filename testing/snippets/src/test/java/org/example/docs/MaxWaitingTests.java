package org.example.docs;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.DistributedLock.IfNotAcquired;
import io.github.lockboot.Lease;
import io.github.lockboot.LockNotAcquiredException;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** What docs/annotation.md shows of queues that refuse, or coalesce. */
class MaxWaitingTests extends OnRedis {

    @Autowired
    private Work work;

    @Test
    void theTwentyFirstThatWouldWaitIsRefused() throws Exception {
        Lease held = registry.acquire("account:a");
        CompletableFuture<?>[] waiting = new CompletableFuture<?>[20];
        for (int i = 0; i < waiting.length; i++) {
            waiting[i] = registry.acquireAsync("account:a").thenAccept(Lease::close);
        }
        assertThatExceptionOfType(LockNotAcquiredException.class)
                .isThrownBy(() -> work.book("a"))
                .withMessageContaining("wait for it already: 20");
        held.close();
        CompletableFuture.allOf(waiting).join();
        work.book("a");
    }

    @Test
    void oneWaitsAndTheNextReturns() throws Exception {
        Lease held = registry.acquire("reindex");
        CompletableFuture<Void> waits = registry.acquireAsync("reindex").thenAccept(Lease::close);
        work.reindex();
        assertThat(Work.runs).isZero();
        held.close();
        waits.join();
        work.reindex();
        assertThat(Work.runs).isOne();
    }

    static class Work {

        static int runs;

        private final List<String> ledger = new ArrayList<>();

        // tag::refuses
        @DistributedLock(name = "account", key = "#account", maxWaiting = "20")
        public void book(String account) {
            ledger.add(account);
        }
        // end::refuses

        // tag::coalesces
        @DistributedLock(name = "reindex", maxWaiting = "1", waitTime = "10m", ifNotAcquired = IfNotAcquired.SKIP)
        public void reindex() {
            rebuild();
        }
        // end::coalesces

        private void rebuild() {
            runs++;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Work.class)
    static class Application {}
}
