package io.github.lockboot.engine;

/** How a request may share a lock with others. All that hold a lock at a time are of one kind. */
public enum LockKind {

    /** With nobody. */
    EXCLUSIVE("exclusively", LockStore.TOKENS_PER_GRANT),

    /** With other shared ones. They have one token: the last one of an earlier holder. */
    SHARED("as a reader", 0),

    /** With other limited ones, up to a number of permits. */
    LIMITED("by a permit", LockStore.TOKENS_PER_PERMIT);

    private final String how;
    private final long tokens;

    LockKind(String how, long tokens) {
        this.how = how;
        this.tokens = tokens;
    }

    /** {@return how a lock of this kind is held, for messages} */
    String how() {
        return how;
    }

    /** {@return how many tokens of its own a grant of this kind has, including the first} */
    public long tokens() {
        return tokens;
    }
}
