package io.github.lockboot.redis;

import java.util.List;

import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockRegistryContract;
import io.github.lockboot.fixture.AclUser;
import io.github.lockboot.fixture.RedisSentinel;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

import static org.assertj.core.api.Assertions.assertThat;

/** The contract on a master that Sentinels watch, as a user that may do no more than locks need. */
@Tag("full")
class RedisSentinelAclLockTests extends LockRegistryContract {

    private static RedisSentinel sentinel;
    private static TestApplications applications;

    @BeforeAll
    static void start() {
        sentinel = RedisSentinel.start(1, server -> AclUser.addTo(server, AclUser.COMMANDS));
        applications = TestApplications.start(List.of(
                "spring.data.redis.sentinel.master=" + sentinel.masterName(),
                "spring.data.redis.sentinel.nodes=" + String.join(",", sentinel.nodes())));
    }

    @AfterAll
    static void stop() {
        applications.close();
        List<String> refusals = AclUser.refusals(sentinel.master());
        sentinel.close();
        assertThat(refusals).isEmpty();
    }

    @Override
    protected LockRegistry registry() {
        return applications.registry();
    }

    @Override
    protected LockRegistry otherRegistry() {
        return applications.otherRegistry();
    }
}
