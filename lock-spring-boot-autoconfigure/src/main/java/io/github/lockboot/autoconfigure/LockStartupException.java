package io.github.lockboot.autoconfigure;

import java.util.List;

import io.github.lockboot.redis.Finding;
import org.springframework.util.StringUtils;

/** Startup fails because locks would not work. Carries the texts of its failure analysis. */
class LockStartupException extends IllegalStateException {

    private static final long serialVersionUID = 1L;

    private final String description;
    private final String action;

    /** No {@code LockRegistry}, or no unique one, could be found or created. */
    LockStartupException(String problem, String action) {
        super(problem + ": " + action);
        this.description = problem + ".";
        this.action = StringUtils.capitalize(action) + ".";
    }

    /** The startup check found that locks would be unreliable. */
    LockStartupException(List<Finding> findings) {
        super(LockFailureAnalyzer.list(findings, Finding::toString));
        this.description = "Locks are not reliable here (lock.startup-check=fail):\n\n"
                + LockFailureAnalyzer.list(findings, Finding::problem);
        this.action = "Fix the following:\n\n" + LockFailureAnalyzer.list(findings, Finding::action)
                + "\n\nOr set lock.startup-check=warn.";
    }

    String getDescription() {
        return description;
    }

    String getAction() {
        return action;
    }
}
