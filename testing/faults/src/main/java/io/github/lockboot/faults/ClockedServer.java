package io.github.lockboot.faults;

import java.time.Duration;
import java.util.List;

import io.github.lockboot.fixture.RedisBinary;
import io.github.lockboot.fixture.RedisClock;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.harness.RedisAddress;

/** One server with a wall clock of its own. */
final class ClockedServer implements Deployment {

    private final RedisClock clock = RedisClock.of(RedisBinary.find())
            .orElseThrow(() -> new NotHereException("it needs Linux, a C compiler and a dynamically linked Redis;"
                    + " SimulationTests has clocks that step, too"));
    private final RedisServer server =
            RedisServer.builder().binary(clock.program()).start();
    private Duration fromTrueTime = Duration.ZERO;

    /** Has the clock step from where it is. */
    synchronized void step(Duration by) {
        fromTrueTime = fromTrueTime.plus(by);
        clock.step(fromTrueTime);
    }

    @Override
    public RedisAddress address(int worker) {
        return RedisAddress.standalone(server.host(), server.port());
    }

    @Override
    public RedisServer serverOf(String key) {
        return server;
    }

    @Override
    public List<RedisServer> masters() {
        return List.of(server);
    }

    @Override
    public void close() {
        server.close();
        clock.close();
    }
}
