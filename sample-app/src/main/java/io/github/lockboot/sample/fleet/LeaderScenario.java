package io.github.lockboot.sample.fleet;

import java.io.File;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.OptionalLong;

import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.StaleTokenException;
import io.github.lockboot.leader.LeaderElection;
import io.github.lockboot.redis.RedisFence;
import io.github.lockboot.sample.NeedsLocks;
import io.github.lockboot.sample.live.EventLog;
import io.github.lockboot.sample.live.Load;
import io.github.lockboot.sample.live.Scenario;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.http.HttpStatus;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.stereotype.Component;
import org.springframework.web.server.ResponseStatusException;

/**
 * An instance that leads, and publishes. Its load is a pause of the leader: a helper process stops the whole instance
 * and lets it go on. Meanwhile another leads and publishes, and what the first one publishes when it wakes up is
 * refused.
 */
@Component
@NeedsLocks
class LeaderScenario extends Scenario {

    static final String ROLE = "publisher";

    private static final Logger log = LoggerFactory.getLogger(LeaderScenario.class);

    private static final String CHANGES = "sample:leaders";
    private static final String PUBLISHED = "sample:published";

    /** If the leader dies or is paused, another leads after this time. */
    private static final Duration TTL = Duration.ofSeconds(3);

    private static final Duration KEPT = Duration.ofDays(1);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(20);

    private final LeaderElection election;
    private final RedisFence fence;
    private final Draw draw;
    private final EventLog events;

    LeaderScenario(LeaderElection election, RedisConnectionFactory redis, Draw draw, EventLog events) {
        super("leader", 1, "leader:" + ROLE, Draw.JOB);
        this.election = election;
        this.fence = new RedisFence(redis);
        this.draw = draw;
        this.events = events;
    }

    @EventListener
    void elected(LeaderElection.Elected elected) {
        events.add(CHANGES, "leads", Map.of("token", String.valueOf(elected.fencingToken())));
        publish("in time", elected.fencingToken());
    }

    /** Also because Redis is away: then it cannot store the event either. */
    @EventListener
    void revoked(LeaderElection.Revoked revoked) {
        try {
            events.add(CHANGES, "revoked", Map.of("token", String.valueOf(revoked.fencingToken())));
        } catch (DataAccessException away) {
            log.info("The page does not show that this instance leads no more: {}", away.getMessage());
        }
    }

    @Override
    public void prepare(Load load) {
        if (load.instances() < 2 || File.separatorChar == '\\') {
            throw new ResponseStatusException(
                    HttpStatus.CONFLICT, "Start a second instance first; Windows cannot pause a process.");
        }
    }

    @Override
    public boolean step(Load load, int worker) throws InterruptedException {
        OptionalLong token = election.fencingToken();
        if (token.isPresent()) {
            long seconds = Math.min(load.duration().toSeconds(), LONGEST_PAUSE.toSeconds());
            events.add("paused", Map.of("seconds", String.valueOf(seconds)));
            pause(seconds);
            publish("late", token.getAsLong());
        }
        return false;
    }

    /** The helper ignores Ctrl-C, so that this process always goes on. */
    private static void pause(long seconds) throws InterruptedException {
        String script = "trap '' INT HUP TERM; kill -STOP $0; sleep $1; kill -CONT $0";
        String self = String.valueOf(ProcessHandle.current().pid());
        try {
            new ProcessBuilder("sh", "-c", script, self, String.valueOf(seconds))
                    .start()
                    .waitFor();
        } catch (IOException e) {
            throw new IllegalStateException("cannot pause this process", e);
        }
    }

    private void publish(String what, long token) {
        try {
            fence.set(PUBLISHED, what, token, KEPT);
        } catch (StaleTokenException refused) {
            events.add(
                    "refused",
                    Map.of(
                            "price", what,
                            "token", String.valueOf(token),
                            "newest", String.valueOf(refused.getNewestToken())));
        }
    }

    @Override
    public Object state() {
        return Map.of("changes", events.newest(CHANGES, 5), "draws", draw.count(), "runs", draw.runs());
    }

    @Configuration(proxyBeanMethods = false)
    @EnableScheduling
    @NeedsLocks
    static class Election {

        @Bean
        LeaderElection publisher(LockRegistry locks) {
            return LeaderElection.of(locks, ROLE, LockOptions.defaults().withTtl(TTL));
        }
    }
}
