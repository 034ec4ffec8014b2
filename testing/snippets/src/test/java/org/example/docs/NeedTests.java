package org.example.docs;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.github.lockboot.DistributedLock;
import io.github.lockboot.FencingToken;
import io.github.lockboot.Lease;
import io.github.lockboot.LockLostException;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.StaleTokenException;
import io.github.lockboot.fencing.JdbcFence;
import io.github.lockboot.fixture.Await;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Service;
import org.springframework.test.context.TestPropertySource;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** What docs/need.md shows. */
@TestPropertySource(
        properties = {
            "spring.datasource.url=jdbc:h2:mem:need;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=20000",
            "spring.datasource.hikari.maximum-pool-size=8",
            "spring.sql.init.schema-locations=classpath:snippets/flash-sale.sql,classpath:snippets/payment.sql"
        })
class NeedTests extends OnRedis {

    @Autowired
    private WithoutLocks plain;

    @Autowired
    private FlashSale sale;

    @Autowired
    private Checkout checkout;

    @Autowired
    private Provider provider;

    @Autowired
    private JdbcTemplate jdbc;

    @Autowired
    private TransactionTemplate transactions;

    @Autowired
    private JdbcFence fence;

    @Autowired
    private DataSource database;

    private final AtomicInteger buyers = new AtomicInteger();

    @BeforeEach
    void begin() {
        for (String table : List.of("item", "item_order", "purchase", "payment")) {
            jdbc.update("delete from " + table);
        }
        for (String table : List.of("article", "task", "lock_fence")) {
            jdbc.execute("drop table if exists " + table);
        }
        jdbc.execute("create table article (id int primary key, text varchar(40), version int)");
        jdbc.execute("create table task (id int primary key, state varchar(9))");
        jdbc.execute(JdbcFence.DDL);
        jdbc.update("insert into item values ('phone', 10)");
        jdbc.update("insert into article values (1, 'draft', 5)");
        jdbc.update("insert into task values (1, 'NEW'), (2, 'NEW')");
        jdbc.update("insert into purchase values ('p1', 'OPEN')");
        provider.forget();
        FlashSale.pause = new CountDownLatch(0);
    }

    // --- what needs no lock -----------------------------------------------------------------------------------

    @Test
    void aUniqueIndexRefusesTheSecondOrderOfABuyer() {
        assertThat(plain.order("phone", "ann")).isTrue();
        assertThat(plain.order("phone", "ann")).isFalse();
        assertThat(plain.order("phone", "bob")).isTrue();
    }

    @Test
    void aVersionRefusesTheEditThatDidNotSeeTheOtherOne() {
        assertThat(plain.save(1, "ann's", 5)).isTrue();
        assertThat(plain.save(1, "bob's", 5)).isFalse();
        assertThat(jdbc.queryForObject("select text from article", String.class))
                .isEqualTo("ann's");
    }

    @Test
    void aConditionalUpdateSellsWhatThereIsAndNoMore() throws Exception {
        List<Boolean> taken = atOnce(32, () -> plain.take("phone"));
        assertThat(taken).filteredOn(each -> each).hasSize(10);
        assertThat(left()).isZero();
    }

    @Test
    void twoWorkersTakeDifferentTasks() {
        List<Integer> first = new ArrayList<>();
        List<Integer> second = new ArrayList<>();
        transactions.executeWithoutResult(one -> {
            plain.next().forEach(first::add);
            CompletableFuture.runAsync(() -> transactions.executeWithoutResult(
                            two -> plain.next().forEach(second::add)))
                    .join();
        });
        assertThat(first).containsExactly(1);
        assertThat(second).containsExactly(2);
    }

    // --- a flash sale -----------------------------------------------------------------------------------------

