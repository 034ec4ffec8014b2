package io.github.lockboot.autoconfigure;

import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;

import io.github.lockboot.aop.InvalidLockDefinitionException;
import io.github.lockboot.internal.Troubleshooting;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

class LockFailureAnalyzer extends AbstractFailureAnalyzer<Throwable> {

    @Override
    protected @Nullable FailureAnalysis analyze(Throwable rootFailure, Throwable cause) {
        LockStartupException unusable = findCause(rootFailure, LockStartupException.class);
        if (unusable != null) {
            return unusable.analysis;
        }
        InvalidLockDefinitionException invalid = findCause(rootFailure, InvalidLockDefinitionException.class);
        return invalid == null
                ? null
                : new FailureAnalysis(
                        "Methods annotated with @DistributedLock cannot be locked as written:\n\n"
                                + list(invalid.getFindings(), finding -> finding.method() + ": " + finding.problem()),
                        "Change them:\n\n"
                                + list(invalid.getFindings(), finding -> finding.method() + ": " + finding.action())
                                + "\n\nSee " + Troubleshooting.PAGE + "invalidlockdefinitionexception",
                        invalid);
    }

    static <T> String list(List<T> findings, Function<T, String> text) {
        return findings.stream().map(finding -> "  - " + text.apply(finding)).collect(Collectors.joining("\n"));
    }
}
