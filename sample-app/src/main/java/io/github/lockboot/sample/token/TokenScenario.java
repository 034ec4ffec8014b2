package io.github.lockboot.sample.token;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import io.github.lockboot.sample.NeedsLocks;
import io.github.lockboot.sample.live.Load;
import io.github.lockboot.sample.live.Scenario;
import org.springframework.stereotype.Component;

/** All workers want the token, and it expires again and again. */
@Component
@NeedsLocks
class TokenScenario extends Scenario {

    private static final Duration BETWEEN_CALLS = Duration.ofMillis(20);
    private static final Duration BETWEEN_EXPIRIES = Duration.ofMillis(900);

    private final TokenService tokens;

    TokenScenario(TokenService tokens) {
        super(TokenService.NAME, 8, TokenService.NAME);
        this.tokens = tokens;
    }

    @Override
    public List<String> modes() {
        return TokenService.MODES;
    }

    @Override
    public void prepare(Load load) {
        tokens.reset();
    }

    @Override
    public boolean step(Load load, int worker) throws InterruptedException {
        if (worker == 0 && load.ledHere()) {
            tokens.expire();
            load.sleep(BETWEEN_EXPIRIES);
        } else {
            tokens.get(load.mode());
            load.sleep(BETWEEN_CALLS);
        }
        return true;
    }

    @Override
    public Object state() {
        return Map.of("stats", tokens.stats(), "expiries", tokens.expiries());
    }
}
