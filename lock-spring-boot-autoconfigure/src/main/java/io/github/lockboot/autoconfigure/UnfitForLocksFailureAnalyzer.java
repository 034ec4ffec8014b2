package io.github.lockboot.autoconfigure;

import java.util.function.Function;
import java.util.stream.Collectors;

import io.github.lockboot.redis.RedisLockRegistry.Finding;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

class UnfitForLocksFailureAnalyzer extends AbstractFailureAnalyzer<UnfitForLocksException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, UnfitForLocksException cause) {
        return new FailureAnalysis(
                "Locks cannot be relied on here (lock.startup-check=fail):\n\n" + list(cause, Finding::problem),
                "Mend it:\n\n" + list(cause, Finding::mend) + "\n\nOr set lock.startup-check=warn.",
                cause);
    }

    private static String list(UnfitForLocksException cause, Function<Finding, String> column) {
        return cause.getFindings().stream()
                .map(finding -> "  - " + column.apply(finding))
                .collect(Collectors.joining("\n"));
    }
}
