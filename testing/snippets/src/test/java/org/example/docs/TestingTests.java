package org.example.docs;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.Lease;
import io.github.lockboot.LockAssert;
import io.github.lockboot.LockLostException;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockTemplate;
import io.github.lockboot.NamedLock;
import io.github.lockboot.autoconfigure.AutoConfigureMemoryLocks;
import io.github.lockboot.memory.MemoryLockRegistry;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.boot.test.autoconfigure.jdbc.JdbcTest;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.PropertySource;
import org.springframework.core.io.ClassPathResource;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** What docs/testing.md shows: tests as a reader writes them. */
class TestingTests {

    // tag::plain
    @Test
    void aTestWithoutSpring() {
        MemoryLockRegistry registry = new MemoryLockRegistry();
        LockTemplate template = new LockTemplate(registry, Duration.ofSeconds(1));
        assertThat(template.execute("order:1", () -> registry.get("order:1").isHeldByCurrentThread()))
                .isTrue();
    }
    // end::plain

    // tag::expire
    @Test
    void aHolderThatWasPausedForTooLong() {
        MemoryLockRegistry registry = new MemoryLockRegistry();
        NamedLock lock = registry.get("order:1");
        lock.lock();
        registry.expire("order:1"); // as if its lease had run out
        assertThat(lock.isHeldByCurrentThread()).isFalse();
        assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::unlock);
    }
    // end::expire

    // tag::steal
    @Test
    void anotherInstanceTakesTheLock() throws InterruptedException {
        MemoryLockRegistry registry = new MemoryLockRegistry();
        Lease held = registry.acquire("order:1");
        MemoryLockRegistry other = registry.newInstance(); // a second instance of the application
        Lease stolen = other.steal("order:1");
        assertThat(held.isValid()).isFalse();
        LockOptions briefly = LockOptions.defaults().withWaitTime(Duration.ofMillis(100));
        assertThatExceptionOfType(LockNotAcquiredException.class)
                .isThrownBy(() -> registry.acquire("order:1", briefly));
        stolen.close();
    }
    // end::steal

    // tag::unit
    @Test
    void aUnitTestNeedsNothing() {
        LabelService labels = new LabelService(); // without a proxy, so without the lock of its method
        assertThat(labels.print("7")).isEqualTo("label 7");
    }
    // end::unit
}

// tag::spring
@SpringBootTest(properties = "lock.type=memory")
class OrderServiceTests {

    @Autowired
    private OrderService orders;

    @Autowired
    private MemoryLockRegistry registry;

    @Test
    void aSecondInstanceIsRefused() {
        Lease other = registry.newInstance().steal("order:7");
        assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> orders.pay("7"));
        other.close();
        assertThat(orders.pay("7")).isEqualTo("paid 7");
    }
    // end::spring

    @Test
    void withoutTheProxyItIsNoticed() {
        assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> new OrderService().pay("7"));
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(OrderService.class)
    static class Application {}
    // tag::spring
}
// end::spring

// tag::slice
@JdbcTest
@AutoConfigureMemoryLocks
@Import(OrderService.class)
class OrderSliceTests {

    @Autowired
    private OrderService orders;

    @Test
    void anOrderIsPaidUnderItsLock() {
        assertThat(orders.pay("7")).isEqualTo("paid 7");
    }
    // end::slice

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}
    // tag::slice
}
// end::slice

class OrderService {

    // tag::insist
    @DistributedLock(name = "order", key = "#id", waitTime = "0")
    public String pay(String id) {
        LockAssert.assertLocked("order:" + id);
        return "paid " + id;
    }
    // end::insist
}

// tag::refused
@SpringBootTest
class SubmitTests {

    @Autowired
    private SubmitService submits;

    @Autowired
    private MemoryLockRegistry registry;

    @Test
    void aSecondSubmitIsRefusedAtOnce() {
        Lease other = registry.newInstance().steal("submit:7");
        assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> submits.submit("7"));
        other.close();
    }
    // end::refused

    /** The time that the settings of the tests give, instead of 10 s. */
    @Test
    void aCallThatNamesNoTimeWaitsAsLongAsTheSettingsOfTheTestsSay() {
        Lease other = registry.newInstance().steal("taken");
        CompletableFuture<Lease> waiting = registry.acquireAsync("taken");
        assertThat(waiting)
                .failsWithin(Duration.ofSeconds(60))
                .withThrowableOfType(ExecutionException.class)
                .withCauseInstanceOf(LockNotAcquiredException.class);
        other.close();
    }

    @DynamicPropertySource
    static void theSettingsOfTheTests(DynamicPropertyRegistry properties) throws IOException {
        for (PropertySource<?> source :
                new YamlPropertySourceLoader().load("application.yml", new ClassPathResource("snippets/memory.yml"))) {
            for (String name : ((EnumerablePropertySource<?>) source).getPropertyNames()) {
                properties.add(name, () -> source.getProperty(name));
            }
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(SubmitService.class)
    static class Application {}
    // tag::refused
}
// end::refused

class LabelService {

    @DistributedLock(name = "label", key = "#id")
    public String print(String id) {
        return "label " + id;
    }
}

class SubmitService {

    @DistributedLock(name = "submit", key = "#id", waitTime = "1h")
    public void submit(String id) {
        LockAssert.assertLocked("submit:" + id);
    }
}
