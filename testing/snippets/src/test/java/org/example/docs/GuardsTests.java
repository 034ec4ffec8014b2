package org.example.docs;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.lockboot.DistributedLock;
import io.github.lockboot.DistributedLock.KeepOn;
import io.github.lockboot.LockNotAcquiredException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.annotation.AliasFor;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Component;
import org.springframework.stereotype.Service;
import org.springframework.test.context.TestPropertySource;
import org.springframework.transaction.annotation.Transactional;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** What docs/guards.md shows. */
@TestPropertySource(
        properties = {
            "spring.datasource.url=jdbc:h2:mem:guards",
            "spring.sql.init.schema-locations=classpath:snippets/answered.sql"
        })
class GuardsTests extends OnRedis {

    private static final AtomicInteger users = new AtomicInteger();

    @Autowired
    private CurrentUser user;

    @Autowired
    private Orders orders;

    @Autowired
    private Transfers transfers;

    @Autowired
    private JdbcTemplate jdbc;

    @BeforeEach
    void begin() {
        user.id = "user-" + users.incrementAndGet();
        Orders.placed.set(0);
        Transfers.failsBeforeTheCommit = false;
        jdbc.execute("create table if not exists booking (account varchar(40), cents bigint)");
        jdbc.update("delete from booking");
        jdbc.update("delete from answered");
    }

    // --- submitted once -----------------------------------------------------------------------------------------

    @Test
    void theSameOrderOfAUserIsSubmittedOnceWithinTheTime() {
        orders.submit(new Order("pen", 2));
        assertThatExceptionOfType(LockNotAcquiredException.class)
                .isThrownBy(() -> orders.submit(new Order("pen", 2)))
                .satisfies(refusal -> {
                    assertThat(refusal.getMessage()).doesNotContain("pen");
                    assertThat(refusal.getUserMessage()).isEqualTo("This has been submitted already.");
                    assertThat(refusal.getRetryAfter()).isBetween(Duration.ofSeconds(1), Duration.ofSeconds(31));
                });
        assertThat(Orders.placed).hasValue(1);
    }

    @Test
    void anotherOrderAndAnotherUserAreNotRefused() {
        orders.submit(new Order("pen", 2));
        orders.submit(new Order("pen", 3));
        user.id = user.id + "-friend";
        orders.submit(new Order("pen", 2));
        assertThat(Orders.placed).hasValue(3);
    }

    @Test
    void anOrderThatFailedIsSubmittedAgainAtOnce() {
        assertThatIllegalStateException().isThrownBy(() -> orders.submit(new Order("sold out", 1)));
        assertThatIllegalStateException().isThrownBy(() -> orders.submit(new Order("sold out", 1)));
    }

    @Test
    void withoutAWaitTimeOfZeroTheRepetitionWaitsAndIsDone() {
        orders.submitPatiently("7");
        orders.submitPatiently("7");
        assertThat(Orders.placed)
                .as("two orders, the second one after the time")
                .hasValue(2);
    }

    // --- answered again -----------------------------------------------------------------------------------------

    @Test
    void aRequestThatIsSentAgainIsDoneOnceAndAnsweredTheSame() throws Exception {
        List<String> answers = atOnce(16, () -> transfers.transfer("r-1", new Transfer("a", 100)));
        assertThat(Set.copyOf(answers)).containsExactly("a has 100");
        assertThat(transfers.transfer("r-1", new Transfer("a", 100))).isEqualTo("a has 100");
        assertThat(transfers.transfer("r-2", new Transfer("a", 100))).isEqualTo("a has 200");
        assertThat(bookings()).isEqualTo(2);
    }

    @Test
    void anotherRequestWithTheSameIdIsRefused() {
        transfers.transfer("r-1", new Transfer("a", 100));
        assertThatIllegalStateException().isThrownBy(() -> transfers.transfer("r-1", new Transfer("a", 999)));
        assertThat(bookings()).isEqualTo(1);
    }

    @Test
    void aRequestThatFailedLeavesNeitherBookingNorAnswerAndIsDoneWhenItIsSentAgain() {
        Transfers.failsBeforeTheCommit = true;
        assertThatIllegalStateException().isThrownBy(() -> transfers.transfer("r-1", new Transfer("a", 100)));
        assertThat(bookings()).isZero();
        Transfers.failsBeforeTheCommit = false;
        assertThat(transfers.transfer("r-1", new Transfer("a", 100))).isEqualTo("a has 100");
    }

