package shop;

import java.util.concurrent.locks.Lock;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.LockContext;
import io.github.lockboot.redis.RedisLockRegistry;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.stereotype.Component;

/** Prints the lock of an order, the module of the library, and what it finds of its rooms. */
@SpringBootApplication
public class Shop {

    @Component
    public static class Orders {

        @DistributedLock(name = "order", key = "#id")
        public String pay(String id) {
            return LockContext.current().name();
        }
    }

    public static void main(String[] arguments) {
        try (ConfigurableApplicationContext context = SpringApplication.run(Shop.class, arguments)) {
            System.out.println("paid under " + context.getBean(Orders.class).pay("4711"));
            Lock lock = context.getBean(RedisLockRegistry.class).get("plain");
            lock.lock();
            lock.unlock();
            System.out.println("from " + RedisLockRegistry.class.getModule());
        }
    }
}
