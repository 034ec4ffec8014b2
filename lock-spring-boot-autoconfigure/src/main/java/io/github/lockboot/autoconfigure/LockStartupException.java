package io.github.lockboot.autoconfigure;

/** Startup fails because locks would not work, with the texts of its failure analysis. */
abstract class LockStartupException extends IllegalStateException {

    private static final long serialVersionUID = 1L;

    private final String description;
    private final String action;

    LockStartupException(String message, String description, String action) {
        super(message);
        this.description = description;
        this.action = action;
    }

    String getDescription() {
        return description;
    }

    String getAction() {
        return action;
    }
}
