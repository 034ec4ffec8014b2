package io.github.lockboot.internal;

import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

import org.apache.commons.logging.Log;
import org.jspecify.annotations.Nullable;

/**
 * In which order the threads of this process ask for locks while they hold others. If two threads take two locks in
 * opposite orders, each may wait for the other until a wait time ends, and neither that wait nor the store shows why.
 *
 * <p>There is one graph for all registries. Its nodes are groups; a lock without a group is a node of its own. An edge
 * leads from each lock that a thread holds to the one that it waits for, and knows which of both names comes first: who
 * takes several locks sorted by name never waits in a circle, whatever their groups. An edge and its reverse are
 * reported once, with the places in the code where they were seen, unless one lock was held alone whenever the two were
 * taken in either order: then the second thread waits for that one, which is the gate of GoodLock (Havelund, "Using
 * Runtime Analysis to Guide Model Checking of Java Programs", SPIN 2000). No command is needed, and no thread without a
 * lock gets here.
 */
public final class LockOrder {

    public static final LockOrder OF_PROCESS = new LockOrder();

    /** No more edges are kept, because locks without a group may be without number. */
    static final int MOST_EDGES = 1_000;

    /** No more of the locks that a thread holds are looked at, the newest ones. */
    static final int MOST_HELD = 16;

    private static final Log log = Logs.of(LockOrder.class);

    private final Map<Edge, Seen> edges = new ConcurrentHashMap<>();

    /** Nothing can be found any more. */
    private volatile boolean full;

    /**
     * A lock, as the order knows it.
     *
     * @param alone whether its holder holds it alone
     */
    public record Node(@Nullable String group, String name, boolean alone) {

        private String text() {
            return group != null ? group : name;
        }
    }

    /** Is notified of locks that are requested in opposite orders. */
    public interface Report {

        /**
         * @param held the lock that the current thread holds
         * @param here where it asks for the other one
         * @param there where the two were asked for in the other order
         */
        void bothOrders(Node held, String here, String there);
    }

    /** @param names the order of both names: negative if that of the held one comes first */
    private record Edge(String held, String wanted, int names) {

        static Edge of(Node held, Node wanted) {
            return new Edge(held.text(), wanted.text(), Integer.signum(held.name.compareTo(wanted.name)));
        }

        boolean isLoop() {
            return held.equals(wanted) && names == 0;
        }

        Edge reversed() {
            return new Edge(wanted, held, -names);
        }
    }

    /** @param gates the names of the locks that were held alone, besides, each time */
    private record Seen(String place, Set<String> gates) {

        boolean hasGateOf(Seen other) {
            return !Collections.disjoint(gates, other.gates);
        }
    }

    /** The current thread, which holds locks, is about to wait for another. */
    public void check(Node wanted, Report report) {
        if (full) {
            return;
        }
        List<Node> all = HeldByThread.newest(MOST_HELD)
                .map(HeldByThread::node)
                .filter(Objects::nonNull)
                .toList();
        for (Node held : all) {
            Edge edge = Edge.of(held, wanted);
            Seen known = edges.get(edge);
            if (!edge.isLoop() && (known == null || !known.gates.isEmpty())) {
                Set<String> gates = all.stream()
                        .filter(each -> each.alone && !each.equals(held))
                        .map(Node::name)
                        .collect(Collectors.toCollection(HashSet::new));
                if (known == null || !gates.containsAll(known.gates)) {
                    add(edge, gates, held, report);
                }
            }
        }
    }

    private void add(Edge edge, Set<String> gates, Node held, Report report) {
        String here = CallSite.current().get();
        Seen there;
        boolean last;
        synchronized (edges) {
            Seen known = edges.get(edge);
            if (full || known != null && gates.containsAll(known.gates)) {
                return;
            }
            if (known != null) {
                gates.retainAll(known.gates);
            }
            Seen seen = new Seen(here, gates);
            edges.put(edge, seen);
            Seen reversed = edges.get(edge.reversed());
            boolean isNew =
                    reversed != null && !seen.hasGateOf(reversed) && (known == null || known.hasGateOf(reversed));
            there = isNew ? reversed : null;
            last = edges.size() >= MOST_EDGES;
            full = last;
        }
        if (there != null) {
            report.bothOrders(held, here, there.place);
        }
        if (last) {
            log.info("The order of locks is no longer checked, because " + MOST_EDGES
                    + " pairs are recorded: give nested locks a group");
        }
    }
}
