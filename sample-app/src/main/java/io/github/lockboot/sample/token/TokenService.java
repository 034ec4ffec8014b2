package io.github.lockboot.sample.token;

import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;

import io.github.lockboot.sample.BadParameterException;
import io.github.lockboot.sample.NeedsLocks;
import io.github.lockboot.sample.live.Waits;
import org.springframework.stereotype.Service;

@Service
@NeedsLocks
class TokenService {

    static final String NAME = "token";

    private static final Duration UPSTREAM_TAKES = Duration.ofMillis(300);

    private final List<TokenSource> sources;
    private final TokenCache cache;
    private final Waits waits;

    TokenService(List<TokenSource> sources, TokenCache cache, Waits waits) {
        this.sources =
                sources.stream().sorted(Comparator.comparing(TokenSource::mode)).toList();
        this.cache = cache;
        this.waits = waits;
    }

    List<String> modes() {
        return sources.stream().map(TokenSource::mode).toList();
    }

    String get(String mode) throws InterruptedException {
        TokenSource source = source(mode);
        String cached = cache.get();
        if (cached != null) {
            return cached;
        }
        AtomicBoolean fetched = new AtomicBoolean();
        String token = waits.during(
                NAME,
                () -> source.get(cache, () -> {
                    fetched.set(true);
                    return fetch();
                }));
        if (!fetched.get()) {
            cache.count("waitersServed");
        }
        return token;
    }

    /** @return whether there was one */
    boolean expire() {
        boolean removed = cache.remove();
        if (removed) {
            cache.count("expiries");
        }
        return removed;
    }

    TokenStats stats() {
        return new TokenStats(cache.counted("upstreamCalls"), cache.counted("waitersServed"));
    }

    private String fetch() throws InterruptedException {
        cache.count("upstreamCalls");
        Thread.sleep(UPSTREAM_TAKES.toMillis());
        String token = UUID.randomUUID().toString();
        cache.put(token);
        return token;
    }

    private TokenSource source(String mode) {
        return sources.stream()
                .filter(source -> source.mode().equals(mode))
                .findAny()
                .orElseThrow(() -> new BadParameterException("mode", "must be one of " + String.join(", ", modes())));
    }
}
