package io.github.lockboot.sample.live;

/**
 * A piece of work that is watched.
 *
 * @param <T> what it returns
 * @param <E> what it throws
 */
@FunctionalInterface
public interface Work<T, E extends Throwable> {

    T run() throws E;
}
