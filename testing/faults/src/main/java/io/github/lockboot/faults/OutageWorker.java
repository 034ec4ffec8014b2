package io.github.lockboot.faults;

import java.util.concurrent.locks.Lock;

import io.github.lockboot.LockRegistry;
import io.github.lockboot.NamedLock;
import io.github.lockboot.autoconfigure.LockAutoConfiguration;
import io.github.lockboot.faults.OutageFault.ClientType;
import io.github.lockboot.harness.Contender;
import io.github.lockboot.harness.RedisAddress;
import io.github.lockboot.harness.Worker;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.redisson.spring.data.connection.RedissonConnectionFactory;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * A JVM with a Spring Boot application with this library, whose log is on its standard output. One of its threads holds
 * a lock, or waits for it, all the while, and another takes and releases a second lock again and again and says so. It
 * closes when it is told to.
 */
public final class OutageWorker {

    static final String CLOSE = "close";
    static final String CLOSED = "closed";
    static final String GRANTED = "granted";

    private static final long STEP_NANOS = 50_000_000;

    private final Contender.Client application;
    private volatile boolean closing;

    private OutageWorker(Contender.Client application) {
        this.application = application;
        begin("used", () -> System.out.println(GRANTED));
        begin("held", () -> {
            while (!closing && application.isHeld(application.lock("held"))) {
                Pause.nanos(STEP_NANOS);
            }
        });
    }

    public static void main(String[] args) {
        ClientType client = ClientType.valueOf(args[0]);
        Worker.run(new Application(client), RedisAddress.parse(args[1]), with -> new OutageWorker(with)::perform);
    }

    private void perform(String close) {
        closing = true;
        application.close();
        System.out.println(CLOSED);
    }

    private void begin(String name, Runnable work) {
        Thread thread = new Thread(() -> useAgainAndAgain(name, work), name);
        thread.setDaemon(true);
        thread.start();
    }

    private void useAgainAndAgain(String name, Runnable work) {
        Lock lock = application.lock(name);
        while (!closing) {
            try {
                lock.lock();
                try {
                    work.run();
                    Pause.nanos(STEP_NANOS);
                } finally {
                    lock.unlock();
                }
            } catch (RuntimeException unavailableOrLost) {
                // As callers get it. It begins anew.
            }
            Pause.nanos(STEP_NANOS);
        }
    }

    /** This library in an application with one client. */
    private record Application(ClientType client) implements Contender {

        @Override
        public String name() {
            return "this library with " + client;
        }

        @Override
        public Contender.Client connect(RedisAddress redis) {
            ConfigurableApplicationContext context = new SpringApplicationBuilder(Users.class)
                    .web(WebApplicationType.NONE)
                    .initializers(made -> register((GenericApplicationContext) made, redis))
                    .run();
            LockRegistry registry = context.getBean(LockRegistry.class);
            return new Contender.Client() {

                @Override
                public Lock lock(String name) {
                    return registry.get(name);
                }

                @Override
                public boolean isHeld(Lock lock) {
                    return ((NamedLock) lock).isHeldByCurrentThread();
                }

                @Override
                public void close() {
                    context.close();
                }
            };
        }

        private void register(GenericApplicationContext context, RedisAddress redis) {
            switch (client) {
                case LETTUCE ->
                    context.registerBean(
                            LettuceConnectionFactory.class, () -> new LettuceConnectionFactory(redis.configuration()));
                case JEDIS ->
                    context.registerBean(
                            JedisConnectionFactory.class,
                            () -> new JedisConnectionFactory((RedisStandaloneConfiguration) redis.configuration()));
                case REDISSON -> {
                    Config config = new Config();
                    redis.forRedisson(config);
                    context.registerBean(
                            RedissonClient.class,
                            () -> Redisson.create(config),
                            bean -> bean.setDestroyMethodName("shutdown"));
                    context.registerBean(
                            RedissonConnectionFactory.class,
                            () -> new RedissonConnectionFactory(context.getBean(RedissonClient.class)));
                }
            }
        }
    }

    /** Its beans use locks, so it connects at its start. */
    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(LockAutoConfiguration.class)
    static class Users {

        @Bean
        Object user(LockRegistry registry) {
            return new Object();
        }
    }
}
