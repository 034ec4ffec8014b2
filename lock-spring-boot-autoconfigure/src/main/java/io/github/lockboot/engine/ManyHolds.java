package io.github.lockboot.engine;

import java.util.AbstractCollection;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

/**
 * The holds of a queue that has many, as of readers: one more or less costs the same, however many there are. A few are
 * a list instead, which is copied by each change. Changed with the mutex of the queue held; may be read without it.
 */
final class ManyHolds extends AbstractCollection<Hold> {

    private static final int FEW = 16;

    /** Concurrent, because questions of threads read it without the mutex. */
    private final Set<Hold> all = ConcurrentHashMap.newKeySet();

    private final Map<Thread, Hold> byThread = new ConcurrentHashMap<>();

    private ManyHolds(Collection<Hold> holds) {
        holds.forEach(this::add);
    }

    /** {@return the holds with another one} */
    static Collection<Hold> with(Collection<Hold> holds, Hold another) {
        if (holds instanceof ManyHolds || holds.size() >= FEW) {
            Collection<Hold> many = holds instanceof ManyHolds ? holds : new ManyHolds(holds);
            many.add(another);
            return many;
        }
        List<Hold> more = new ArrayList<>(holds);
        more.add(another);
        return more;
    }

    /** {@return the holds without one of them} */
    static Collection<Hold> without(Collection<Hold> holds, Hold one) {
        if (holds instanceof ManyHolds) {
            holds.remove(one);
            return holds;
        }
        List<Hold> fewer = new ArrayList<>(holds);
        fewer.remove(one);
        return fewer;
    }

    /** {@return the newest hold of the thread} */
    @Nullable
    Hold of(Thread thread) {
        return byThread.get(thread);
    }

    @Override
    public boolean add(Hold hold) {
        Thread thread = hold.thread();
        if (thread != null) {
            byThread.put(thread, hold);
        }
        return all.add(hold);
    }

    @Override
    public boolean remove(Object hold) {
        Thread thread = ((Hold) hold).thread();
        if (thread != null) {
            byThread.remove(thread, hold);
        }
        return all.remove(hold);
    }

    @Override
    public boolean contains(Object hold) {
        return all.contains(hold);
    }

    @Override
    public Iterator<Hold> iterator() {
        return all.iterator();
    }

    @Override
    public int size() {
        return all.size();
    }
}