    @Test
    void theSaleSellsWhatThereIsOnceToEachBuyer() throws Exception {
        List<String> outcomes =
                atOnce(24, () -> outcome(() -> sale.buy("phone", "buyer-" + buyers.incrementAndGet() % 12)));
        while (left() > 0 && buyers.get() < 1000) { // who was refused tries again
            outcomes.add(outcome(() -> sale.buy("phone", "late-" + buyers.incrementAndGet())));
        }
        assertThat(outcomes).filteredOn("bought"::equals).hasSize(10);
        assertThat(count("item_order")).isEqualTo(10);
        assertThat(left()).isZero();
        assertThat(sale.buy("phone", "too late")).isFalse();
    }

    @Test
    void aSecondOrderOfABuyerGivesTheItemBack() {
        assertThat(sale.buy("phone", "ann")).isTrue();
        assertThatExceptionOfType(DuplicateKeyException.class).isThrownBy(() -> sale.buy("phone", "ann"));
        assertThat(left()).isEqualTo(9);
    }

    /** The lock is the throttle, the database the guarantee: here Redis forgets the lock, and two sell at once. */
    @Test
    void theSaleIsRightAlsoIfTheLockIsLost() throws Exception {
        jdbc.update("update item set amount = 1");
        FlashSale.pause = new CountDownLatch(1);
        CompletableFuture<String> paused = CompletableFuture.supplyAsync(() -> outcome(() -> sale.buy("phone", "ann")));
        Await.until("the first is in the sale", () -> FlashSale.inside.get() == 1);
        redis("DEL", "lock:sale:phone");
        try (Lease other = anotherInstance().acquire("sale:phone")) {
            assertThat(other.isValid()).isTrue();
            assertThat(plain.take("phone")).isTrue();
        }
        FlashSale.pause.countDown();
        assertThat(paused.get(60, TimeUnit.SECONDS)).isNotEqualTo("bought");
        assertThat(left()).isZero();
        assertThat(count("item_order")).isZero();
    }

