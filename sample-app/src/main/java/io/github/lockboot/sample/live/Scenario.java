package io.github.lockboot.sample.live;

import java.util.List;

/** A use of locks that the page shows and can put under load. */
public abstract class Scenario {

    private final String name;
    private final int workers;
    private final List<String> locks;

    /**
     * @param name as the page and {@code /loads/<name>} call it
     * @param workers how many threads of each instance work during a load
     * @param locks the names of the locks that the page shows
     */
    protected Scenario(String name, int workers, String... locks) {
        this.name = name;
        this.workers = workers;
        this.locks = List.of(locks);
    }

    public String name() {
        return name;
    }

    int workers() {
        return workers;
    }

    public List<String> locks() {
        return locks;
    }

    /** The values of {@code mode}. The first is the default. An empty list means that there is no choice. */
    public List<String> modes() {
        return List.of();
    }

    /** Called once for a load, in the instance that received the request, before any worker starts. */
    public void prepare(Load load) {}

    /**
     * One piece of work; called again and again until the load is over.
     *
     * @param worker counts the threads of this instance from 0
     * @return whether this worker has more to do
     */
    public abstract boolean step(Load load, int worker) throws InterruptedException;

    /** Called once for each worker, after its last step, unless the application stops. */
    public void finish(Load load, int worker) throws InterruptedException {}

    /** What the page shows of it, written as JSON. It is read from Redis. */
    public abstract Object state();
}
