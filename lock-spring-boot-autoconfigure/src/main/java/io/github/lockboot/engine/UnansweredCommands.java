package io.github.lockboot.engine;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/**
 * Commands whose outcome is unknown: each is repeated until the store answers.
 *
 * <p>A command that was not answered may have run, may run later, or may never run. Each command is harmless if it runs
 * twice, so the way to know is to send it again. In words: send it; if it fails, wait for a pause, which doubles up to
 * the retry interval and varies at random, and send it again, until it is answered or the registry is closed. This
 * keeps a released lock from being held until its lease ends, and an id that gave up from being granted the lock.
 */
final class UnansweredCommands {

    /** Beyond this many at once, the ids that the rest would end are left to expire. */
    private static final int MOST_REPEATED = 1_000;

    private final EngineContext context;
    private final AtomicInteger repeated = new AtomicInteger();

    UnansweredCommands(EngineContext context) {
        this.context = context;
    }

    boolean areAllAnswered() {
        return repeated.get() == 0;
    }

    /** As {@link #repeat}, for a command that ends an id. */
    CompletableFuture<Void> repeatEnd(Supplier<CompletableFuture<Reply>> end) {
        return repeated.get() < MOST_REPEATED ? repeat(end) : CompletableFuture.completedFuture(null);
    }

    /**
     * Sends a command again and again until the store answers.
     *
     * @return completes when the store has answered, or is not asked any more
     */
    CompletableFuture<Void> repeat(Supplier<CompletableFuture<Reply>> command) {
        CompletableFuture<Void> answered = new CompletableFuture<>();
        repeated.incrementAndGet();
        answered.whenComplete((none, failure) -> repeated.decrementAndGet());
        send(command, answered, context.minRetryInterval());
        return answered;
    }

    private void send(Supplier<CompletableFuture<Reply>> command, CompletableFuture<Void> answered, long pause) {
        begin(command).whenComplete((reply, failure) -> {
            if (failure == null || context.isClosed()) {
                answered.complete(null);
            } else {
                long longer = Math.min(2 * pause, context.retryInterval());
                context.schedule(context.jittered(pause), () -> send(command, answered, longer));
            }
        });
    }

    private static CompletableFuture<Reply> begin(Supplier<CompletableFuture<Reply>> command) {
        try {
            return command.get();
        } catch (Throwable notSent) {
            return CompletableFuture.failedFuture(notSent);
        }
    }
}
