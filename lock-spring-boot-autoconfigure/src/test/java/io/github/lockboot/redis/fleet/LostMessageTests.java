package io.github.lockboot.redis.fleet;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

import io.github.lockboot.Actor;
import io.github.lockboot.Figures;
import io.github.lockboot.LockLostException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.NamedLock;
import io.github.lockboot.fixture.TcpProxy;
import io.github.lockboot.redis.RedisLockRegistry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** A request or a reply is lost between one JVM and Redis, while another JVM wants the same lock. */
class LostMessageTests {

    private static final Duration TTL = Duration.ofSeconds(3);
    private static final Duration POLL = Duration.ofSeconds(2);
    private static final Duration COMMAND_TIMEOUT = Duration.ofMillis(500);
    private static final Duration TO_RECONNECT = Duration.ofSeconds(10); // on a busy machine
    private static final Duration SLACK = Duration.ofSeconds(4); // for a busy machine

    enum Loss {
        REQUEST(TcpProxy::swallowRequests),
        REPLY(TcpProxy::swallowReplies);

        private final Consumer<TcpProxy> way;

        Loss(Consumer<TcpProxy> way) {
            this.way = way;
        }

        void begin(TcpProxy proxy) {
            way.accept(proxy);
        }
    }

    private final Fleet fleet = new Fleet();
    private final TcpProxy proxy = fleet.proxy();
    private final UnaryOperator<RedisLockRegistry.Builder> settings = builder -> builder.commandTimeout(COMMAND_TIMEOUT)
            .defaults(LockOptions.defaults().withTtl(TTL));
    private final RedisLockRegistry cut = fleet.registry(proxy, settings);
    private final RedisLockRegistry healthy = fleet.registry(settings);

    @AfterEach
    void stop() {
        fleet.close();
    }

    /** How long the healthy JVM has to wait for the lock. */
    private Duration timeUntilServed(String name) throws Exception {
        NamedLock lock = healthy.get(name);
        long start = System.nanoTime();
        assertThat(lock.tryLock(20, TimeUnit.SECONDS)).isTrue();
        Duration waited = Duration.ofNanos(System.nanoTime() - start);
        lock.unlock();
        return waited;
    }

    @ParameterizedTest
    @EnumSource
    void anAcquisitionThatFailedIsNotLeftBehind(Loss loss) throws Exception {
        NamedLock lock = cut.get("x");
        loss.begin(proxy);
        assertThatThrownBy(() -> lock.tryLock(50, TimeUnit.MILLISECONDS)).isInstanceOf(LockUnavailableException.class);
        Duration waited = timeUntilServed("x");
        Figures.report("acquire, %s lost: next after %d ms", loss, waited.toMillis());
        assertThat(waited).isLessThan(TTL.plus(POLL).plus(SLACK));
        proxy.pass();
        fleet.awaitNothingLeft();
    }

    @ParameterizedTest
    @EnumSource
    void aReleaseReturnsAndTheLockIsFreeWithinOneLease(Loss loss) throws Exception {
        NamedLock lock = cut.get("x");
        lock.lock();
        loss.begin(proxy);
        lock.unlock();
        assertThat(lock.isHeldByCurrentThread()).isFalse();
        Duration waited = timeUntilServed("x");
        Figures.report("unlock, %s lost: next after %d ms", loss, waited.toMillis());
        assertThat(waited).isLessThan(TTL.plus(POLL).plus(SLACK));
        proxy.pass();
        fleet.awaitNothingLeft();
    }

    @ParameterizedTest
    @EnumSource
    void aHolderWhoseRenewalsFailKnowsBeforeTheNextHolds(Loss loss) throws Exception {
        NamedLock lock = cut.get("x");
        Actor holder = fleet.holder(lock);
        AtomicInteger losses = new AtomicInteger();
        holder.run(() -> lock.onLost(losses::incrementAndGet));
        NamedLock wanted = healthy.get("x");
        Actor next = fleet.actor();
        CompletableFuture<Long> served = next.start(() -> {
            wanted.lock();
            return System.nanoTime();
        });
        fleet.awaitQueued("x", 1);
        loss.begin(proxy);
        AtomicLong lastHeld = new AtomicLong();
        holder.run(() -> {
            long asked = System.nanoTime();
            while (lock.isHeldByCurrentThread()) {
                lastHeld.set(asked);
                asked = System.nanoTime();
            }
        });
        long gap = Actor.get(served) - lastHeld.get();
        Figures.report("renewals, %s lost: next holds %d ms after the last 'held'", loss, gap / 1_000_000);
        assertThat(gap).isPositive();
        proxy.pass();
        assertThatThrownBy(() -> holder.run(lock::unlock)).isInstanceOf(LockLostException.class);
        assertThat(next.call(wanted::isHeldByCurrentThread)).isTrue();
        next.run(wanted::unlock);
        assertThat(losses).hasValue(1);
        fleet.awaitNothingLeft();
    }

    @ParameterizedTest
    @EnumSource
    void aCommandThatIsSentAgainAfterAReconnectDoesNoHarm(Loss loss) throws Exception {
        AtomicInteger losses = new AtomicInteger();
        NamedLock lock = fleet.registry(proxy, builder -> builder.commandTimeout(TO_RECONNECT))
                .get("x");
        Actor actor = fleet.actor();
        for (int round = 0; round < 5; round++) {
            loss.begin(proxy);
            CompletableFuture<Void> locked = actor.begin(lock::lock);
            Actor.pass(Duration.ofMillis(50));
            proxy.pass(); // cuts the connection, and Lettuce sends again what was not answered
            Actor.get(locked);
            actor.run(() -> lock.onLost(losses::incrementAndGet));
            loss.begin(proxy);
            CompletableFuture<Void> released = actor.begin(lock::unlock);
            Actor.pass(Duration.ofMillis(50));
            proxy.pass();
            Actor.get(released);
            assertThat(timeUntilServed("x")).isLessThan(POLL);
        }
        assertThat(losses).hasValue(0);
        fleet.awaitNothingLeft();
    }
}
