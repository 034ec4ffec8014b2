package io.github.lockboot.autoconfigure;

import java.util.function.Function;
import java.util.stream.Collectors;

import io.github.lockboot.aop.InvalidLockDefinitionException;
import io.github.lockboot.aop.InvalidLockDefinitionException.Finding;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

class InvalidLockDefinitionFailureAnalyzer extends AbstractFailureAnalyzer<InvalidLockDefinitionException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, InvalidLockDefinitionException cause) {
        return new FailureAnalysis(
                "Methods annotated with @DistributedLock cannot be locked as written:\n\n"
                        + list(cause, Finding::problem),
                "Change them:\n\n" + list(cause, Finding::action),
                cause);
    }

    private static String list(InvalidLockDefinitionException cause, Function<Finding, String> column) {
        return cause.getFindings().stream()
                .map(finding -> "  - " + finding.method() + ": " + column.apply(finding))
                .collect(Collectors.joining("\n"));
    }
}
