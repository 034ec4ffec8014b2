package io.github.lockboot.redis;

import java.time.InstantSource;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;

import io.github.lockboot.internal.Threads;
import io.github.lockboot.internal.Timer;
import io.github.lockboot.redis.connection.Connections;
import io.github.lockboot.redis.connection.PubSubGrantChannel;
import io.github.lockboot.redis.engine.EngineContext;
import io.github.lockboot.redis.engine.LockEngine;
import io.github.lockboot.redis.protocol.AcquisitionIds;
import io.github.lockboot.redis.protocol.ScriptStore;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/** The parts of a registry, put together with the system's clock, threads and randomness. */
record Assembly(
        LockEngine engine,
        RedisLockInspector inspector,
        SelfCheck selfCheck,
        Connections connections,
        ExecutorService connectors) {

    /** @param asItIs whether to use the factory's connections instead of own ones like them */
    static Assembly of(
            RedisConnectionFactory connectionFactory,
            boolean asItIs,
            String keyPrefix,
            EngineContext.Settings settings,
            int maxWaiters) {
        return of(connectionFactory, asItIs, keyPrefix, settings, maxWaiters, Threads::daemons);
    }

    /**
     * @param asItIs whether to use the factory's connections instead of own ones like them
     * @param threads by what they are called
     */
    static Assembly of(
            RedisConnectionFactory connectionFactory,
            boolean asItIs,
            String keyPrefix,
            EngineContext.Settings settings,
            int maxWaiters,
            Function<String, ThreadFactory> threads) {
        AcquisitionIds ids = AcquisitionIds.random();
        Timer timer = Timer.system(threads.apply("lock-timer"));
        ExecutorService workers = Threads.workers(threads.apply("lock-worker"), timer);
        // Who asks Redis must not wait for a thread on which a callback waits for Redis.
        ExecutorService connectors = Threads.workers(threads.apply("lock-connector"), timer);
        Connections connections =
                Connections.to(connectionFactory, asItIs, settings.commandTimeout(), timer, connectors);
        ScriptStore store =
                new ScriptStore(connections.runner(), keyPrefix, settings.poll(), settings.patience(), maxWaiters);
        EngineContext context = new EngineContext(
                settings, timer, workers, () -> ThreadLocalRandom.current().nextDouble());
        LockEngine engine = new LockEngine(
                context,
                ids,
                store,
                subscriber -> new PubSubGrantChannel(
                        connections::watchedBy, store, ids, settings.commandTimeout(), subscriber, timer, connectors));
        return new Assembly(
                engine,
                new RedisLockInspector(connections.factory(), store, engine),
                new SelfCheck(connections.factory(), store, InstantSource.system()),
                connections,
                connectors);
    }

    void close() {
        engine.close();
        connections.close();
        connectors.shutdown();
    }
}
