package io.github.lockboot.sample.live;

import java.util.List;

/** A use of locks that the page shows and can put under load. */
public interface Scenario {

    /** As the page and {@code /loads/<name>} call it. */
    String name();

    /** The values of {@code mode}. The first is the default. An empty list means that there is no choice. */
    default List<String> modes() {
        return List.of();
    }

    /** How many threads of each instance work during a load. */
    int workers();

    /** Called once for a load, in the instance that received the request, before any worker starts. */
    default void prepare(Load load) {}

    /**
     * One piece of work; called again and again until the load is over.
     *
     * @param worker counts the threads of this instance from 0
     * @return whether this worker has more to do
     */
    boolean step(Load load, int worker) throws InterruptedException;

    /** Called once for each worker, after its last step, unless the application stops. */
    default void finish(Load load, int worker) throws InterruptedException {}

    /** What the page shows of it, written as JSON. It is read from Redis. */
    Object state();

    /** The names of the locks that the page shows. */
    List<String> locks();
}
