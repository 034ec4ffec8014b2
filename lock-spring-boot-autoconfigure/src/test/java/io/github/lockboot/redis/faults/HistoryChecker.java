package io.github.lockboot.redis.faults;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.github.lockboot.redis.faults.Event.Kind;

/**
 * Judges the event logs of all who used the same locks, whatever the process: nobody believes to hold what another believes to
 * hold, tokens grow, nobody says "held" when its own lease was over, and every loss is told once.
 *
 * <p>A hold is believed from its grant until its release begins, but no longer than the latest validity its holder was told. Where a
 * holder's log ends early (it was killed) or renewals are not in the log, that is less than what it believed, never more.
 */
final class HistoryChecker {

    private record Hold(String lock, String hold, String actor, long token, long from, long until) {}

    private final List<Event> events;
    private final List<String> violations = new ArrayList<>();

    private HistoryChecker(Collection<Event> events) {
        this.events =
                events.stream().sorted(Comparator.comparingLong(Event::time)).toList();
    }

    /** What is wrong with the history, one sentence each; empty if nothing is. */
    static List<String> violationsOf(Collection<Event> events) {
        HistoryChecker checker = new HistoryChecker(events);
        checker.check();
        return checker.violations;
    }

    private void check() {
        Map<String, List<Event>> byHold = new LinkedHashMap<>();
        events.forEach(event ->
                byHold.computeIfAbsent(event.hold(), h -> new ArrayList<>()).add(event));
        Map<String, List<Hold>> byLock = new LinkedHashMap<>();
        byHold.values().forEach(own -> {
            checkOneHold(own);
            own.stream()
                    .filter(event -> event.is(Kind.GRANTED))
                    .findFirst()
                    .map(grant -> believed(grant, own))
                    .ifPresent(hold -> byLock.computeIfAbsent(hold.lock(), l -> new ArrayList<>())
                            .add(hold));
        });
        byLock.values().forEach(this::checkOneLock);
    }

    private static Hold believed(Event grant, List<Event> own) {
        long validUntil = own.stream().mapToLong(Event::validUntil).max().orElse(0);
        long released = own.stream()
                .filter(event -> event.is(Kind.RELEASING))
                .mapToLong(Event::time)
                .findFirst()
                .orElse(Long.MAX_VALUE);
        return new Hold(
                grant.lock(),
                grant.hold(),
                grant.actor(),
                grant.token(),
                grant.time(),
                Math.max(grant.time(), Math.min(released, validUntil)));
    }

    private void checkOneHold(List<Event> own) {
        int losses = 0;
        for (Event event : own) {
            if (event.is(Kind.HELD) && event.time() > event.validUntil()) {
                violations.add(event.actor() + " said it holds " + event.lock() + " after its own lease was over");
            }
            losses += event.is(Kind.LOST) ? 1 : 0;
        }
        Event first = own.get(0);
        if (losses > 1) {
            violations.add(first.actor() + " was told " + losses + " times that it lost " + first.lock());
        }
        if (own.stream().filter(event -> event.is(Kind.GRANTED)).count() > 1) {
            violations.add(first.actor() + " was granted " + first.lock() + " twice for one request");
        }
        if (losses > 0 && own.stream().anyMatch(event -> event.is(Kind.RELEASED))) {
            violations.add(first.actor() + " lost " + first.lock() + " and yet released it without complaint");
        }
    }

    private void checkOneLock(List<Hold> holds) {
        holds.sort(Comparator.comparingLong(Hold::from));
        Hold latest = null;
        Hold longest = null;
        for (Hold hold : holds) {
            if (longest != null && hold.from() < longest.until()) {
                violations.add(describe(hold) + " overlaps " + describe(longest) + " by "
                        + (longest.until() - hold.from()) / 1_000 + " us");
            }
            if (latest != null && hold.token() <= latest.token()) {
                violations.add("the token of " + describe(hold) + " is not above that of " + describe(latest));
            }
            latest = hold;
            longest = longest == null || hold.until() > longest.until() ? hold : longest;
        }
    }

    private static String describe(Hold hold) {
        return "hold " + hold.hold() + " of " + hold.lock() + " by " + hold.actor() + " with token " + hold.token();
    }
}
