package io.github.lockboot.benchmarks;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

/** The JDK's fair lock: what is possible inside one JVM, without Redis. */
final class JdkFairLock implements Contender {

    @Override
    public String name() {
        return "ReentrantLock(true)";
    }

    @Override
    public Client connect(String host, int port) {
        Map<String, Lock> locks = new ConcurrentHashMap<>();
        return new Client() {

            @Override
            public Lock lock(String name) {
                return locks.computeIfAbsent(name, n -> new ReentrantLock(true));
            }

            @Override
            public void close() {}
        };
    }
}
