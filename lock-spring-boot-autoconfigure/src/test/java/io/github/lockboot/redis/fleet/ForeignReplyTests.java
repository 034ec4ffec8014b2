package io.github.lockboot.redis.fleet;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;

import io.github.lockboot.Actor;
import io.github.lockboot.Figures;
import io.github.lockboot.Lease;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.NamedLock;
import io.github.lockboot.fixture.TcpProxy;
import io.github.lockboot.redis.RedisLockRegistry;
import io.github.lockboot.redis.TestRegistries;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.channel.Channel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Replies reach other commands than those they answer, because the client or what lies before Redis lost count of them:
 * nobody gets a lock by the reply to another, and soon each command has its own again.
 */
class ForeignReplyTests {

    private static final Duration COMMAND_TIMEOUT = Duration.ofMillis(500);
    private static final Duration TROUBLE = Duration.ofSeconds(3);
    private static final Duration LONGEST_TROUBLE = Duration.ofMinutes(1);
    private static final int LONGEST_PAUSE = 200; // milliseconds: after a short one it happens to the greeting, too
    private static final int ENOUGH_HOLDS = 10;
    private static final Duration HEALED_WITHIN =
            Duration.ofSeconds(10); // a command timeout and a settling, on a busy machine
    private static final int OTHERS_LOCKS = 20;

    /** How the count is lost. */
    enum Cause {
        LOST_REPLY,
        DOUBLED_REPLY,
        SWAPPED_REPLIES,
        /** Lettuce fails the command that is next in line, though its reply is still to come. */
        EXCEPTION_IN_PIPELINE;

        void happen(TcpProxy proxy, Set<Channel> channels) {
            switch (this) {
                case LOST_REPLY -> proxy.loseReply();
                case DOUBLED_REPLY -> proxy.doubleReply();
                case SWAPPED_REPLIES -> proxy.swapReplies();
                case EXCEPTION_IN_PIPELINE ->
                    channels.forEach(channel -> channel.eventLoop()
                            .execute(() -> channel.pipeline()
                                    .fireExceptionCaught(new IllegalStateException("injected by a test"))));
            }
        }
    }

    private final Fleet fleet = new Fleet();
    private final TcpProxy proxy = fleet.proxy();
    private final Set<Channel> channels = ConcurrentHashMap.newKeySet();
    private final ClientResources resources = ClientResources.builder()
            .nettyCustomizer(new NettyCustomizer() {
                @Override
                public void afterChannelInitialized(Channel channel) {
                    channels.add(channel);
                    channel.closeFuture().addListener(closed -> channels.remove(channel));
                }
            })
            .build();
    private final TestRegistries application = TestRegistries.on(
            new RedisStandaloneConfiguration(proxy.host(), proxy.port()),
            LettuceClientConfiguration.builder()
                    .clientResources(resources)
                    .commandTimeout(COMMAND_TIMEOUT) // as long may a lost reply to the greeting hold up a reconnect
                    .build());
    private final UnaryOperator<RedisLockRegistry.Builder> settings =
            builder -> builder.commandTimeout(COMMAND_TIMEOUT);

    @AfterEach
    void stop() {
        application.close();
        fleet.close();
        resources.shutdown(0, 0, TimeUnit.SECONDS).awaitUninterruptibly(10, TimeUnit.SECONDS);
    }

    @ParameterizedTest
    @EnumSource
    void aLockIsNotGrantedByTheReplyToAnotherCommand(Cause cause) throws Exception {
        suffer(application.registry(settings), cause);
    }

    @ParameterizedTest
    @EnumSource
    void norOnTheApplicationsConnection(Cause cause) throws Exception {
        suffer(application.registry(builder -> settings.apply(builder.sharingConnections())), cause);
    }

    private void suffer(RedisLockRegistry registry, Cause cause) throws Exception {
        Actor.await("connected", () -> Fleet.canLock(registry, "connecting"));
        List<Lease> others = new ArrayList<>();
        RedisLockRegistry elsewhere = fleet.registry();
        for (int i = 0; i < OTHERS_LOCKS; i++) {
            others.add(elsewhere.acquire("theirs-" + i, LockOptions.defaults()));
        }
        AtomicInteger holds = new AtomicInteger();
        AtomicInteger stolen = new AtomicInteger();
        Queue<Long> tokens = new ConcurrentLinkedQueue<>();
        AtomicBoolean over = new AtomicBoolean();
        List<CompletableFuture<Void>> users = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            int user = i;
            users.add(fleet.actor().begin(() -> {
                for (int round = 0; !over.get(); round++) {
                    NamedLock theirs = registry.get("theirs-" + (round + user) % OTHERS_LOCKS);
                    NamedLock own = registry.get("own-" + user + "-" + round);
                    try {
                        if (theirs.tryLock()) {
                            stolen.incrementAndGet();
                            theirs.unlock();
                        }
                        own.lock();
                        tokens.add(own.fencingToken());
                        holds.incrementAndGet();
                        own.unlock();
                    } catch (LockUnavailableException expected) {
                        continue;
                    }
                }
            }));
        }
        Random random = new Random(7);
        long begin = System.nanoTime();
        while (Figures.millisSince(begin) < TROUBLE.toMillis()
                || holds.get() <= ENOUGH_HOLDS && Figures.millisSince(begin) < LONGEST_TROUBLE.toMillis()) {
            cause.happen(proxy, channels);
            Actor.pass(Duration.ofMillis(10 + random.nextInt(LONGEST_PAUSE)));
        }
        over.set(true);
        for (CompletableFuture<Void> user : users) {
            Actor.get(user);
        }
        proxy.pass();
        long start = System.nanoTime();
        Actor.await("every command has its own reply", HEALED_WITHIN, () -> worksAHundredTimes(registry));
        Figures.report(
                "%s: %d holds, %d of others' locks; all well %d ms later",
                cause, holds.get(), stolen.get(), Figures.millisSince(start));
        assertThat(stolen).as("grants of locks that another holds").hasValue(0);
        assertThat(tokens).doesNotHaveDuplicates();
        assertThat(holds).as("holds all the while").hasValueGreaterThan(ENOUGH_HOLDS);
        for (Lease each : others) {
            assertThat(each.isValid()).isTrue();
            each.close();
        }
        Actor.await("nothing in use", () -> registry.inspector().inUse() == 0);
        fleet.awaitNothingLeft();
    }

    private static boolean worksAHundredTimes(RedisLockRegistry registry) {
        for (int i = 0; i < 100; i++) {
            if (!Fleet.canLock(registry, "after-" + i)) {
                return false;
            }
        }
        return true;
    }
}