    /** As after the loss of a lock: another one has stored its answer since this one looked. */
    @Test
    void thePrimaryKeyRefusesASecondAnswerAndItsBookingIsRolledBack() throws Exception {
        Transfers.looked = new CountDownLatch(1);
        Transfers.goOn = new CountDownLatch(1);
        CompletableFuture<String> late =
                CompletableFuture.supplyAsync(() -> transfers.transfer("r-1", new Transfer("a", 100)));
        assertThat(Transfers.looked.await(60, TimeUnit.SECONDS)).isTrue();
        jdbc.update("insert into answered (request_id, digest, answer) values ('r-1', 'x', 'of the other')");
        Transfers.goOn.countDown();
        assertThat(late.handle((answer, failure) -> failure).get(60, TimeUnit.SECONDS))
                .hasCauseInstanceOf(DuplicateKeyException.class);
        assertThat(bookings()).isZero();
    }

    private int bookings() {
        return jdbc.queryForObject("select count(*) from booking", Integer.class);
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import({CurrentUser.class, Digest.class, Orders.class, Transfers.class})
    static class Application {}
}

// tag::annotation
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@DistributedLock(waitTime = "0", keepOn = KeepOn.SUCCESS)
@interface SubmitOnce {

    @AliasFor(annotation = DistributedLock.class)
    String name();

    @AliasFor(annotation = DistributedLock.class)
    String[] key();

    @AliasFor(annotation = DistributedLock.class, attribute = "keepFor")
    String within() default "5s";

    @AliasFor(annotation = DistributedLock.class)
    String message() default "This has been submitted already.";
}
// end::annotation

@Component("currentUser")
class CurrentUser {

    volatile String id = "";

    public String id() {
        return id;
    }
}

record Order(String product, int count) {}

// tag::digest
@Component("digest")
class Digest {

    private final ObjectMapper json;

    Digest(ObjectMapper json) {
        this.json = json;
    }

    public String of(Object body) {
        byte[] text = json.valueToTree(body).toString().getBytes(StandardCharsets.UTF_8);
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(text));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e); // every JDK has SHA-256
        }
    }
}
// end::digest

@Service
class Orders {

    static final AtomicInteger placed = new AtomicInteger();

    // tag::submit
    @SubmitOnce(
            name = "submit-order",
            key = {"@currentUser.id()", "@digest.of(#order)"},
            within = "30s")
    public void submit(Order order) {
        place(order);
    }
    // end::submit

    @DistributedLock(name = "submit-patiently", key = "#id", keepFor = "1s", keepOn = KeepOn.SUCCESS)
    public void submitPatiently(String id) {
        place(new Order(id, 1));
    }

    private void place(Order order) {
        if (order.product().equals("sold out")) {
            throw new IllegalStateException("sold out");
        }
        placed.incrementAndGet();
    }
}

record Transfer(String account, long cents) {}

// tag::idempotent
@Service
class Transfers {

    private final JdbcTemplate jdbc;
    private final Digest digest;

    Transfers(JdbcTemplate jdbc, Digest digest) {
        this.jdbc = jdbc;
        this.digest = digest;
    }

    record Stored(String digest, String answer) {}

    @DistributedLock(name = "transfer-request", key = "#requestId")
    @Transactional
    public String transfer(String requestId, Transfer transfer) { // requestId: the header Idempotency-Key
        String body = digest.of(transfer);
        for (Stored stored : stored(requestId)) {
            if (!stored.digest().equals(body)) {
                throw new IllegalStateException("Idempotency-Key " + requestId + " is that of another request");
            }
            return stored.answer();
        }
        String answer = book(transfer);
        jdbc.update("insert into answered (request_id, digest, answer) values (?, ?, ?)", requestId, body, answer);
        return answer;
    }

    private List<Stored> stored(String requestId) {
        return jdbc.query(
                "select digest, answer from answered where request_id = ?",
                (row, number) -> new Stored(row.getString(1), row.getString(2)),
                requestId);
    }
    // end::idempotent

    static volatile boolean failsBeforeTheCommit;
    static volatile CountDownLatch looked = new CountDownLatch(0);
    static volatile CountDownLatch goOn = new CountDownLatch(0);

    private String book(Transfer transfer) {
        looked.countDown();
        try {
            goOn.await(60, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        jdbc.update("insert into booking (account, cents) values (?, ?)", transfer.account(), transfer.cents());
        if (failsBeforeTheCommit) {
            throw new IllegalStateException("refused");
        }
        Long sum =
                jdbc.queryForObject("select sum(cents) from booking where account = ?", Long.class, transfer.account());
        return transfer.account() + " has " + sum;
    }
    // tag::idempotent
}
// end::idempotent
