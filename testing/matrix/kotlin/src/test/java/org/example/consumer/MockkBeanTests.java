package org.example.consumer;

import com.ninjasquad.springmockk.MockkBean;
import io.github.lockboot.DistributedLock;
import io.github.lockboot.LockAssert;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThat;

/** A test of an application in Kotlin replaces a bean with locked methods by a mock of MockK. */
@SpringBootTest(properties = "lock.type=memory")
class MockkBeanTests {

    @MockkBean(relaxed = true)
    private Orders mocked;

    @Autowired
    private Refunds own;

    @Test
    void aMockLocksNothing() {
        assertThat(mocked.pay("o1")).isEmpty();
    }

    @Test
    void theOtherBeansAreLocked() {
        assertThat(own.pay("o1")).isEqualTo("locked o1");
    }

    static class Orders {
        @DistributedLock(key = "#id")
        public String pay(String id) {
            return id;
        }
    }

    static class Refunds {
        @DistributedLock(key = "#id")
        public String pay(String id) {
            LockAssert.assertLocked();
            return "locked " + id;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import({Orders.class, Refunds.class})
    static class Application {}
}
