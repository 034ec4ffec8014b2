package org.example.docs;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockboot.DistributedLock;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.stereotype.Service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** What docs/recipes.md shows of a request that a client may send again. */
class IdempotencyTests extends OnRedis {

    @Autowired
    private Charges charges;

    @Test
    void aRequestThatIsSentAgainIsDoneOnceAndAnsweredTheSame() throws Exception {
        int before = charges.made();
        List<String> answers = atOnce(16, () -> charges.charge("key-1", 100));
        assertThat(Set.copyOf(answers)).hasSize(1);
        assertThat(charges.charge("key-1", 100)).isEqualTo(answers.get(0));
        assertThat(charges.charge("key-2", 100)).isNotEqualTo(answers.get(0));
        assertThat(charges.made() - before).isEqualTo(2);
    }

    @Test
    void whatFailsIsNotStoredSoThatItMayBeSentAgain() {
        assertThatIllegalStateException().isThrownBy(() -> charges.charge("key-3", -1));
        assertThat(charges.charge("key-3", 100)).startsWith("charge ");
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Charges.class)
    static class Application {}
}

// tag::idempotent
@Service
class Charges {

    private final StringRedisTemplate answers;

    Charges(StringRedisTemplate answers) {
        this.answers = answers;
    }

    @DistributedLock(name = "charge", key = "#idempotencyKey", waitTime = "10s")
    public String charge(String idempotencyKey, long cents) { // the header Idempotency-Key of the request
        String stored = answers.opsForValue().get("answer:" + idempotencyKey);
        if (stored != null) {
            return stored;
        }
        String answer = send(cents);
        answers.opsForValue().set("answer:" + idempotencyKey, answer, Duration.ofDays(1));
        return answer;
    }
    // end::idempotent

    private final AtomicInteger made = new AtomicInteger();

    int made() {
        return made.get();
    }

    private String send(long cents) {
        if (cents < 0) {
            throw new IllegalStateException("refused");
        }
        return "charge " + made.incrementAndGet();
    }
}
