package io.github.lockboot.sample.token;

import io.github.lockboot.LockTemplate;
import io.github.lockboot.sample.NeedsLocks;
import org.springframework.stereotype.Component;

/**
 * A lock with a double check: its holder looks into the cache again before it fetches. The callers that waited get the lock one
 * after the other.
 */
@Component
@NeedsLocks
class BlockingTokens implements TokenSource {

    static final String LOCK = "token";

    private final LockTemplate template;

    BlockingTokens(LockTemplate template) {
        this.template = template;
    }

    @Override
    public String mode() {
        return "blocking";
    }

    @Override
    public String get(TokenCache cache, Upstream upstream) throws InterruptedException {
        String token = cache.get();
        if (token != null) {
            return token;
        }
        return template.execute(LOCK, () -> {
            String fetchedMeanwhile = cache.get();
            return fetchedMeanwhile != null ? fetchedMeanwhile : upstream.fetch();
        });
    }
}
