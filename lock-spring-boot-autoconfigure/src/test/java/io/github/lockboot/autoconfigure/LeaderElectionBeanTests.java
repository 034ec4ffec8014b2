package io.github.lockboot.autoconfigure;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.github.lockboot.Actor;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.leader.LeaderElection;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/** An election as a bean of an application. */
class LeaderElectionBeanTests {

    private static final List<String> TOLD = new CopyOnWriteArrayList<>();

    private final ApplicationContextRunner memory = new ApplicationContextRunner()
            .withPropertyValues("lock.type=memory")
            .withUserConfiguration(Application.class)
            .withConfiguration(
                    AutoConfigurations.of(LockAutoConfiguration.class, LockObservabilityAutoConfiguration.class));

    @Configuration(proxyBeanMethods = false)
    static class Application implements DisposableBean {

        @Bean
        LeaderElection reports(LockRegistry registry) {
            return LeaderElection.of(registry, "reports");
        }

        @EventListener
        void on(LeaderElection.Elected event) {
            TOLD.add("granted " + event.role());
        }

        @EventListener
        void on(LeaderElection.Revoked event) {
            TOLD.add("revoked " + event.role());
        }

        @Override
        public void destroy() {
            TOLD.add("destroyed");
        }
    }

    /** As the web server is, and what takes tasks. */
    private static SmartLifecycle server() {
        return new SmartLifecycle() {
            private boolean running;

            @Override
            public void start() {
                TOLD.add("server starts");
                running = true;
            }

            @Override
            public void stop() {
                TOLD.add("server stops");
                running = false;
            }

            @Override
            public boolean isRunning() {
                return running;
            }

            @Override
            public int getPhase() {
                return DEFAULT_PHASE - 1_024;
            }
        };
    }

    private static void awaitLeads(LeaderElection election) {
        Actor.await("it leads", election::isLeader);
    }

    @Test
    void itStandsWhenTheServerRunsAndLeavesBeforeItStops() {
        TOLD.clear();
        memory.withBean(SmartLifecycle.class, LeaderElectionBeanTests::server).run(context -> {
            awaitLeads(context.getBean(LeaderElection.class));
            Actor.await("it is told", () -> TOLD.size() == 2);
        });
        assertThat(TOLD)
                .containsExactly("server starts", "granted reports", "revoked reports", "server stops", "destroyed");
    }

    @Test
    void aContextThatIsStoppedAndStartedStandsAgain() {
        TOLD.clear();
        memory.run(context -> {
            LeaderElection election = context.getBean(LeaderElection.class);
            awaitLeads(election);
            ConfigurableApplicationContext itself = context.getSourceApplicationContext();
            itself.stop();
            assertThat(election.isLeader()).isFalse();
            itself.start();
            awaitLeads(election);
        });
        assertThat(TOLD)
                .containsExactly(
                        "granted reports", "revoked reports", "granted reports", "revoked reports", "destroyed");
    }

    static class Throwing {

        @Order(Ordered.HIGHEST_PRECEDENCE)
        @EventListener
        void on(LeaderElection.Elected event) {
            throw new IllegalStateException("of a test");
        }
    }

    @Test
    void anApplicationListenerThatThrowsKeepsTheEventFromThoseBehindItButFromNoOther() {
        TOLD.clear();
        memory.withBean(Throwing.class).run(context -> {
            LeaderElection election = context.getBean(LeaderElection.class);
            awaitLeads(election);
            long first = election.fencingToken().orElseThrow();
            List<String> threads = new CopyOnWriteArrayList<>();
            election.addListener(new LeaderElection.Listener() {
                @Override
                public void onElected(LeaderElection.Elected event) {
                    if (event.fencingToken() > first) { // the first may be delivered only now
                        threads.add(Thread.currentThread().getName());
                    }
                }
            });
            election.resign();
            Actor.await("the listener is told", () -> threads.size() == 1);
            assertThat(threads.get(0)).startsWith("lock-leader-reports-");
        });
        assertThat(TOLD).containsExactly("revoked reports", "revoked reports", "destroyed");
    }

    @Test
    void onRedisTheLockIsReleasedBeforeTheContextIsClosed() {
        TOLD.clear();
        try (RedisServer server = RedisServer.start()) {
            new ApplicationContextRunner()
                    .withBean(
                            RedisConnectionFactory.class,
                            () -> new LettuceConnectionFactory(server.host(), server.port()))
                    .withUserConfiguration(Application.class)
                    .withConfiguration(AutoConfigurations.of(LockAutoConfiguration.class))
                    .run(context -> awaitLeads(context.getBean(LeaderElection.class)));
            assertThat(server.command("EXISTS", "lock:leader:reports")).isEqualTo(0L);
        }
        assertThat(TOLD).containsExactly("granted reports", "revoked reports", "destroyed");
    }

    @Test
    void aGaugeShowsWhoLeads() {
        memory.withBean(SimpleMeterRegistry.class).run(context -> {
            LeaderElection election = context.getBean(LeaderElection.class);
            awaitLeads(election);
            MeterRegistry meters = context.getBean(MeterRegistry.class);
            assertThat(meters.get("lock.leader").tag("role", "reports").gauge().value())
                    .isEqualTo(1);
            election.stop();
            assertThat(meters.get("lock.leader").gauge().value()).isZero();
        });
    }

    @Test
    void withoutAnElectionThereIsNoGauge() {
        new ApplicationContextRunner()
                .withPropertyValues("lock.type=memory")
                .withBean(SimpleMeterRegistry.class)
                .withConfiguration(
                        AutoConfigurations.of(LockAutoConfiguration.class, LockObservabilityAutoConfiguration.class))
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean("lockbootLeaderGauges"));
    }

    @Test
    void theLockOfARoleIsConfiguredByItsGroup() {
        memory.withPropertyValues("lock.locks.reports.ttl=7s", "lock.max-hold=1s")
                .run(context ->
                        assertThat(context.getBean(LeaderElection.class)).isNotNull());
        memory.withPropertyValues("lock.locks.reports.permits=2")
                .run(context -> assertThat(context.getStartupFailure())
                        .rootCause()
                        .hasMessageContaining("lock.locks.[reports].permits"));
    }
}
