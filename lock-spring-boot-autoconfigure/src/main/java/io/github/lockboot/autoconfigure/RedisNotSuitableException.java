package io.github.lockboot.autoconfigure;

import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;

import io.github.lockboot.redis.Finding;

/** The startup check found problems that make locks unreliable. */
class RedisNotSuitableException extends LockStartupException {

    private static final long serialVersionUID = 1L;

    RedisNotSuitableException(List<Finding> findings) {
        super(
                list(findings, Finding::toString),
                "Locks are not reliable here (lock.startup-check=fail):\n\n" + list(findings, Finding::problem),
                "Fix the following:\n\n" + list(findings, Finding::action) + "\n\nOr set lock.startup-check=warn.");
    }

    private static String list(List<Finding> findings, Function<Finding, String> text) {
        return findings.stream().map(finding -> "  - " + text.apply(finding)).collect(Collectors.joining("\n"));
    }
}
