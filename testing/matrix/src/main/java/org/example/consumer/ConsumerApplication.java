package org.example.consumer;

import java.lang.management.ManagementFactory;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.ScheduledLock;
import org.springframework.boot.Banner;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.stereotype.Service;

/** An application that adds the starter, writes an annotation and configures nothing. */
@SpringBootApplication
public class ConsumerApplication {

    /** Starts, says after which time, and ends. */
    public static void main(String[] args) {
        ConfigurableApplicationContext instance = start(args);
        System.out.println("up after " + ManagementFactory.getRuntimeMXBean().getUptime() + " ms");
        instance.close();
    }

    /**
     * An instance. Its arguments say where Redis is; more patience with Redis than by default is for the machine, which may be
     * busy with other tests when an instance connects.
     */
    static ConfigurableApplicationContext start(String... args) {
        return new SpringApplicationBuilder(ConsumerApplication.class)
                .main(ConsumerApplication.class)
                .bannerMode(Banner.Mode.OFF)
                .properties("lock.redis.command-timeout=10s", "server.port=0")
                .run(args);
    }

    @Service
    public static class Account {

        private static int balance;

        /** Loses money when two callers are in it. */
        @DistributedLock(key = "#account")
        public void payIn(String account) {
            int read = balance;
            Thread.yield();
            balance = read + 1;
        }

        static int balance() {
            return balance;
        }
    }

    @Service
    public static class Job {

        @ScheduledLock(name = "nightly", atLeastFor = "1s")
        public void run() {}
    }
}
