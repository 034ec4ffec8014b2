package io.github.lockboot.benchmarks;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

import io.github.lockboot.harness.Contender;
import io.github.lockboot.harness.RedisAddress;

/** The JDK's fair lock: what is possible inside one JVM, without Redis. */
final class JdkFairLock implements Contender {

    @Override
    public String name() {
        return "ReentrantLock(true)";
    }

    @Override
    public Client connect(RedisAddress redis) {
        Map<String, Lock> locks = new ConcurrentHashMap<>();
        return name -> locks.computeIfAbsent(name, n -> new ReentrantLock(true));
    }
}
