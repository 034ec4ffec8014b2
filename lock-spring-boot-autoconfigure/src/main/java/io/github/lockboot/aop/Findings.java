package io.github.lockboot.aop;

import java.util.ArrayList;
import java.util.List;

import io.github.lockboot.aop.InvalidLockDefinitionException.Finding;

/** What is wrong with the annotations of one method. */
final class Findings {

    private final LockedMethod method;
    private final List<Finding> list = new ArrayList<>(0);

    Findings(LockedMethod method) {
        this.method = method;
    }

    void add(String problem, String action) {
        list.add(method.finding(problem, action));
    }

    void addReturns(String problem, String action) {
        add("returns " + method.resultType().getSimpleName() + ", " + problem, action);
    }

    List<Finding> list() {
        return list;
    }

    void throwIfAny() {
        if (!list.isEmpty()) {
            throw new InvalidLockDefinitionException(list);
        }
    }
}
