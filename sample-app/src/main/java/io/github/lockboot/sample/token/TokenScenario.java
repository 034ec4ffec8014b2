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
class TokenScenario implements Scenario {

    private static final int WORKERS = 8;
    private static final Duration BETWEEN_CALLS = Duration.ofMillis(20);
    private static final Duration BETWEEN_EXPIRIES = Duration.ofMillis(900);

    private final TokenService tokens;
    private final TokenCache cache;

    TokenScenario(TokenService tokens, TokenCache cache) {
        this.tokens = tokens;
        this.cache = cache;
    }

    @Override
    public String name() {
        return TokenService.NAME;
    }

    @Override
    public List<String> modes() {
        return tokens.modes();
    }

    @Override
    public int workers() {
        return WORKERS;
    }

    /** Begins with a token, so that from now on every call of the upstream has an expiry before it. */
    @Override
    public void prepare(Load load) {
        cache.put("to be expired");
        cache.resetCounts();
    }

    @Override
    public boolean step(Load load, int worker) throws InterruptedException {
        if (worker == 0 && load.isLedHere()) {
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
        return Map.of("stats", tokens.stats(), "expiries", cache.counted("expiries"));
    }

    @Override
    public List<String> locks() {
        return List.of(BlockingTokens.LOCK, "flight:" + SingleFlightTokens.FLIGHT);
    }
}
