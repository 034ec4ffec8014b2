package io.github.lockboot.internal;

/** The address of the page about messages. */
public final class Troubleshooting {

    /** The page that explains every message; the name of an entry follows. */
    public static final String PAGE =
            "https://github.com/lockboot/lock-spring-boot-starter/blob/main/docs/troubleshooting.md#";

    private Troubleshooting() {}
}
