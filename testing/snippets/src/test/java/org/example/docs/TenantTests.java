package org.example.docs;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.Lease;
import io.github.lockboot.LockContext;
import io.github.lockboot.redis.RedisLockRegistry;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.stereotype.Component;
import org.springframework.stereotype.Service;
import org.springframework.test.context.TestPropertySource;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** What docs/recipes.md shows of tenants. */
@TestPropertySource(properties = "spring.config.import=classpath:snippets/tenants.yml")
class TenantTests extends OnRedis {

    private static final Duration LONG = Duration.ofSeconds(60);

    @Autowired
    private Tenant tenant;

    @Autowired
    private Invoices invoices;

    @Autowired
    private ReactiveInvoices reactive;

    @Test
    void applicationsWithOtherPrefixesHaveOtherLocks() throws Exception {
        try (Lease ours = registry.acquire("report", ONCE);
                RedisLockRegistry bank =
                        RedisLockRegistry.builder(redis).keyPrefix("lock:bank:").build();
                RedisLockRegistry shop =
                        RedisLockRegistry.builder(redis).keyPrefix("lock:shop:").build()) {
            assertThat(redis("EXISTS", "lock:shop:report")).isEqualTo(1L);
            assertThat(shop.tryAcquire("report", ONCE)).isEmpty();
            bank.acquire("report", ONCE).close();
            assertThat(ours.isValid()).isTrue();
        }
    }

    @Test
    void eachTenantHasLocksOfItsOwn() {
        tenant.runAs("red", () -> invoices.issue("7"));
        tenant.runAs("blue", () -> invoices.issue("7"));
        assertThat(invoices.locks()).containsExactly("invoice:red:7", "invoice:blue:7");
    }

    @Test
    void withoutATenantTheCallIsRefused() {
        int before = invoices.locks().size();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> invoices.issue("8"))
                .withMessageContaining("@tenant.current()");
        assertThat(invoices.locks()).hasSize(before);
    }

    @Test
    void theTenantIsThatOfTheThreadThatAsksForTheLock() {
        List<Mono<String>> made = new ArrayList<>();
        tenant.runAs("red", () -> {
            made.add(invoices.later("9"));
            assertThat(made.get(0).block(LONG)).isEqualTo("invoice:red:9");
            assertThatExceptionOfType(ExecutionException.class)
                    .isThrownBy(() -> invoices.elsewhere("9").get(60, TimeUnit.SECONDS))
                    .withCauseInstanceOf(IllegalArgumentException.class);
        });
        assertThatIllegalArgumentException().isThrownBy(() -> made.get(0).block(LONG));
    }

    @Test
    void theTenantOfAReactiveCallIsAParameter() {
        Mono<String> red = reactive.issue("10").contextWrite(Context.of("tenant", "red"));
        Mono<String> blue = reactive.issue("10").contextWrite(Context.of("tenant", "blue"));
        assertThat(Mono.zip(red, blue).block(LONG)).containsExactly("invoice:red:10", "invoice:blue:10");
        assertThatExceptionOfType(NoSuchElementException.class)
                .isThrownBy(() -> reactive.issue("10").block(LONG));
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @EnableAsync
    @Import({Tenant.class, Invoices.class, ReactiveInvoices.class, TenantInvoices.class})
    static class Application {}
}

// tag::tenant
@Component("tenant")
class Tenant {

    private final ThreadLocal<String> current = new ThreadLocal<>();

    public String current() {
        return current.get(); // null is refused
    }
    // end::tenant

    void runAs(String tenant, Runnable action) {
        current.set(tenant);
        try {
            action.run();
        } finally {
            current.remove();
        }
    }
    // tag::tenant
}

@Service
class Invoices {

    // end::tenant
    private final List<String> locks = new ArrayList<>();

    List<String> locks() {
        return locks;
    }

    // tag::tenant
    @DistributedLock(
            name = "invoice",
            key = {"@tenant.current()", "#number"})
    public void issue(String number) {
        write(number);
    }
    // end::tenant

    @DistributedLock(
            name = "invoice",
            key = {"@tenant.current()", "#number"})
    public Mono<String> later(String number) {
        assertThat(number).isNotEmpty();
        return Mono.deferContextual(
                context -> Mono.just(context.get(LockContext.class).name()));
    }

    @Async
    @DistributedLock(
            name = "invoice",
            key = {"@tenant.current()", "#number"})
    public CompletableFuture<String> elsewhere(String number) {
        return CompletableFuture.completedFuture(number);
    }

    private void write(String number) {
        assertThat(number).isNotEmpty();
        locks.add(LockContext.current().name());
    }
    // tag::tenant
}
// end::tenant

// tag::reactive
@Service
class ReactiveInvoices {

    private final TenantInvoices invoices;

    ReactiveInvoices(TenantInvoices invoices) {
        this.invoices = invoices;
    }

    public Mono<String> issue(String number) { // a WebFilter has written the tenant into the context
        return Mono.deferContextual(context -> invoices.issue(context.get("tenant"), number));
    }
}

@Service
class TenantInvoices {

    @DistributedLock(
            name = "invoice",
            key = {"#tenant", "#number"})
    public Mono<String> issue(String tenant, String number) {
        return write(tenant, number);
    }
    // end::reactive

    private static Mono<String> write(String tenant, String number) {
        return Mono.deferContextual(context -> {
            assertThat(context.<String>get("tenant")).isEqualTo(tenant);
            assertThat(number).isNotEmpty();
            return Mono.just(context.get(LockContext.class).name());
        });
    }
    // tag::reactive
}
// end::reactive
