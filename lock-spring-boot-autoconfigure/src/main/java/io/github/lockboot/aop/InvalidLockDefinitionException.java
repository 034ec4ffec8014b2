package io.github.lockboot.aop;

import java.util.List;
import java.util.stream.Collectors;

import io.github.lockboot.internal.Troubleshooting;

/**
 * One or more uses of {@link io.github.lockboot.DistributedLock} are invalid, whatever the arguments of a call are.
 *
 * @see <a
 *     href="https://github.com/lockboot/lock-spring-boot-starter/blob/main/docs/troubleshooting.md#invalidlockdefinitionexception">What
 *     to do</a>
 */
public class InvalidLockDefinitionException extends IllegalStateException {

    private static final long serialVersionUID = 1L;

    private static final String SEE = "; see " + Troubleshooting.PAGE + "invalidlockdefinitionexception";

    private final transient List<Finding> findings;

    InvalidLockDefinitionException(List<Finding> findings) {
        super(findings.stream().map(Finding::toString).collect(Collectors.joining("\n", "", SEE)));
        this.findings = List.copyOf(findings);
    }

    static void throwIfAny(List<Finding> findings) {
        if (!findings.isEmpty()) {
            throw new InvalidLockDefinitionException(
                    findings.stream().distinct().toList());
        }
    }

    /** {@return the findings, in the order found; never empty} */
    public List<Finding> getFindings() {
        return findings;
    }

    /**
     * One mistake.
     *
     * @param method the annotated method
     * @param problem the mistake
     * @param action the correction
     */
    public record Finding(String method, String problem, String action) {

        @Override
        public String toString() {
            return method + ": " + problem + ": " + action;
        }
    }
}
