package io.github.lockboot.sample;

import io.github.lockboot.fixture.Await;
import io.github.lockboot.fixture.RedisServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** Tests of two instances that share one Redis and know of each other. */
public abstract class OnTwoInstances {

    protected static RedisServer redis;
    protected static SampleInstance one;
    protected static SampleInstance two;

    @BeforeAll
    static void startBoth() {
        redis = RedisServer.start();
        one = SampleInstance.on(redis, SampleInstance.PATIENT);
        two = SampleInstance.on(redis, SampleInstance.PATIENT);
        Await.until("both are known", () -> Long.valueOf(2).equals(redis.command("SCARD", "sample:instances")));
    }

    @AfterAll
    static void stopBoth() {
        two.close();
        one.close();
        redis.close();
    }
}
