package io.github.lockboot;

import java.util.concurrent.locks.ReadWriteLock;

/**
 * A pair of locks for one name: any number of threads of all instances hold the {@link #readLock() read side} at a
 * time, or one thread holds the {@link #writeLock() write side}. {@link LockRegistry#readWrite} makes it.
 *
 * <pre>{@code
 * NamedReadWriteLock prices = registry.readWrite("prices");
 * prices.readLock().lock(); // alongside other readers, but no writer
 * try {
 *     report();
 * } finally {
 *     prices.readLock().unlock();
 * }
 * }</pre>
 *
 * <p>The write side is the lock that {@link LockRegistry#get(String)} gives for the name. The read side is that lock
 * with {@link LockOptions#shared()}. So the two also exclude annotated methods, leases and templates that use the name.
 * Both sides are complete {@link NamedLock}s: each has its hold count, lease and callbacks.
 *
 * <p><b>Order.</b> No request overtakes another, as in a {@link java.util.concurrent.locks.ReentrantReadWriteLock} in
 * fair mode. A reader that arrives while a writer waits is queued behind that writer, so writers do not starve. Only if
 * readers of its JVM wait before that writer, it gets the lock with them. Readers that wait one after the other get the
 * lock together. This also holds for {@link NamedLock#tryLock()}: it fails while others wait. A thread that holds a
 * side acquires it again at once, even if others wait. In its turn a JVM may serve several of its writers, as with
 * every {@link NamedLock}. A reader that died delays a writer by at most one ttl.
 *
 * <p><b>Downgrading.</b> A thread that holds the write side may acquire the read side and then release the write side.
 * The release is one command, after which the thread holds the read side only. No writer gets in between; readers that
 * are next in the queue get the lock alongside it. It is still one hold: callbacks for a loss stay, whichever side they
 * were added on.
 *
 * <p><b>Upgrading.</b> A thread that holds the read side only and requests the write side would wait for itself. It
 * gets an {@link IllegalStateException} at once, from every method that acquires the lock. Release the read side first,
 * and check again what was read once the write side is held.
 *
 * <p><b>Tokens.</b> Each hold of the write side has a larger {@linkplain NamedLock#fencingToken() fencing token} than
 * all holds before, with the limit that is stated there. Concurrent readers have one token. It is not smaller than the
 * token of the writer before them, and it is smaller than the token of the next writer. A fence that has seen a newer
 * token refuses the token of a reader.
 */
public interface NamedReadWriteLock extends ReadWriteLock {

    /** {@return the name given to the registry, without the key prefix} */
    default String getName() {
        return writeLock().getName();
    }

    /**
     * {@return the read side, which any number of threads hold at a time}
     *
     * <ul>
     *   <li>{@code lock}, {@code lockInterruptibly}: if no thread holds the write side and none waits, the thread gets
     *       the read side, alongside all other readers. While others of this JVM read, this costs no command. If
     *       another thread holds the write side, or others wait, it waits in their queue.
     *   <li>{@code tryLock()}: the same without the wait: false if another thread holds the write side, or others wait.
     *   <li>{@code tryLock(time, unit)}: false if the time passed first.
     *   <li>If the current thread holds the read side, its count goes up. If it holds the write side, it gets the read
     *       side as well, without a command.
     *   <li>{@code unlock}: gives up one hold of the read side. The last reader grants the lock to the next writer.
     *   <li>{@code getHoldCount}, {@code isHeldByCurrentThread}: only count holds of the read side.
     *   <li>{@code isLocked}: whether any thread holds either side.
     *   <li>{@code fencingToken}: the one that all its readers have now, or the thread's own after a downgrade.
     * </ul>
     */
    @Override
    NamedLock readLock();

    /**
     * {@return the write side, which one thread holds at a time, while no thread holds the read side}
     *
     * <ul>
     *   <li>{@code lock}, {@code lockInterruptibly}: if no thread holds either side and none waits, the thread gets the
     *       write side. Otherwise it waits until all requests before it have released the lock.
     *   <li>{@code tryLock()}: false if another thread holds either side, or others wait.
     *   <li>{@code tryLock(time, unit)}: false if the time passed first.
     *   <li>If the current thread holds the write side, its count goes up. If it holds the read side only, all of these
     *       throw an {@link IllegalStateException}.
     *   <li>{@code unlock}: gives up one hold of the write side. The last one grants the lock to the next writer or the
     *       next readers; if the thread also holds the read side, it keeps it, and only readers get the lock.
     *   <li>{@code getHoldCount}, {@code isHeldByCurrentThread}: only count holds of the write side.
     *   <li>{@code isLocked}: whether any thread holds either side.
     *   <li>{@code fencingToken}: larger than that of every earlier hold.
     * </ul>
     */
    @Override
    NamedLock writeLock();
}
