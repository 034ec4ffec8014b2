package io.github.lockboot.autoconfigure;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.util.StringUtils;

class NoRegistryForLocksFailureAnalyzer extends AbstractFailureAnalyzer<NoRegistryForLocksException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, NoRegistryForLocksException cause) {
        return new FailureAnalysis(cause.getProblem() + ".", StringUtils.capitalize(cause.getMend()) + ".", cause);
    }
}
