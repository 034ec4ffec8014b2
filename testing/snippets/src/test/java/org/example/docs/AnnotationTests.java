package org.example.docs;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.DistributedLock.KeepOn;
import io.github.lockboot.DistributedLock.Mode;
import io.github.lockboot.FencingToken;
import io.github.lockboot.Lease;
import io.github.lockboot.LockAssert;
import io.github.lockboot.LockContext;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.ScheduledLock;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.annotation.AliasFor;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** What docs/annotation.md shows. */
class AnnotationTests extends OnRedis {

    @Autowired
    private AnnotatedWork work;

    @Test
    void keysAreJoinedAfterTheName() {
        work.grab("p1", "o1");
        assertThat(work.seen()).containsExactly("packet:o1:p1");
    }

    @Test
    void aSecondSubmitIsRefused() {
        work.submit("7");
        assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> work.submit("7"));
        assertThat(work.seen()).containsExactly("submit:7");
    }

    @Test
    void theNightlyRunIsSkippedWhereAnotherHasDoneIt() throws Exception {
        try (Lease other = anotherInstance().acquire("nightly", ONCE)) {
            work.nightly();
            assertThat(other.isValid()).isTrue();
        }
        assertThat(work.seen()).isEmpty();
        work.nightly();
        assertThat(work.seen()).containsExactly("nightly");
    }

    @Test
    void eachElementIsLocked() {
        work.reserve(List.of("pen", "ink"));
        assertThat(work.seen()).containsExactly("stock:ink", "stock:pen");
        work.reserve(List.of());
    }

    @Test
    void aReportRunsBesideReadersOfAnotherInstanceAndTheImportDoesNot() throws Exception {
        Lease reader = anotherInstance().acquire("prices", ONCE.shared());
        assertThat(work.report().text()).isEqualTo("prices");
        CompletableFuture<Void> imported = CompletableFuture.runAsync(work::importPrices);
        assertThatExceptionOfType(TimeoutException.class).isThrownBy(() -> imported.get(200, TimeUnit.MILLISECONDS));
        reader.close();
        imported.get(60, TimeUnit.SECONDS);
        assertThat(work.seen()).containsExactly("prices", "prices");
    }

    @Test
    void beside5CallsOfAnotherInstanceThePartnerIsNotAsked() throws Exception {
        LockRegistry other = anotherInstance();
        List<Lease> calls = new ArrayList<>();
        for (int call = 0; call < 5; call++) {
            calls.add(other.acquire("partner", ONCE.withPermits(5)));
        }
        assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> work.askPartner("open?"));
        calls.get(2).close();
        assertThat(work.askPartner("open?")).isEqualTo("yes");
        assertThat(work.seen()).containsExactly("partner");
        calls.forEach(Lease::close);
    }

    @Test
    void theFallbackAnswersForWhoComesTooLate() throws Exception {
        assertThat(work.quote("eur")).isEqualTo("fresh eur");
        try (Lease other = anotherInstance().acquire("quote:eur", ONCE)) {
            assertThat(work.quote("eur")).isEqualTo("yesterday's eur");
            assertThat(other.isValid()).isTrue();
        }
    }

    @Test
    void smallAmountsAreNotLocked() {
        work.transfer("a", 50);
        assertThat(work.seen()).containsExactly("none");
        work.transfer("a", 500);
        assertThat(work.seen()).containsExactly("none", "account:a");
    }

    @Test
    void theTokenComesAsAParameter() {
        long token = work.write("x", 0);
        assertThat(work.write("x", 0)).isGreaterThan(token);
    }

    @Test
    void anAnnotationOfOnesOwnStandsForIt() {
        work.ship("9");
        assertThat(work.seen()).containsExactly("order:9");
    }

    @Test
    void theBodyKnowsItsLock() {
        work.insist("5");
        assertThat(work.seen()).containsExactly("order:5");
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(AnnotatedWork.class)
    static class Application {}

    @BeforeEach
    void forget() {
        work.seen().clear();
    }
}

