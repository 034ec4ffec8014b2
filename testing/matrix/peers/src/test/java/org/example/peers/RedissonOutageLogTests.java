package org.example.peers;

import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.redis.OutageLogContract;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.redisson.spring.data.connection.RedissonConnectionFactory;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/** The contract with Redisson's connection factory. */
class RedissonOutageLogTests extends OutageLogContract {

    private RedisServer server;
    private RedissonClient client;

    @BeforeEach
    void start() {
        server = RedisServer.start();
        Config config = new Config();
        config.useSingleServer().setAddress(server.uri());
        client = Redisson.create(config);
    }

    @AfterEach
    void stop() {
        client.shutdown();
        server.close();
    }

    @Override
    protected RedisConnectionFactory connectionFactory() {
        return new RedissonConnectionFactory(client);
    }

    /** Redisson subscribes again without a word. */
    @Override
    protected boolean showsCut() {
        return false;
    }

    @Override
    protected void goAway() {
        server.stop();
    }

    @Override
    protected void comeBack() {
        server.restart();
    }
}
