package io.github.lockboot.autoconfigure;

import java.util.List;

import io.github.lockboot.internal.Troubleshooting;
import io.github.lockboot.redis.Finding;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.util.StringUtils;

/** Startup fails because locks would not work. */
class LockStartupException extends IllegalStateException {

    private static final long serialVersionUID = 1L;

    private static final String START = Troubleshooting.PAGE + "the-application-does-not-start";
    private static final String CHECK = Troubleshooting.PAGE + "the-self-check-found-something";

    final transient FailureAnalysis analysis;

    /** No {@code LockRegistry}, or no unique one, could be found or created. */
    LockStartupException(String problem, String action) {
        super(problem + ": " + action + "; see " + START);
        this.analysis = new FailureAnalysis(problem + ".", StringUtils.capitalize(action) + ".\n\nSee " + START, this);
    }

    /** The registry cannot be created as configured. The message has the reason, followed by the action. */
    LockStartupException(IllegalStateException refused) {
        super(refused.getMessage() + "; see " + START, refused);
        String[] problemAndAction = String.valueOf(refused.getMessage()).split("; ", 2);
        this.analysis = new FailureAnalysis(
                StringUtils.capitalize(problemAndAction[0]) + ".",
                StringUtils.capitalize(problemAndAction[problemAndAction.length - 1]) + ".\n\nSee " + START,
                this);
    }

    /** The startup check found that locks would be unreliable. */
    LockStartupException(List<Finding> findings) {
        super(LockFailureAnalyzer.list(findings, Finding::toString) + "; see " + CHECK);
        this.analysis = new FailureAnalysis(
                "Locks are not reliable here (lock.startup-check=fail):\n\n"
                        + LockFailureAnalyzer.list(findings, Finding::problem),
                "Fix the following:\n\n" + LockFailureAnalyzer.list(findings, Finding::action)
                        + "\n\nOr set lock.startup-check=warn.\n\nSee " + CHECK,
                this);
    }
}
