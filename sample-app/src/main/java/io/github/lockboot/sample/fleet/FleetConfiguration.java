package io.github.lockboot.sample.fleet;

import java.time.Duration;

import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.leader.LeaderElection;
import io.github.lockboot.sample.NeedsLocks;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.EnableScheduling;

@Configuration(proxyBeanMethods = false)
@EnableScheduling
@NeedsLocks
class FleetConfiguration {

    /** If the leader dies or is paused, another leads after this time. */
    private static final Duration TTL = Duration.ofSeconds(3);

    @Bean
    LeaderElection publisher(LockRegistry locks) {
        return LeaderElection.of(
                locks, LeaderScenario.ROLE, LockOptions.defaults().withTtl(TTL));
    }
}
