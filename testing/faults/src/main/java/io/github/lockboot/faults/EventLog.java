package io.github.lockboot.faults;

import java.util.Collection;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

/** Events of one process, written and read by any thread. */
final class EventLog {

    private final Queue<Event> events = new ConcurrentLinkedQueue<>();

    /** Adds the event that a line of output is, if it is one. */
    boolean takes(String line) {
        return Event.isLine(line) && events.add(Event.parse(line));
    }

    /** The events so far; those to come appear in it. */
    Collection<Event> events() {
        return events;
    }

    /** The first that is so, if there is one yet. */
    @Nullable
    Event find(Event.Kind kind, Predicate<Event> which) {
        for (Event event : events) {
            if (event.is(kind) && which.test(event)) {
                return event;
            }
        }
        return null;
    }

    void forget() {
        events.clear();
    }
}
