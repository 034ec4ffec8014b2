package io.github.lockboot.spec;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.NamedLock;
import io.github.lockboot.NamedReadWriteLock;
import io.github.lockboot.redis.RedisLockRegistry;
import io.github.lockboot.redis.protocol.LuaScript;
import org.springframework.boot.logging.LogLevel;
import org.springframework.boot.logging.LoggingSystem;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * A process of a fleet: each of its threads takes locks of every kind at random, works for a moment, and lets go, or
 * makes {@linkplain StrayCalls stray calls}, if the names of the locks say so. It reads the names from its input, a
 * line for each set, and ends with its input.
 */
final class FleetMember {

    private static final int THREADS = 4;

    private static final Map<String, LuaScript> SCRIPTS = Map.of(
            "acquire", LuaScript.ACQUIRE,
            "unlock", LuaScript.UNLOCK,
            "renew", LuaScript.RENEW);

    /**
     * What is taken of a lock, whose name ends with a number: it exclusively (0), as a reader (1), limited to 2 or 3.
     */
    private static final List<String> KINDS = List.of("00000", "00011", "02223", "01123");

    private static volatile List<String> names = List.of();

    private FleetMember() {}

    /** @param args host, port, seed */
    public static void main(String[] args) throws Exception {
        LoggingSystem.get(FleetMember.class.getClassLoader()).setLogLevel("ROOT", LogLevel.ERROR);
        LettuceConnectionFactory factory = new LettuceConnectionFactory(args[0], Integer.parseInt(args[1]));
        factory.afterPropertiesSet();
        factory.start();
        RedisLockRegistry registry = RedisLockRegistry.builder(factory)
                .defaults(LockOptions.defaults().withTtl(Duration.ofMillis(1_500)))
                .retryInterval(Duration.ofMillis(300))
                .commandTimeout(Duration.ofMillis(500))
                .localHandoffLimit(3)
                .build();
        registry.connect().exceptionally(none -> null).join();
        StrayCalls strays = new StrayCalls(new StringRedisTemplate(factory));
        SCRIPTS.forEach((name, script) -> System.out.println("script " + name + " " + script.getSha1()));
        System.out.println("ready");
        for (int i = 0; i < THREADS; i++) {
            Random random = new Random(Long.parseLong(args[2]) * THREADS + i);
            Thread thread = new Thread(() -> takeAll(registry, strays, random));
            thread.setDaemon(true);
            thread.start();
        }
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            names = List.of(line.split(" "));
        }
        System.exit(0);
    }

    private static void takeAll(RedisLockRegistry registry, StrayCalls strays, Random random) {
        while (true) {
            List<String> all = names;
            if (all.isEmpty()) {
                pause(10);
                continue;
            }
            String name = all.get(random.nextInt(all.size()));
            try {
                if (name.startsWith(StrayCalls.NAME)) {
                    strays.call("lock:" + name, random);
                    pause(random.nextInt(30));
                } else {
                    take(registry, name, random);
                }
            } catch (LockNotAcquiredException | LockUnavailableException | IllegalMonitorStateException lost) {
                // A fault did that.
            } catch (InterruptedException e) {
                return;
            } catch (RuntimeException failure) {
                System.out.println(failure);
                pause(20);
            }
        }
    }

    private static void take(RedisLockRegistry registry, String name, Random random) throws InterruptedException {
        NamedReadWriteLock both = registry.readWrite(name);
        int kind = KINDS.get(name.charAt(name.length() - 1) % KINDS.size()).charAt(random.nextInt(5)) - '0';
        NamedLock lock = switch (kind) {
            case 0 -> both.writeLock();
            case 1 -> both.readLock();
            default -> registry.get(name, LockOptions.defaults().withPermits(kind));
        };
        boolean taken = switch (random.nextInt(4)) {
            case 0 -> lock.tryLock();
            case 1 -> lock.tryLock(random.nextInt(200), TimeUnit.MILLISECONDS);
            default -> lock.tryLock(5, TimeUnit.SECONDS);
        };
        if (!taken) {
            return;
        }
        try {
            // Now and then so long that it is renewed, or that a waiter of a stopped process is dropped.
            int work = random.nextInt(80);
            pause(work == 0 ? 2_000 : work < 6 ? 700 : random.nextInt(15));
            if (kind == 0 && random.nextInt(3) == 0) {
                both.readLock().lock();
                lock = both.readLock();
                both.writeLock().unlock();
                pause(random.nextInt(15));
            }
        } finally {
            lock.unlock();
        }
    }

    private static void pause(int millis) {
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(millis));
    }
}
