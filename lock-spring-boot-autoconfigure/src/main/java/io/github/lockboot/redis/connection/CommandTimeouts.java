package io.github.lockboot.redis.connection;

import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeoutException;

import io.github.lockboot.internal.PeriodicCheck;
import io.github.lockboot.internal.Timer;

/**
 * Fails what is not answered within the command timeout, give or take a tenth. All have the same timeout, so they expire in the
 * order they were sent in, and one look now and then serves all; a timer for each command would cost more than sending it.
 */
final class CommandTimeouts {

    private record Sent(CompletableFuture<?> reply, long at) {}

    private final Timer timer;
    private final long timeoutNanos;
    private final Queue<Sent> inOrder = new ConcurrentLinkedQueue<>();
    private final PeriodicCheck looks;
    private volatile boolean closed;

    CommandTimeouts(Timer timer, long timeoutNanos) {
        this.timer = timer;
        this.timeoutNanos = timeoutNanos;
        this.looks = new PeriodicCheck(timer, timeoutNanos / 10, this::look);
    }

    void watch(CompletableFuture<?> reply) {
        dropAnswered();
        Sent sent = new Sent(reply, timer.nanoTime());
        inOrder.add(sent);
        if (closed) {
            failAtClose(sent);
        } else {
            looks.start();
        }
    }

    /** Keeps the garbage young: what is answered is let go faster than new ones come, not at the next look. */
    private void dropAnswered() {
        for (int i = 0; i < 2; i++) {
            Sent first = inOrder.peek();
            if (first == null || !first.reply.isDone()) {
                return;
            }
            inOrder.remove(first);
        }
    }

    /** Nobody looks any more; who waits for an answer is not left waiting. */
    void close() {
        closed = true;
        inOrder.forEach(CommandTimeouts::failAtClose);
    }

    private static void failAtClose(Sent sent) {
        sent.reply.completeExceptionally(new TimeoutException("the lock registry was closed before Redis answered"));
    }

    /** @return whether anything is to be watched on */
    private boolean look() {
        expire(timer.nanoTime());
        return !inOrder.isEmpty();
    }

    private void expire(long now) {
        for (Sent first = inOrder.peek(); first != null; first = inOrder.peek()) {
            if (!first.reply.isDone() && now - first.at < timeoutNanos) {
                break;
            }
            inOrder.remove(first); // whatever comes of telling it
            if (!first.reply.isDone()) {
                first.reply.completeExceptionally(new TimeoutException("Redis did not answer in time"));
            }
        }
    }
}
