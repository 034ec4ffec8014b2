package io.github.lockboot.redis;

import java.time.Duration;

import io.github.lockboot.Actor;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.fixture.TcpProxy;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.SocketOptions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;

/** A connection whose greeting lost a reply is not waited for as long as a connection may take. */
class LostGreetingTests {

    private final RedisServer server = RedisServer.start();
    private final TcpProxy proxy = TcpProxy.to(server);
    private final TestRegistries registries = TestRegistries.on(
            new RedisStandaloneConfiguration(proxy.host(), proxy.port()),
            LettuceClientConfiguration.builder()
                    .clientOptions(ClientOptions.builder()
                            .socketOptions(SocketOptions.builder()
                                    .connectTimeout(Duration.ofHours(1))
                                    .build())
                            .build())
                    .build());

    @AfterEach
    void stop() {
        registries.close();
        proxy.close();
        server.close();
    }

    /** @param before the replies that came: the greeting has two round trips, and in the second are several commands */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3})
    void itEndsWithTheNextCallThatExpires(int before) {
        RedisLockRegistry registry = registries.registry(builder -> builder.commandTimeout(Duration.ofMillis(500)));
        Actor.await("connected", () -> TestRegistries.canLock(registry, "x"));
        proxy.loseReplyOfNextConnection(before);
        proxy.cut();
        Actor.await("connected again", () -> TestRegistries.canLock(registry, "x"));
    }
}
