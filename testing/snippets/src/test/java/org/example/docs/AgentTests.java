package org.example.docs;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.github.lockboot.Lease;
import io.github.lockboot.LockLostException;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRegistry;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** What docs/recipes.md shows of an agent that claims a task: each of its calls may reach another instance. */
class AgentTests extends OnRedis {

    private final Map<String, List<String>> results = new ConcurrentHashMap<>();
    private AgentTasks here;
    private AgentTasks there;

    @BeforeEach
    void twoInstances() {
        here = new AgentTasks(registry, results);
        there = new AgentTasks(anotherInstance(), results);
    }

    @Test
    void oneAgentWorksOnATaskWhicheverInstanceItsCallsReach() throws Exception {
        String claim = here.claim("1");
        assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> there.claim("1"));
        claim = there.step(claim, "read");
        claim = here.step(claim, "written");
        there.finish(claim);
        assertThat(results.get("task:1")).containsExactly("read", "written");
        there.finish(here.claim("1"));
    }

    @Test
    void aClaimIsUsedOnce() throws Exception {
        String claim = here.claim("2");
        String next = there.step(claim, "read");
        assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> here.step(claim, "read"));
        here.finish(next);
        assertThat(results.get("task:2")).containsExactly("read");
    }

    @Test
    void aStepThatFailsGivesTheTaskBack() throws Exception {
        String claim = here.claim("3");
        assertThatIllegalStateException().isThrownBy(() -> there.step(claim, ""));
        here.finish(here.claim("3"));
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}
}

class AgentTasks {

    // tag::agent
    private static final LockOptions CLAIM = LockOptions.defaults()
            .withGroup("task")
            .withTtl(Duration.ofMinutes(5))
            .withWaitTime(Duration.ZERO);

    String claim(String task) throws InterruptedException {
        return locks.acquire("task:" + task, CLAIM).handOver();
    }

    String step(String claim, String result) throws InterruptedException {
        try (Lease lease = locks.takeOver(claim, CLAIM)) { // also if another instance has given the claim
            store(lease.name(), lease.fencingToken(), result);
            return lease.handOver(); // for the next step, within 5 minutes; then close does nothing
        }
    }

    void finish(String claim) throws InterruptedException {
        locks.takeOver(claim, CLAIM).close();
    }
    // end::agent

    private final LockRegistry locks;
    private final Map<String, List<String>> results;

    AgentTasks(LockRegistry locks, Map<String, List<String>> results) {
        this.locks = locks;
        this.results = results;
    }

    private void store(String task, long token, String result) {
        if (result.isEmpty()) {
            throw new IllegalStateException("no result under token " + token);
        }
        results.computeIfAbsent(task, t -> new ArrayList<>()).add(result);
    }
}
