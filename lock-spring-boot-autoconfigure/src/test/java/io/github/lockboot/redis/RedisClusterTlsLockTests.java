package io.github.lockboot.redis;

import java.util.List;
import java.util.stream.Collectors;

import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockRegistryContract;
import io.github.lockboot.fixture.AclUser;
import io.github.lockboot.fixture.RedisCluster;
import io.github.lockboot.fixture.RedisTls;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

import static org.assertj.core.api.Assertions.assertThat;

/** The contract on a Redis Cluster over TLS, as a user that may do no more than locks and a Cluster need. */
@Tag("full")
class RedisClusterTlsLockTests extends LockRegistryContract {

    private static RedisTls tls;
    private static RedisCluster cluster;
    private static TestApplications applications;

    @BeforeAll
    static void start() {
        tls = RedisTls.create();
        List<String> commands = TestApplications.both(AclUser.COMMANDS, AclUser.IN_A_CLUSTER);
        cluster = RedisCluster.start(0, server -> AclUser.addTo(server.tls(tls), commands));
        applications = TestApplications.start(TestApplications.both(
                List.of("spring.data.redis.cluster.nodes=" + nodes()), TestApplications.trusting(tls.authority())));
    }

    @AfterAll
    static void stop() {
        applications.close();
        List<String> refusals = cluster.servers().stream()
                .flatMap(server -> AclUser.refusals(server).stream())
                .toList();
        cluster.close();
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

    private static String nodes() {
        return cluster.servers().stream()
                .map(server -> server.host() + ":" + server.tlsPort())
                .collect(Collectors.joining(","));
    }
}
