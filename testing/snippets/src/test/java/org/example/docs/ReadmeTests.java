package org.example.docs;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.redis.RedisLock;
import io.github.lockboot.redis.RedisLockRegistry;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.stereotype.Service;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

import static org.assertj.core.api.Assertions.assertThat;

/** What the READMEs and the first pages show. */
class ReadmeTests extends OnRedis {

    @Autowired
    private RedPacketService service;

    @Autowired
    private Grabs grabs;

    @Autowired
    private TicketWindow window;

    @Autowired
    private RedisLock ticketLock;

    private final Orders repository = new Orders();
    private final Map<String, Token> cache = new ConcurrentHashMap<>();
    private final TokenApi api = new TokenApi();

    @Test
    void manyGrabsAtOnceOpenOneRedPacket() throws Exception {
        List<Grab> all = atOnce(16, () -> service.grab("packet", "somebody"));
        assertThat(all).hasSize(16).containsOnly(all.get(0));
        assertThat(grabs.opened()).isOne();
    }

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

    @Test
    void contentionAndOutageAreTwoAnswers() throws Exception {
        CountDownLatch done = new CountDownLatch(1);
        LockFailures failures = new LockFailures();
        registry.get("taken").lock();
        Thread second = new Thread(() -> {
            try {
                template.execute("taken", ONCE, () -> "never");
            } catch (LockNotAcquiredException held) {
                assertThat(failures.busy(held).getStatusCode()).isEqualTo(HttpStatus.CONFLICT);
                done.countDown();
            }
        });
        second.start();
        assertThat(done.await(60, TimeUnit.SECONDS)).isTrue();
        registry.get("taken").unlock();
        assertThat(failures.redisIsOut(new LockUnavailableException("taken", "Redis did not answer", null))
                        .getStatusCode())
                .isEqualTo(HttpStatus.SERVICE_UNAVAILABLE);
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
    @Import({RedPacketService.class, Grabs.class, TicketWindow.class, TicketLocks.class})
    static class Application {}
}

record Grab(String redPacketId, String openid) {}

/** As unprotected as what a database does between a select and an insert. */
class Grabs {
    private final Map<String, Grab> all = new HashMap<>();
    private int opened;

    Optional<Grab> find(String redPacketId, String openid) {
        return Optional.ofNullable(all.get(redPacketId + openid));
    }

    Grab open(String redPacketId, String openid) {
        Thread.yield();
        opened++;
        Grab grab = new Grab(redPacketId, openid);
        all.put(redPacketId + openid, grab);
        return grab;
    }

    int opened() {
        return opened;
    }
}

// tag::annotation
@Service
class RedPacketService {

    // end::annotation
    private final Grabs grabs;

    RedPacketService(Grabs grabs) {
        this.grabs = grabs;
    }

    // tag::annotation
    @DistributedLock(name = "packet", key = "#openid+#redPacketId")
    public Grab grab(String redPacketId, String openid) {
        // a second caller waits up to lock.wait-time (10 s by default), then gets LockNotAcquiredException
        return grabs.find(redPacketId, openid).orElseGet(() -> grabs.open(redPacketId, openid));
    }
}
// end::annotation

// tag::failures
@RestControllerAdvice
class LockFailures {

    @ExceptionHandler
    ResponseEntity<String> busy(LockNotAcquiredException held) {
        return ResponseEntity.status(HttpStatus.CONFLICT).body("another request holds the lock");
    }

    @ExceptionHandler
    ResponseEntity<String> redisIsOut(LockUnavailableException outage) {
        return ResponseEntity.status(HttpStatus.SERVICE_UNAVAILABLE).body("try again later");
    }
}
// end::failures

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
