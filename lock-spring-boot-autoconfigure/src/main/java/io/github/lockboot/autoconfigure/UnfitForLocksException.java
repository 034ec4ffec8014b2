package io.github.lockboot.autoconfigure;

import java.util.List;
import java.util.stream.Collectors;

import io.github.lockboot.redis.RedisLockRegistry.Finding;

/** The start-up check found that locks cannot be relied on here. */
class UnfitForLocksException extends IllegalStateException {

    private static final long serialVersionUID = 1L;

    private final transient List<Finding> findings;

    UnfitForLocksException(List<Finding> findings) {
        super(findings.stream().map(Finding::toString).collect(Collectors.joining("\n")));
        this.findings = findings;
    }

    List<Finding> getFindings() {
        return findings;
    }
}
