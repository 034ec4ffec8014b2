package io.github.lockboot.redis;

import java.security.cert.CertPathBuilderException;
import java.util.List;

import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockRegistryContract;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.NamedLock;
import io.github.lockboot.fixture.AclUser;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.fixture.RedisTls;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.context.ConfigurableApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** The contract over TLS, as a user that may do no more than locks need. */
@Tag("full")
class RedisTlsLockTests extends LockRegistryContract {

    private static RedisTls tls;
    private static RedisServer server;
    private static TestApplications applications;

    @BeforeAll
    static void start() {
        tls = RedisTls.create();
        server = AclUser.addTo(RedisServer.builder().tls(tls), AclUser.COMMANDS).start();
        applications =
                TestApplications.start(TestApplications.both(address(), TestApplications.trusting(tls.authority())));
    }

    @AfterAll
    static void stop() {
        applications.close();
        List<String> refusals = AclUser.refusals(server);
        server.close();
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

    private static List<String> address() {
        return List.of(
                "spring.data.redis.host=" + server.host(),
                "spring.data.redis.port=" + server.tlsPort(),
                "spring.data.redis.client-name=shop");
    }

    @Test
    void itsOwnConnectionsAreEncryptedNamedAndThoseOfTheUser() {
        registry().get(name).lock();
        registry().get(name).unlock();
        assertThat(AclUser.connections(server))
                .isNotEmpty()
                .allSatisfy(connection -> assertThat(connection)
                        .contains(
                                "laddr=" + server.host() + ":" + server.tlsPort(),
                                "name=shop",
                                "user=" + AclUser.NAME));
    }

    @Test
    void aServerWithACertificateThatNobodyVouchesForIsNotTrusted() {
        List<String> anyAuthority = List.of("spring.data.redis.ssl.enabled=true");
        try (ConfigurableApplicationContext stranger =
                TestApplications.instance(TestApplications.both(address(), anyAuthority))) {
            NamedLock lock = stranger.getBean(LockRegistry.class).get(name);
            assertThatExceptionOfType(LockUnavailableException.class)
                    .isThrownBy(lock::lock)
                    .havingRootCause()
                    .isInstanceOf(CertPathBuilderException.class);
        }
    }
}
