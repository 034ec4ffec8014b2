package io.github.lockboot.autoconfigure;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

class LockStartupFailureAnalyzer extends AbstractFailureAnalyzer<LockStartupException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, LockStartupException cause) {
        return new FailureAnalysis(cause.getDescription(), cause.getAction(), cause);
    }
}
