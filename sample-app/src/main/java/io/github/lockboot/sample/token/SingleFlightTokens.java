package io.github.lockboot.sample.token;

import io.github.lockboot.LockTemplate;
import io.github.lockboot.sample.NeedsLocks;
import org.springframework.stereotype.Component;

/** Single flight: one caller leads and fetches, all others wait for it and get the token at the same time, without a lock. */
@Component
@NeedsLocks
class SingleFlightTokens implements TokenSource {

    static final String FLIGHT = "token";

    private final LockTemplate template;

    SingleFlightTokens(LockTemplate template) {
        this.template = template;
    }

    @Override
    public String mode() {
        return "single-flight";
    }

    @Override
    @SuppressWarnings("NullAway") // the cache may return null
    public String get(TokenCache cache, Upstream upstream) throws InterruptedException {
        return template.singleFlight(FLIGHT, cache::get, upstream::fetch);
    }
}
