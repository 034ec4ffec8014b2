package io.github.lockboot.redis.connection;

import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeoutException;

import io.github.lockboot.internal.Timer;

/**
 * Fails commands that are not answered within the command timeout, plus at most a tenth. All commands have the same timeout and
 * expire in the order they were sent, so one periodic check is enough. A timer for each would cost more than the command.
 */
final class CommandTimeouts {

    private record Sent(CompletableFuture<?> reply, long at) {}

    private final Timer timer;
    private final long timeoutNanos;
    private final Queue<Sent> inOrder = new ConcurrentLinkedQueue<>();
    private final Timer.Check check;
    private volatile boolean closed;

    CommandTimeouts(Timer timer, long timeoutNanos) {
        this.timer = timer;
        this.timeoutNanos = timeoutNanos;
        this.check = timer.check(timeoutNanos / 10, this::expire);
    }

    void watch(CompletableFuture<?> reply) {
        dropAnswered();
        inOrder.add(new Sent(reply, timer.nanoTime()));
        if (closed) {
            close();
        } else {
            check.start();
        }
    }

    /** Removes up to two answered commands for each new one, so that they do not survive young collections. */
    private void dropAnswered() {
        for (int i = 0; i < 2; i++) {
            Sent first = inOrder.peek();
            if (first == null || !first.reply.isDone()) {
                return;
            }
            inOrder.remove(first);
        }
    }

    /** Fails all unanswered commands: the checks end. */
    void close() {
        closed = true;
        for (Sent first = inOrder.poll(); first != null; first = inOrder.poll()) {
            first.reply.completeExceptionally(
                    new TimeoutException("the lock registry was closed before Redis answered"));
        }
    }

    /** @return whether any command is left */
    private boolean expire() {
        long now = timer.nanoTime();
        for (Sent first = inOrder.peek(); first != null; first = inOrder.peek()) {
            if (!first.reply.isDone() && now - first.at < timeoutNanos) {
                break;
            }
            inOrder.remove(first); // before the callbacks, which may throw
            if (!first.reply.isDone()) {
                first.reply.completeExceptionally(new TimeoutException("Redis did not answer in time"));
            }
        }
        return !inOrder.isEmpty();
    }
}
