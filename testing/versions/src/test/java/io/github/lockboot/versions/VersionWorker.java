package io.github.lockboot.versions;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

import io.github.lockboot.LockLostException;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.NamedLock;
import io.github.lockboot.redis.RedisLockRegistry;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * An instance of an application. It does what each line of its input says, with the lock of that name: {@code try},
 * {@code lock} and {@code unlock}, {@code read} and {@code unread}, {@code contend} and {@code end}. It is compiled
 * against each version, so it calls only what all versions have.
 */
public final class VersionWorker {

    static final String TOKENS = "tokens:";
    private static final String INSIDE = "inside:";
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final int PAUSE_MILLIS = 40;

    private final RedisLockRegistry registry;
    private final RedisConnection redis;
    private Contender contender;

    private VersionWorker(LettuceConnectionFactory factory) {
        factory.afterPropertiesSet();
        factory.start();
        registry = RedisLockRegistry.builder(factory).commandTimeout(PATIENCE).build();
        redis = factory.getConnection();
    }

    /** @param args host, port */
    public static void main(String[] args) {
        try {
            VersionWorker worker = new VersionWorker(new LettuceConnectionFactory(args[0], Integer.parseInt(args[1])));
            worker.connect();
            say("ready");
            BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            for (String order = orders.readLine(); order != null; order = orders.readLine()) {
                String[] words = order.split(" ");
                worker.perform(words[0], words[1]);
            }
        } catch (Throwable failure) {
            say("failed " + failure);
        }
        Runtime.getRuntime().halt(0);
    }

    /** The first command loads classes, which on a busy machine takes longer than a command may. */
    private void connect() {
        NamedLock lock = registry.get("connecting-" + ProcessHandle.current().pid());
        for (boolean connected = false; !connected; ) {
            try {
                lock.lock();
                lock.unlock();
                connected = true;
            } catch (LockUnavailableException notYet) {
                // Whoever started it does not wait for ever.
            }
        }
    }

    private void perform(String order, String name) throws InterruptedException {
        NamedLock lock = registry.get(name);
        switch (order) {
            case "try" -> say("did " + lock.tryLock());
            case "lock" -> {
                say("waiting");
                lock.lock();
                say("token " + lock.fencingToken());
            }
            case "unlock" -> {
                lock.unlock();
                say("did it");
            }
            case "read" -> say("did " + registry.readWrite(name).readLock().tryLock());
            case "unread" -> {
                registry.readWrite(name).readLock().unlock();
                say("did it");
            }
            case "contend" -> {
                contender = new Contender(lock);
                contender.start();
            }
            case "end" -> {
                contender.ended = true;
                contender.join();
                say("did " + contender);
            }
            default -> throw new IllegalArgumentException(order);
        }
    }

    private static void say(String line) {
        System.out.println(line);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    /** Takes the lock again and again. Counts in Redis who is inside, and notes each token. */
    private final class Contender extends Thread {

        private final NamedLock lock;
        private volatile boolean ended;
        private int turns;
        private int overlaps;
        private int losses;

        Contender(NamedLock lock) {
            this.lock = lock;
        }

        @Override
        public void run() {
            byte[] inside = bytes(INSIDE + lock.getName());
            byte[] tokens = bytes(TOKENS + lock.getName());
            try {
                do {
                    lock.lock();
                    overlaps += redis.stringCommands().incr(inside) == 1 ? 0 : 1;
                    redis.listCommands().rPush(tokens, bytes(Long.toString(lock.fencingToken())));
                    redis.stringCommands().decr(inside);
                    try {
                        lock.unlock();
                    } catch (LockLostException lost) {
                        losses++;
                    }
                    turns++;
                    say("turned");
                    sleep(ThreadLocalRandom.current().nextInt(PAUSE_MILLIS));
                } while (!ended);
            } catch (Throwable failure) {
                say("failed " + failure);
            }
        }

        @Override
        public String toString() {
            return turns + " turns, " + overlaps + " overlaps, " + losses + " losses";
        }
    }
}
