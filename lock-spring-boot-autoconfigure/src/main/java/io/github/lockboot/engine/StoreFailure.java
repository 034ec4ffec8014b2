package io.github.lockboot.engine;

import org.jspecify.annotations.Nullable;

/** Whether a command that failed has run in the store. */
public enum StoreFailure {

    /**
     * The store refused the command, which may be sent again. An earlier copy may have run. Even this one may have run:
     * an error has no number, so it may belong to another command.
     */
    NOT_NOW,

    /** There was no connection: the client did not get the command. */
    NOT_SENT,

    /** The command may have run, may run later, or may never run. */
    UNKNOWN;

    /** There is no connection; the cause says why. */
    public static final class NotConnectedException extends RuntimeException {

        private static final long serialVersionUID = 1L;

        public NotConnectedException(String message, @Nullable Throwable cause) {
            super(message, cause);
        }
    }

    /** Too few replicas have what the store answered, or its file does not. */
    public static final class NotAcknowledgedException extends RuntimeException {

        private static final long serialVersionUID = 1L;

        public NotAcknowledgedException(String message, @Nullable Throwable cause) {
            super(message, cause);
        }
    }

    /** The lease of a grant was over before its caller could use it. */
    public static final class GrantedTooLateException extends RuntimeException {

        private static final long serialVersionUID = 1L;

        public GrantedTooLateException(String message) {
            super(message, null, false, false); // it says how a grant ended, not where
        }
    }
}
