package io.github.lockboot.sample;

/** What ids in requests look like: nothing that could be mistaken for a part of a Redis key or a lock's name. */
public final class Ids {

    public static final String FORM = "[A-Za-z0-9_-]{1,64}";
    public static final String MEND = "must be 1 to 64 letters, digits, '-' or '_'";

    private Ids() {}
}
