package io.github.lockboot.redis;

import java.util.List;

import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockRegistryContract;
import io.github.lockboot.fixture.AclUser;
import io.github.lockboot.fixture.RedisSentinel;
import io.github.lockboot.fixture.RedisTls;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The contract on a master that Sentinels watch, both asked over TLS, as a user that may do no more than locks need.
 */
@Tag("full")
class RedisSentinelTlsLockTests extends LockRegistryContract {

    private static RedisTls tls;
    private static RedisSentinel sentinel;
    private static TestApplications applications;

    @BeforeAll
    static void start() {
        tls = RedisTls.create();
        sentinel = RedisSentinel.start(1, tls, server -> AclUser.addTo(server, AclUser.COMMANDS));
        applications = TestApplications.start(TestApplications.both(
                List.of(
                        "spring.data.redis.sentinel.master=" + sentinel.masterName(),
                        "spring.data.redis.sentinel.nodes=" + String.join(",", sentinel.nodes())),
                TestApplications.trusting(tls.authority())));
    }

    @AfterAll
    static void stop() {
        applications.close();
        List<String> refusals = AclUser.refusals(sentinel.master());
        sentinel.close();
        tls.close();
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

    @Test
    void itsOwnConnectionsToTheMasterAreEncrypted() {
        registry().get(name).lock();
        registry().get(name).unlock();
        assertThat(AclUser.connections(sentinel.master()))
                .filteredOn(connection -> connection.contains("user=" + AclUser.NAME))
                .isNotEmpty()
                .allSatisfy(connection -> assertThat(connection)
                        .contains("laddr=" + sentinel.master().host() + ":"
                                + sentinel.master().tlsPort()));
    }
}
