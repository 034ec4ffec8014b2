package org.example.docs;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.Lease;
import io.github.lockboot.fixture.Await;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.integration.annotation.ServiceActivator;
import org.springframework.integration.channel.ExecutorChannel;
import org.springframework.messaging.MessageChannel;
import org.springframework.messaging.support.GenericMessage;
import org.springframework.stereotype.Component;

import static org.assertj.core.api.Assertions.assertThat;

/** What docs/recipes.md shows of listeners, with a channel in memory instead of a broker. */
class MessagingTests extends OnRedis {

    @Autowired
    private MessageChannel orders;

    @Autowired
    private OrderListener listener;

    @Test
    void consumersHandleMessagesOfOneKeyOneAtATime() {
        for (int round = 0; round < 10; round++) {
            for (String id : new String[] {"a", "b", "c", "d"}) {
                orders.send(new GenericMessage<>(new OrderEvent(id)));
            }
        }
        Await.until("all are handled", () -> listener.handled().equals(Map.of("a", 10, "b", 10, "c", 10, "d", 10)));
    }

    @Test
    void aMessageWaitsForTheConsumerOfAnotherInstanceAndHoldsUpNoOtherKey() throws Exception {
        try (Lease other = anotherInstance().acquire("order:e", ONCE)) {
            orders.send(new GenericMessage<>(new OrderEvent("e")));
            orders.send(new GenericMessage<>(new OrderEvent("f")));
            Await.until("the other key", () -> listener.handled().containsKey("f"));
            assertThat(listener.handled()).doesNotContainKey("e");
            assertThat(other.isValid()).isTrue();
        }
        Await.until("its turn", () -> listener.handled().containsKey("e"));
        listener.handled().keySet().removeAll(Set.of("e", "f"));
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(OrderListener.class)
    static class Application {

        @Bean(destroyMethod = "shutdownNow")
        ExecutorService consumers() {
            return Executors.newFixedThreadPool(8);
        }

        @Bean
        MessageChannel orders(ExecutorService consumers) {
            return new ExecutorChannel(consumers);
        }
    }
}

record OrderEvent(String id) {}

@Component
class OrderListener {

    private final Map<String, Integer> handled = new ConcurrentHashMap<>();

    Map<String, Integer> handled() {
        return handled;
    }

    // tag::listener
    @ServiceActivator(inputChannel = "orders")
    @DistributedLock(name = "order", key = "#event.id()", waitTime = "20s")
    public void on(OrderEvent event) { // in all instances one at a time for an order
        apply(event);
    }
    // end::listener

    /** Forgets one of two messages if two are handled at a time. */
    private void apply(OrderEvent event) {
        int before = handled.getOrDefault(event.id(), 0);
        Thread.yield();
        handled.put(event.id(), before + 1);
    }
}
