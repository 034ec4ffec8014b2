package io.github.lockboot.autoconfigure;

import java.util.List;
import java.util.UUID;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.LogReader;
import io.github.lockboot.memory.MemoryLockRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

/** Methods without a name, which lock each other out if their keys are equal. */
class NamelessKeysTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(LockAutoConfiguration.class))
            .withBean("other", MemoryLockRegistry.class);

    private List<String> warnings(Class<?>... beans) {
        ApplicationContextRunner application = runner;
        for (Class<?> bean : beans) {
            application = application.withBean(bean);
        }
        try (LogReader log = new LogReader("io.github.lockboot.aop")) {
            application.run(context -> assertThat(context).hasNotFailed());
            return log.warnings();
        }
    }

    @Test
    void oneWarningNamesAllMethodsWhoseLocksMayBeTheSame() {
        String here = getClass().getName();
        assertThat(warnings(Orders.class, Users.class, Parcels.class, Named.class))
                .containsExactly("@DistributedLock without a name: equal keys give the same lock to " + here
                        + "$Orders.cancel(long), " + here + "$Orders.pay(long), " + here
                        + "$Parcels.send(String, String), "
                        + here + "$Users.rename(Order). Add a name to each, such as name = \"order\", and the same name"
                        + " only where these methods must exclude each other");
    }

    @Test
    void twoKeysOfOneClassAreNamed() {
        assertThat(warnings(TwoKeys.class)).singleElement().asString().contains("$TwoKeys.pay(", "$TwoKeys.reward(");
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                Orders.class,
                Users.class,
                Transfers.class,
                Named.class,
                Prefixed.class,
                Computed.class,
                OfClass.class,
                OtherRegistries.class
            })
    void methodsThatCannotMeanToDifferGiveNoWarning(Class<?> bean) {
        assertThat(warnings(bean, bean == Prefixed.class ? Named.class : Prefixed.class))
                .isEmpty();
    }

    @Test
    void implementationsOfOneInterfaceGiveNoWarning() {
        assertThat(warnings(Card.class, Cash.class)).isEmpty();
    }

    record Order(UUID id) {}

    static class Orders {
        @DistributedLock(key = "#orderId")
        public void pay(long orderId) {}

        @DistributedLock(key = "#orderId")
        public void cancel(long orderId) {}
    }

    static class Users {
        @DistributedLock(key = "#order.id")
        public void rename(Order order) {}
    }

    static class Parcels {
        @DistributedLock(key = "#from + '-' + #to")
        public void send(String from, String to) {}
    }

    static class TwoKeys {
        @DistributedLock(key = "#orderId")
        public void pay(long orderId) {}

        @DistributedLock(key = "#userId")
        public void reward(long userId) {}
    }

    static class Transfers {
        @DistributedLock(key = "#from")
        @DistributedLock(key = "#to")
        public void transfer(long from, long to) {}
    }

    static class Named {
        @DistributedLock(name = "order", key = "#id")
        public void one(long id) {}

        @DistributedLock(name = "user", key = "#userId")
        public void other(long userId) {}
    }

    static class Prefixed {
        @DistributedLock(key = "'order:' + #id")
        public void order(long id) {}

        @DistributedLock(key = {"'user'", "#userId"})
        public void user(long userId) {}

        @DistributedLock(key = "'parcel:'.concat(#id)")
        public void parcel(String id) {}

        @DistributedLock(key = "#id + ':page'")
        public void page(String id) {}
    }

    static class Computed {
        @DistributedLock(key = "#root.method.name + #id")
        public void one(long id) {}

        @DistributedLock(key = "T(java.util.Objects).toString(#userId)")
        public void other(long userId) {}
    }

    @DistributedLock(key = "#id")
    static class OfClass {
        public void one(long id) {}

        public void other(long id) {}
    }

    static class OtherRegistries {
        @DistributedLock(key = "#id")
        public void one(long id) {}

        @DistributedLock(key = "#userId", registry = "other")
        public void other(long userId) {}
    }

    interface Till {
        @DistributedLock(key = "#id")
        void pay(long id);
    }

    static class Card implements Till {
        @Override
        public void pay(long id) {}
    }

    static class Cash implements Till {
        @Override
        public void pay(long id) {}
    }
}
