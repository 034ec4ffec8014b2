package io.github.lockboot.redis.engine;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import io.github.lockboot.internal.Unexpected;
import io.github.lockboot.redis.protocol.LockStore;
import io.github.lockboot.redis.protocol.Reply;

/** Ends acquisition ids whose fate in Redis is unknown: says so again until Redis answers. */
final class Settler {

    /** Beyond this many ids at once, the rest is left to expire. */
    private static final int MOST = 1_000;

    private final EngineContext context;
    private final LockStore store;
    private final AtomicInteger open = new AtomicInteger();

    Settler(EngineContext context, LockStore store) {
        this.context = context;
        this.store = store;
    }

    /** @return completes when Redis has answered, or nobody will ask again */
    CompletableFuture<Void> unlock(String name, String id, long lastToken) {
        return settle(() -> store.unlock(name, id, lastToken));
    }

    /** @return completes when Redis has answered, or nobody will ask again */
    CompletableFuture<Void> cancel(String name, String id) {
        return settle(() -> store.cancel(name, id));
    }

    /** Whether Redis has been told of all. */
    boolean isIdle() {
        return open.get() == 0;
    }

    private CompletableFuture<Void> settle(Supplier<CompletableFuture<Reply>> end) {
        CompletableFuture<Void> settled = new CompletableFuture<>();
        if (open.incrementAndGet() > MOST) {
            open.decrementAndGet();
            settled.complete(null);
            return settled;
        }
        settled.whenComplete((none, failure) -> open.decrementAndGet());
        tryToSettle(end, settled, context.shortestPause());
        return settled;
    }

    private void tryToSettle(Supplier<CompletableFuture<Reply>> end, CompletableFuture<Void> settled, long pause) {
        end.get().whenComplete((reply, failure) -> {
            try {
                if (failure == null || context.isClosed()) {
                    settled.complete(null);
                } else {
                    long longer = Math.min(2 * pause, context.longestPause());
                    context.schedule(context.jittered(pause), () -> tryToSettle(end, settled, longer));
                }
            } catch (Throwable thrown) { // left to expire
                settled.complete(null);
                Unexpected.failure("when an end was to be repeated", thrown);
            }
        });
    }
}