    @Test
    void buyersWhoWaitHaveNoConnectionAndFurtherOnesAreRefusedAtOnce() throws Exception {
        FlashSale.pause = new CountDownLatch(1);
        CompletableFuture<?> first = CompletableFuture.runAsync(() -> sale.buy("phone", "first"));
        Await.until("the first is in the sale", () -> FlashSale.inside.get() == 1);
        AtomicBoolean ended = new AtomicBoolean();
        List<Thread> waiting = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            Thread buyer = new Thread(() -> {
                while (!ended.get()) { // as long as it takes to begin them all
                    outcome(() -> sale.buy("phone", "buyer-" + buyers.incrementAndGet()));
                }
            });
            buyer.start();
            waiting.add(buyer);
        }
        Await.until(
                "a further one is refused",
                () -> outcome(() -> sale.buy("phone", "further")).contains("wait for it already: 20"));
        assertThat(connectionsInUse()).isOne();
        ended.set(true);
        FlashSale.pause.countDown();
        first.get(60, TimeUnit.SECONDS);
        for (Thread buyer : waiting) {
            buyer.join(60_000);
        }
    }

    private int connectionsInUse() throws Exception {
        return database.unwrap(HikariDataSource.class).getHikariPoolMXBean().getActiveConnections();
    }

    private static String outcome(BooleanSupplier buy) {
        try {
            return buy.getAsBoolean() ? "bought" : "sold out";
        } catch (LockNotAcquiredException | DuplicateKeyException | LockLostException refused) {
            return refused.getMessage();
        }
    }

    private int left() {
        return jdbc.queryForObject("select amount from item where sku = 'phone'", Integer.class);
    }

    private int count(String table) {
        return jdbc.queryForObject("select count(*) from " + table, Integer.class);
    }

    // --- a payment --------------------------------------------------------------------------------------------

    @Test
    void callersAtOnceAreChargedOnce() throws Exception {
        assertThat(atOnce(8, () -> checkout.pay("p1", 100, 0))).containsOnly("charge-p1");
        assertThat(provider.requests).hasValue(1);
        assertThat(state()).isEqualTo("PAID");
    }

    @Test
    void aCallerThatDiedAfterTheChargeIsFollowedByOneThatDoesNotChargeAgain() {
        provider.losesItsReply = true;
        assertThatIllegalStateException().isThrownBy(() -> checkout.pay("p1", 100, 0));
        assertThat(state()).isEqualTo("OPEN");
        provider.losesItsReply = false;
        assertThat(checkout.pay("p1", 100, 0)).isEqualTo("charge-p1");
        assertThat(provider.charges).hasSize(1);
        assertThat(state()).isEqualTo("PAID");
    }

    @Test
    void aWriterWithoutTheLockIsRefusedByThePrimaryKeyOrRefusesThePayer() throws Exception {
        CompletableFuture<Throwable> paused = payAndPause();
        jdbc.update("insert into payment values ('p1', 'by an import')");
        provider.goOn.countDown();
        assertThat(paused.get(60, TimeUnit.SECONDS)).hasCauseInstanceOf(DuplicateKeyException.class);
        assertThat(state()).isEqualTo("OPEN");
    }

    @Test
    void aPayerThatWasPausedForTooLongDoesNotPayWhatIsCancelled() throws Exception {
        CompletableFuture<Throwable> paused = payAndPause();
        redis("DEL", "lock:purchase:p1"); // as when its lease had ended
        Checkout elsewhere = new Checkout(provider, jdbc, fence, transactions);
        try (Lease next = anotherInstance().acquire("purchase:p1")) {
            transactions.executeWithoutResult(status -> elsewhere.cancel("p1", next.fencingToken()));
        }
        provider.goOn.countDown();
        assertThat(paused.get(60, TimeUnit.SECONDS)).hasCauseInstanceOf(StaleTokenException.class);
        assertThat(state()).isEqualTo("CANCELLED");
        assertThat(count("payment")).isZero();
        assertThat(provider.charges).as("to be refunded").containsKey("p1");
    }

    @Test
    void whatIsCancelledIsNotChargedAndWhatIsPaidIsNotCancelled() {
        checkout.cancel("p1", 0);
        assertThatIllegalStateException().isThrownBy(() -> checkout.pay("p1", 100, 0));
        assertThat(provider.charges).isEmpty();
        jdbc.update("insert into purchase values ('p2', 'OPEN')");
        checkout.pay("p2", 100, 0);
        assertThatIllegalStateException().isThrownBy(() -> checkout.cancel("p2", 0));
    }

    private CompletableFuture<Throwable> payAndPause() throws InterruptedException {
        provider.goOn = new CountDownLatch(1);
        CompletableFuture<Throwable> paused =
                CompletableFuture.supplyAsync(() -> checkout.pay("p1", 100, 0)).handle((charge, failure) -> failure);
        assertThat(provider.asked.await(60, TimeUnit.SECONDS)).isTrue();
        return paused;
    }

    private String state() {
        return jdbc.queryForObject("select state from purchase where id = 'p1'", String.class);
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import({WithoutLocks.class, FlashSale.class, Checkout.class, Provider.class})
    static class Application {

        @Bean
        JdbcFence jdbcFence(DataSource database) {
            return new JdbcFence(database);
        }
    }
}

class WithoutLocks {

    private final JdbcTemplate jdbc;

    WithoutLocks(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
    }

    boolean order(String sku, String buyer) {
        // tag::unique
        try {
            jdbc.update("insert into item_order (sku, buyer) values (?, ?)", sku, buyer);
            return true;
        } catch (DuplicateKeyException ordered) { // the primary key is (sku, buyer)
            return false;
        }
        // end::unique
    }

    boolean save(int id, String text, int versionRead) {
        // tag::version
        int saved = jdbc.update(
                "update article set text = ?, version = version + 1 where id = ? and version = ?",
                text,
                id,
                versionRead);
        boolean late = saved == 0; // another edit was saved since: read it, and show both
        // end::version
        return !late;
    }

    boolean take(String sku) {
        // tag::conditional
        boolean taken = jdbc.update("update item set amount = amount - 1 where sku = ? and amount > 0", sku) == 1;
        // end::conditional
        return taken;
    }

