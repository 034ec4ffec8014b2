package io.github.lockboot.internal;

import java.security.CodeSource;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

/**
 * In which order the threads of this process ask for locks while they hold others. If two threads take two locks in opposite orders, each
 * may wait for the other until a wait time ends, and neither that wait nor the store shows why.
 *
 * <p>There is one graph for all registries. Its nodes are groups; a lock without a group is a node of its own. An edge leads from each lock
 * that a thread holds to the one that it waits for, and knows which of both names comes first: who takes several locks sorted by name never waits
 * in a circle, whatever their groups. An edge and its reverse are reported once, with the places in the code where they were first
 * seen. No command is needed, and no thread without a lock gets here.
 */
public final class LockOrder {

    public static final LockOrder OF_PROCESS = new LockOrder();

    /** No more edges are kept, because locks without a group may be without number. */
    static final int MOST_EDGES = 1_000;

    private static final StackWalker CALLERS = StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE);

    private static final @Nullable CodeSource LIBRARY = sourceOf(LockOrder.class);

    /** Where each edge was first seen. */
    private final Map<Edge, String> places = new ConcurrentHashMap<>();

    /** A lock, as the order knows it. */
    public record Node(@Nullable String group, String name) {

        private String text() {
            return group != null ? group : name;
        }
    }

    /** Is told of locks that are asked for in both orders. */
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

    /** The current thread, which holds locks, is about to wait for another. */
    public void check(Node wanted, Report report) {
        HeldByThread.all().map(HeldByThread::node).filter(Objects::nonNull).forEach(held -> {
            Edge edge = Edge.of(held, wanted);
            if (!places.containsKey(edge) && !edge.isLoop() && places.size() < MOST_EDGES) {
                add(edge, held, report);
            }
        });
    }

    private void add(Edge edge, Node held, Report report) {
        String here = place();
        String there;
        synchronized (places) {
            there = places.putIfAbsent(edge, here) == null ? places.get(edge.reversed()) : null;
        }
        if (there != null) {
            report.bothOrders(held, here, there);
        }
    }

    /** The newest call of code that is neither of this library, nor of the JDK, nor of Spring; {@code ?} in a native image. */
    private static String place() {
        Optional<String> caller =
                CALLERS.walk(frames -> frames.filter(frame -> isOfApplication(frame.getDeclaringClass()))
                        .map(frame -> frame.toStackTraceElement().toString())
                        .findFirst());
        return caller.orElse("?");
    }

    private static boolean isOfApplication(Class<?> type) {
        CodeSource source = sourceOf(type);
        String name = type.getName();
        return source != null
                && !source.equals(LIBRARY)
                && !name.startsWith("org.springframework.")
                && !name.contains("$$");
    }

    private static @Nullable CodeSource sourceOf(Class<?> type) {
        return type.getProtectionDomain().getCodeSource();
    }
}
