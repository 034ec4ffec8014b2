package io.github.lockboot.sample;

/** The form of ids in requests. An id cannot be mistaken for another part of a Redis key or of a lock name. */
public final class Ids {

    public static final String FORM = "[A-Za-z0-9_-]{1,64}";

    private Ids() {}
}
