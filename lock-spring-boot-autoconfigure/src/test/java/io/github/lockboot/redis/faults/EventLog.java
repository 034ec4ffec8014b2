package io.github.lockboot.redis.faults;

import java.util.Collection;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;

/** Events of one JVM, from any thread. */
final class EventLog implements Consumer<Event> {

    private final Queue<Event> events = new ConcurrentLinkedQueue<>();

    @Override
    public void accept(Event event) {
        events.add(event);
    }

    Collection<Event> events() {
        return List.copyOf(events);
    }

    long count(Event.Kind kind) {
        return events.stream().filter(event -> event.is(kind)).count();
    }
}
