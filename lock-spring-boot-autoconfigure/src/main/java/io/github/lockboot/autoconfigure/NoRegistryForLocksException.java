package io.github.lockboot.autoconfigure;

/** Nothing says, or too much says, where the locks are. */
class NoRegistryForLocksException extends IllegalStateException {

    private static final long serialVersionUID = 1L;

    private final String problem;
    private final String mend;

    NoRegistryForLocksException(String problem, String mend) {
        super(problem + ": " + mend);
        this.problem = problem;
        this.mend = mend;
    }

    String getProblem() {
        return problem;
    }

    String getMend() {
        return mend;
    }
}
