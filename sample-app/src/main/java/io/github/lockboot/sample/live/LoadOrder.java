package io.github.lockboot.sample.live;

import java.time.Duration;
import java.time.Instant;

/** The order to run a load, which all instances read in Redis. */
record LoadOrder(String id, String leader, String mode, Duration duration, Instant end, int instances) {

    static LoadOrder parse(String text) {
        String[] part = text.split(" ", -1);
        return new LoadOrder(
                part[0], part[1], part[2], Duration.parse(part[3]), Instant.parse(part[4]), Integer.parseInt(part[5]));
    }

    String text() {
        return String.join(" ", id, leader, mode, duration.toString(), end.toString(), String.valueOf(instances));
    }

    boolean isOver() {
        return !Instant.now().isBefore(end);
    }
}
