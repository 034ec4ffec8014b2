package io.github.lockboot.internal;

import java.lang.StackWalker.StackFrame;
import java.security.CodeSource;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * Where the application calls this library: the newest frame of code that is neither of this library, nor of the JDK,
 * nor of Spring. To look for it takes some microseconds; its text is made only if it is asked for.
 */
public final class CallSite {

    private static final StackWalker CALLERS = StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE);

    private static final @Nullable CodeSource LIBRARY = sourceOf(CallSite.class);

    private CallSite() {}

    /**
     * {@return class, method and line for the current thread; {@code ?} if there is no such frame, as in a native
     * image}
     */
    public static Supplier<String> current() {
        StackFrame newest = CALLERS.<@Nullable StackFrame>walk(
                frames -> frames.filter(frame -> isOfApplication(frame.getDeclaringClass()))
                        .findFirst()
                        .orElse(null));
        return () -> newest == null ? "?" : newest.toStackTraceElement().toString();
    }

    private static boolean isOfApplication(Class<?> type) {
        CodeSource source = sourceOf(type);
        String name = type.getName();
        return source != null
                && !source.equals(LIBRARY)
                && !name.startsWith("org.springframework.")
                && !name.contains("$$");
    }

    private static @Nullable CodeSource sourceOf(Class<?> type) {
        return type.getProtectionDomain().getCodeSource();
    }
}
