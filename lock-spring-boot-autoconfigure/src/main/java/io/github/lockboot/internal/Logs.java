package io.github.lockboot.internal;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * The logs of this library, by the API that Spring logs by. From Spring Framework 7 on, that is a module of its own,
 * which this module cannot require: it is not there before.
 */
public final class Logs {

    static {
        Module here = Logs.class.getModule();
        if (here.isNamed()) {
            here.getLayer().findModule("org.apache.commons.logging").ifPresent(here::addReads);
        }
    }

    private Logs() {}

    public static Log of(Class<?> type) {
        return of(type.getName());
    }

    public static Log of(String name) {
        return LogFactory.getLog(name);
    }
}
