package io.github.lockboot.redis;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.ThreadLocalRandom;

import org.springframework.data.redis.connection.RedisConnectionFactory;

/** The parts of a registry, put together with the system's clock, threads and randomness. */
record Assembly(LockEngine engine, RedisLockInspector inspector, SelfCheck selfCheck, Connections connections) {

    /** @param asItIs whether to use the factory's connections instead of own ones like them */
    static Assembly of(
            RedisConnectionFactory connectionFactory,
            boolean asItIs,
            String keyPrefix,
            LockEngine.Settings settings,
            int maxWaiters) {
        AcquisitionIds ids = AcquisitionIds.random();
        Timer timer = Timer.system("lock-timer");
        ExecutorService workers = Threads.workers("lock-worker");
        Connections connections = Connections.to(connectionFactory, asItIs, settings.commandTimeout(), timer, workers);
        LockStore store =
                new LockStore(connections.runner(), keyPrefix, settings.poll(), settings.patience(), maxWaiters);
        LockEngine engine = new LockEngine(
                settings,
                ids,
                store,
                new LockEngine.Surroundings(
                        timer, workers, () -> ThreadLocalRandom.current().nextDouble()),
                subscriber -> new PubSubGrantChannel(
                        connections.factory(),
                        connections.subscriptions(),
                        () -> store.channelOf(ids.session()),
                        store.completionChannel(),
                        new PubSubGrantChannel.Echo(() -> store.echo(ids.session()), settings.commandTimeout()),
                        subscriber,
                        timer,
                        workers));
        return new Assembly(
                engine,
                new RedisLockInspector(connections.factory(), engine),
                new SelfCheck(connections.factory(), store, workers, settings.commandTimeout()),
                connections);
    }

    void close() {
        engine.close();
        connections.close();
    }
}
