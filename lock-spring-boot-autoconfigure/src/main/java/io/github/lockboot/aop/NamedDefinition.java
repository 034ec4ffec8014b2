package io.github.lockboot.aop;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

import io.github.lockboot.LockSet;

/** A lock that a call needs. */
record NamedDefinition(String name, LockDefinition definition) {

    /** The same for all methods of the fleet. If two are equal, the one that is kept beyond the call comes first. */
    private static final Comparator<NamedDefinition> GLOBAL_ORDER = Comparator.comparing(NamedDefinition::name)
            .thenComparing(wanted -> wanted.definition.registry())
            .thenComparing(wanted -> wanted.definition.keep() == null);

    /** @param leased whether the holds belong to the call in any case */
    static List<LockSet.Wanted> locks(List<NamedDefinition> needed, boolean leased) {
        return needed.stream()
                .map(each -> each.definition.lock(each.name, leased))
                .toList();
    }

    /** In the order in which they must be taken, each once. */
    static List<NamedDefinition> inOrder(List<NamedDefinition> wanted) {
        if (wanted.size() < 2) {
            return wanted;
        }
        List<NamedDefinition> ordered = new ArrayList<>(wanted.size());
        wanted.stream().sorted(GLOBAL_ORDER).forEach(next -> {
            if (ordered.isEmpty() || !next.isSameAs(ordered.get(ordered.size() - 1))) {
                ordered.add(next);
            }
        });
        return ordered;
    }

    private boolean isSameAs(NamedDefinition other) {
        return name.equals(other.name) && definition.registry().equals(other.definition.registry());
    }
}
