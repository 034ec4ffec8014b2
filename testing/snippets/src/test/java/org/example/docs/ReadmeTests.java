package org.example.docs;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;

import io.github.lockboot.redis.RedisLock;
import io.github.lockboot.redis.RedisLockRegistry;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.stereotype.Service;

import static org.assertj.core.api.Assertions.assertThat;

/** What docs/getting-started.md and docs/api.md show of a lock in code. */
class ReadmeTests extends OnRedis {

    @Autowired
    private TicketWindow window;

    @Autowired
    private RedisLock ticketLock;

    private final Orders repository = new Orders();
    private final Map<String, Token> cache = new ConcurrentHashMap<>();
    private final TokenApi api = new TokenApi();

    @Test
    void aLockIsALock() throws Exception {
        String id = "4711";
        Order order = new Order(id);
        // tag::lock
        RedisLock lock = registry.get("order:" + id); // a java.util.concurrent.locks.Lock
        if (lock.tryLock(5, TimeUnit.SECONDS)) {
            try {
                repository.save(order, lock.fencingToken()); // the resource refuses smaller tokens
            } finally {
                lock.unlock();
            }
        }
        // end::lock
        assertThat(repository.token).isPositive();
        assertThat(lock.isLocked()).isFalse();
    }

    @Test
    void aLockIsABeanOfTheApplication() throws Exception {
        List<Integer> sold = atOnce(16, () -> window.sell());
        assertThat(sold).doesNotHaveDuplicates();
        assertThat(ticketLock.key()).isEqualTo("lock:tickets");
        assertThat(ticketLock.isLocked()).isFalse();
    }

    @Test
    void theTemplateRunsAnActionUnderTheLock() {
        String id = "4712";
        Order order = new Order(id);
        // tag::template
        Receipt receipt = template.execute("order:" + id, () -> pay(order));
        // end::template
        assertThat(receipt.underLock()).isTrue();
    }

    @Test
    void aLeaseBelongsToNoThread() {
        // tag::lease
        CompletableFuture<Report> report = registry.acquireAsync("report")
                .thenCompose(lease -> build().whenComplete((result, failure) -> lease.close()));
        // end::lease
        assertThat(report.orTimeout(60, TimeUnit.SECONDS).join().underLock()).isTrue();
        assertThat(registry.get("report").isLocked()).isFalse();
    }

    @Test
    void aFleetFetchesATokenOnce() throws Exception {
        String app = "shop";
        List<Token> tokens = atOnce(16, () -> {
            // tag::flight
            Token token = template.singleFlight(
                    "token:" + app,
                    () -> cache.get(app), // null if it is not there
                    () -> put(app, api.fetchToken(app))); // run by one caller; the others wait, then look again
            // end::flight
            return token;
        });
        assertThat(tokens).hasSize(16).containsOnly(tokens.get(0));
        assertThat(api.fetched.get()).isOne();
    }

    private Receipt pay(Order order) {
        return new Receipt(registry.get("order:" + order.id()).isHeldByCurrentThread());
    }

    private CompletableFuture<Report> build() {
        return CompletableFuture.supplyAsync(
                () -> new Report(registry.get("report").isLocked()));
    }

    private Token put(String app, Token token) {
        cache.put(app, token);
        return token;
    }

    record Order(String id) {}

    record Receipt(boolean underLock) {}

    record Report(boolean underLock) {}

    record Token(String text) {}

    private static final class Orders {
        private long token;

        void save(Order order, long fencingToken) {
            assertThat(order.id()).isNotEmpty();
            token = fencingToken;
        }
    }

    private static final class TokenApi {
        private final AtomicInteger fetched = new AtomicInteger();

        Token fetchToken(String app) {
            return new Token(app + " " + fetched.incrementAndGet());
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import({TicketWindow.class, TicketLocks.class})
    static class Application {}
}

// tag::bean
@Configuration(proxyBeanMethods = false)
class TicketLocks {

    @Bean
    RedisLock ticketLock(RedisLockRegistry locks) {
        return locks.get("tickets");
    }
}

@Service
class TicketWindow {

    private final Lock lock; // a java.util.concurrent.locks.Lock, held by one thread of all instances
    // end::bean
    private int sold;

    // tag::bean

    TicketWindow(RedisLock ticketLock) {
        this.lock = ticketLock;
    }

    int sell() {
        lock.lock();
        try {
            return sellNext();
        } finally {
            lock.unlock();
        }
    }
    // end::bean

    private int sellNext() {
        int next = sold + 1;
        Thread.yield();
        sold = next;
        return next;
    }
    // tag::bean
}
// end::bean
