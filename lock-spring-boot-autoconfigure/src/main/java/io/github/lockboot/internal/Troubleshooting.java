package io.github.lockboot.internal;

import org.jspecify.annotations.Nullable;

/** The address of the page about messages. */
public final class Troubleshooting {

    private static final String TITLE = "Lock Spring Boot AutoConfigure";

    /** The page that explains every message, as it is in the version of the library; the name of an entry follows. */
    public static final String PAGE = pageOf(Troubleshooting.class.getPackage());

    private Troubleshooting() {}

    /** A jar that a build has put together from several tells the version of an application. */
    private static String pageOf(Package library) {
        return pageOf(TITLE.equals(library.getImplementationTitle()) ? library.getImplementationVersion() : null);
    }

    /** @param version null if it is not known; only a release has a tag */
    static String pageOf(@Nullable String version) {
        String tree = version == null || version.endsWith("-SNAPSHOT") ? "main" : "v" + version;
        return "https://github.com/lockboot/lock-spring-boot-starter/blob/" + tree + "/docs/troubleshooting.md#";
    }
}