    List<Integer> next() {
        // tag::queue
        List<Integer> tasks = jdbc.queryForList(
                "select id from task where state = 'NEW' order by id fetch first 1 row only for update skip locked",
                Integer.class); // work on them in this transaction: no other worker gets them until it ends
        // end::queue
        return tasks;
    }
}

@Service
class FlashSale {

    private final JdbcTemplate jdbc;

    FlashSale(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
    }

    // tag::sale
    @DistributedLock(name = "sale", key = "#sku", waitTime = "1s", maxWaiting = "20") // the throttle
    @Transactional
    public boolean buy(String sku, String buyer) {
        // end::sale
        pause();
        // tag::sale
        if (jdbc.update("update item set amount = amount - 1 where sku = ? and amount > 0", sku) == 0) {
            return false; // sold out
        }
        jdbc.update("insert into item_order (sku, buyer) values (?, ?)", sku, buyer); // a second one rolls back
        return true;
    }
    // end::sale

    static final AtomicInteger inside = new AtomicInteger();
    static volatile CountDownLatch pause = new CountDownLatch(0);

    private static void pause() {
        inside.incrementAndGet();
        try {
            pause.await(60, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        } finally {
            inside.decrementAndGet();
        }
    }
}

class Provider {

    final Map<String, String> charges = new ConcurrentHashMap<>();
    final AtomicInteger requests = new AtomicInteger();
    volatile boolean losesItsReply;
    volatile CountDownLatch asked = new CountDownLatch(1);
    volatile CountDownLatch goOn = new CountDownLatch(0);

    void forget() {
        charges.clear();
        requests.set(0);
        losesItsReply = false;
        asked = new CountDownLatch(1);
        goOn = new CountDownLatch(0);
    }

    /** Charges once for an idempotency key, as providers do. */
    String charge(String idempotencyKey, long cents) {
        requests.incrementAndGet();
        String charge = charges.computeIfAbsent(idempotencyKey, key -> "charge-" + key);
        asked.countDown();
        try {
            goOn.await(60, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        if (losesItsReply || cents == 0) {
            throw new IllegalStateException("no reply");
        }
        return charge;
    }
}

@Service
class Checkout {

    private final Provider provider;
    private final JdbcTemplate jdbc;
    private final JdbcFence fence;
    private final TransactionTemplate transactions;

    Checkout(Provider provider, JdbcTemplate jdbc, JdbcFence fence, TransactionTemplate transactions) {
        this.provider = provider;
        this.jdbc = jdbc;
        this.fence = fence;
        this.transactions = transactions;
    }

    // tag::payment
    @DistributedLock(name = "purchase", key = "#id")
    public String pay(String id, long cents, @FencingToken long token) { // called as pay(id, cents, 0)
        for (String charge : jdbc.queryForList("select charge from payment where purchase_id = ?", String.class, id)) {
            return charge; // it has been paid
        }
        if (!"OPEN".equals(jdbc.queryForObject("select state from purchase where id = ?", String.class, id))) {
            throw new IllegalStateException("purchase " + id + " cannot be paid");
        }
        String charge = provider.charge(id, cents); // id is the idempotency key; no transaction is open
        transactions.executeWithoutResult(status -> {
            fence.check("purchase:" + id, token); // refuses a caller that was paused for too long
            jdbc.update("insert into payment (purchase_id, charge) values (?, ?)", id, charge);
            jdbc.update("update purchase set state = 'PAID' where id = ?", id);
        });
        return charge;
    }

    @DistributedLock(name = "purchase", key = "#id") // the same lock
    @Transactional
    public void cancel(String id, @FencingToken long token) {
        fence.check("purchase:" + id, token);
        if (jdbc.update("update purchase set state = 'CANCELLED' where id = ? and state = 'OPEN'", id) == 0) {
            throw new IllegalStateException("purchase " + id + " cannot be cancelled");
        }
    }
    // end::payment
}