// tag::composed
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@DistributedLock(name = "order", waitTime = "2s")
@interface OrderLock {

    @AliasFor(annotation = DistributedLock.class)
    String[] key();
}
// end::composed

class AnnotatedWork {

    private final List<String> seen = new ArrayList<>();

    List<String> seen() {
        return seen;
    }

    private void see(Object... whatever) {
        assertThat(whatever).doesNotContainNull();
        seen.add(LockContext.find().map(LockContext::name).orElse("none"));
    }

    record Report(String text) {}

    private Report build() {
        see();
        return new Report("prices");
    }

    private void load() {
        see();
    }

    private interface Partner {
        String answer(String question);
    }

    private final Partner partner = question -> {
        see(question);
        return "yes";
    };

    private void open(String redPacketId, String openid) {
        see(redPacketId, openid);
    }

    private void place(String orderId) {
        see(orderId);
    }

    private void settle() {
        see();
    }

    private void take(List<String> skus) {
        skus.stream()
                .sorted()
                .forEach(sku -> seen.add(LockContext.current("stock:" + sku).name()));
    }

    private void book(String account, long amount) {
        see(account, amount);
    }

    private void send(String id) {
        see(id);
    }

    // tag::keys
    @DistributedLock(
            name = "packet",
            key = {"#openid", "#redPacketId"},
            waitTime = "500ms",
            ttl = "10s")
    public void grab(String redPacketId, String openid) {
        open(redPacketId, openid);
    }
    // end::keys

    // tag::submit
    @DistributedLock(name = "submit", key = "#orderId", waitTime = "0", keepFor = "5s", keepOn = KeepOn.SUCCESS)
    public void submit(String orderId) { // a second submit within 5 s is refused
        place(orderId);
    }
    // end::submit

    // tag::nightly
    @Scheduled(cron = "0 0 3 * * *")
    @ScheduledLock(name = "nightly", atLeastFor = "1m", ttl = "1m")
    public void nightly() { // once in the fleet, though clocks differ by up to a minute
        settle();
    }
    // end::nightly

    // tag::elements
    @DistributedLock(name = "stock", key = "#skus", perElement = true, condition = "!#skus.isEmpty()")
    public void reserve(List<String> skus) { // all of them or none, always in the same order
        take(skus);
    }
    // end::elements

    // tag::shared
    @DistributedLock(name = "prices", mode = Mode.SHARED)
    public Report report() { // together with other reports, in all instances
        return build();
    }

    @DistributedLock(name = "prices", ttl = "2m")
    public void importPrices() { // alone: waits for the reports that run, and later ones wait for it
        load();
    }
    // end::shared

    // tag::permits
    @DistributedLock(name = "partner", permits = "5", waitTime = "1s")
    public String askPartner(String question) { // lock.locks.partner.permits changes the number
        return partner.answer(question);
    }
    // end::permits

    // tag::fallback
    @DistributedLock(name = "quote", key = "#currency", waitTime = "0", fallback = "yesterdays")
    public String quote(String currency) {
        return "fresh " + currency;
    }

    String yesterdays(String currency, LockNotAcquiredException held) {
        return "yesterday's " + currency;
    }
    // end::fallback

    // tag::condition
    @DistributedLock(name = "account", key = "#account", condition = "#amount > 100")
    public void transfer(String account, long amount) { // small amounts run without the lock
        book(account, amount);
    }
    // end::condition

    // tag::token
    @DistributedLock(key = "#id")
    public long write(String id, @FencingToken long token) { // called as write(id, 0)
        return token;
    }
    // end::token

    // tag::composed-use
    @OrderLock(key = "#id")
    public void ship(String id) {
        send(id);
    }
    // end::composed-use

    // tag::context
    @DistributedLock(name = "order", key = "#id")
    public void insist(String id) {
        LockAssert.assertLocked(); // IllegalStateException if the call bypassed the proxy
        LockContext lock = LockContext.current();
        if (lock.isValid()) { // right before what cannot be undone
            send(id);
        }
    }
    // end::context
}
