package io.github.lockboot.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

import io.github.lockboot.faults.Event.Kind;
import io.github.lockboot.harness.Contender.Client;

/**
 * Judges the event logs of all who used the same locks, whatever the process: nobody believes to hold what another
 * believes to hold, except readers beside readers and as many as there are permits; tokens grow, nobody says "held"
 * when its own lease was over or Redis had ended it, every loss is told once and in time.
 *
 * <p>A hold is believed from its grant until its release begins, but no longer than the latest validity its holder was
 * told, or, where validity is not told, until it last said that it holds. Where a holder's log ends early (it was
 * killed) or renewals are not in the log, that is less than what it believed, never more.
 */
final class HistoryChecker {

    /** How soon after a holder knows it is told, on a machine that does other things, too. */
    static final Duration LOSS_TOLD_WITHIN = Duration.ofSeconds(2);

    /**
     * Two holds believed at the same time that exclude each other.
     *
     * @param nanos for how long the earlier one was still believed after the later one was granted
     */
    record Overlap(String lock, String description, long nanos) {}

    private record Hold(
            String lock,
            String hold,
            String actor,
            int limit,
            long token,
            long from,
            long until,
            boolean takenOver,
            boolean handedOver) {

        /** Whether it is what the other, a writer's, becomes. */
        boolean isDowngradeOf(Hold other) {
            return limit == Client.UNLIMITED && other.limit == 1 && actor.equals(other.actor);
        }

        boolean isBeside(Hold other) {
            return limit == other.limit && limit > 1;
        }
    }

    private final List<Event> events;
    private final List<Event> saidByRedis;
    private final List<Overlap> overlaps = new ArrayList<>();
    private final List<String> oldTokens = new ArrayList<>();
    private final List<String> breaches = new ArrayList<>();
    private final List<String> lateLosses = new ArrayList<>();

    private HistoryChecker(Collection<Event> events) {
        this.events =
                events.stream().sorted(Comparator.comparingLong(Event::time)).toList();
        this.saidByRedis =
                this.events.stream().filter(event -> event.is(Kind.SERVER)).toList();
    }

    static HistoryChecker of(Collection<Event> events) {
        HistoryChecker checker = new HistoryChecker(events);
        checker.check();
        return checker;
    }

    /** Where two believed to hold at once; only the loss of data in Redis excuses it. */
    List<Overlap> overlaps() {
        return overlaps;
    }

    /**
     * Grants with a token below that of an earlier one. Only the loss of data in Redis excuses it: a process that does
     * not know yet passes on among its threads what another has been granted, with the next of its old tokens, which
     * the resource then refuses.
     */
    List<String> oldTokens() {
        return oldTokens;
    }

    /** Losses that were told, but too late. */
    List<String> lateLosses() {
        return lateLosses;
    }

    /** What else is wrong, one sentence each; nothing excuses it. */
    List<String> breaches() {
        return breaches;
    }

    /**
     * Where Redis had another owner, or none, while a holder said that it holds; only the loss of data in Redis excuses
     * it.
     */
    List<String> heldWithoutRedis() {
        List<String> found = new ArrayList<>();
        byHold().values().forEach(own -> found.addAll(heldWithoutRedis(own)));
        return found;
    }

    /** Holds that their holders were told they lost, or could not release. */
    List<String> lostHolds() {
        return events.stream()
                .filter(event -> event.is(Kind.LOST) || event.is(Kind.RELEASE_FAILED))
                .map(event -> event.actor() + " lost hold " + event.hold() + " of " + event.lock())
                .distinct()
                .toList();
    }

    /** Requests for a lock granted out of order, of those made at least so long one after the other. */
    List<String> outOfOrder(String lock, Duration apart) {
        List<String> found = new ArrayList<>();
        List<Event> requests = events.stream()
                .filter(event -> event.is(Kind.REQUEST) && event.lock().equals(lock))
                .toList();
        Map<String, Long> grants = new LinkedHashMap<>();
        events.stream()
                .filter(event -> event.is(Kind.GRANTED))
                .forEach(event -> grants.put(event.hold(), event.time()));
        for (Event first : requests) {
            for (Event second : requests) {
                Long grantOfFirst = grants.get(first.hold());
                Long grantOfSecond = grants.get(second.hold());
                if (second.time() - first.time() >= apart.toNanos()
                        && grantOfFirst != null
                        && grantOfSecond != null
                        && grantOfSecond < grantOfFirst) {
                    found.add(second.actor() + " asked for " + lock + " after " + first.actor()
                            + " and was granted it before");
                }
            }
        }
        return found;
    }

    /** Requests that waited for longer than this until they were granted or failed. */
    List<String> waitsOver(Duration bound) {
        List<String> found = new ArrayList<>();
        byHold().values().forEach(own -> {
            Event request = own.get(0);
            own.stream()
                    .filter(event -> event.begins() || event.is(Kind.FAILED))
                    .filter(event -> request.is(Kind.REQUEST) && event.time() - request.time() > bound.toNanos())
                    .findFirst()
                    .ifPresent(end -> found.add(request.actor() + " waited " + (end.time() - request.time()) / 1_000_000
                            + " ms for " + request.lock()));
        });
        return found;
    }

    private Map<String, List<Event>> byHold() {
        Map<String, List<Event>> byHold = new LinkedHashMap<>();
        events.stream()
                .filter(event -> !event.is(Kind.SERVER) && !event.is(Kind.DONE))
                .forEach(event -> byHold.computeIfAbsent(event.hold(), h -> new ArrayList<>())
                        .add(event));
        return byHold;
    }

    private void check() {
        Map<String, List<Hold>> byLock = new LinkedHashMap<>();
        byHold().values().forEach(own -> {
            checkOneHold(own);
            own.stream()
                    .filter(Event::begins)
                    .findFirst()
                    .map(grant -> believed(grant, own))
                    .ifPresent(hold -> byLock.computeIfAbsent(hold.lock(), l -> new ArrayList<>())
                            .add(hold));
        });
        byLock.values().forEach(this::checkOneLock);
    }

    private static Hold believed(Event grant, List<Event> own) {
        long validUntil = own.stream().mapToLong(Event::validUntil).max().orElse(0);
        if (validUntil == 0) {
            validUntil = own.stream()
                    .filter(event -> event.begins() || event.is(Kind.HELD) || event.ends())
                    .filter(event -> own.stream().noneMatch(other -> other.is(Kind.NOT_HELD)) || !event.ends())
                    .mapToLong(Event::time)
                    .max()
                    .orElse(0);
        }
        long released = own.stream()
                .filter(Event::ends)
                .mapToLong(Event::time)
                .findFirst()
                .orElse(Long.MAX_VALUE);
        return new Hold(
                grant.lock(),
                grant.hold(),
                grant.actor(),
                grant.limit(),
                grant.token(),
                grant.time(),
                Math.max(grant.time(), Math.min(released, validUntil)),
                grant.is(Kind.TAKEN_OVER),
                own.stream().anyMatch(event -> event.is(Kind.HANDING_OVER)));
    }

    private void checkOneHold(List<Event> own) {
        int losses = 0;
        for (Event event : own) {
            if (event.is(Kind.HELD) && event.validUntil() > 0 && event.time() > event.validUntil()) {
                breaches.add(event.actor() + " said it holds " + event.lock() + " after its own lease was over");
            }
            losses += event.is(Kind.LOST) ? 1 : 0;
        }
        Event first = own.get(0);
        if (losses > 1) {
            breaches.add(first.actor() + " was told " + losses + " times that it lost " + first.lock());
        }
        if (own.stream().filter(Event::begins).count() > 1) {
            breaches.add(first.actor() + " was granted " + first.lock() + " twice for one request");
        }
        if (losses > 0 && own.stream().anyMatch(event -> event.is(Kind.RELEASED))) {
            breaches.add(first.actor() + " lost " + first.lock() + " and yet released it without complaint");
        }
        own.stream()
                .filter(event -> event.is(Kind.NOT_HELD) && event.token() > 0)
                .findFirst()
                .ifPresent(notHeld -> checkToldInTime(notHeld, own));
    }

    private void checkToldInTime(Event notHeld, List<Event> own) {
        long latest = notHeld.time() + LOSS_TOLD_WITHIN.toNanos();
        boolean told = own.stream().anyMatch(event -> event.is(Kind.LOST) && event.time() <= latest);
        boolean wasThere =
                events.stream().anyMatch(event -> event.actor().equals(notHeld.actor()) && event.time() > latest);
        if (!told && wasThere) {
            boolean toldLater = own.stream().anyMatch(event -> event.is(Kind.LOST));
            (toldLater ? lateLosses : breaches)
                    .add(notHeld.actor() + " was not told within " + LOSS_TOLD_WITHIN.toMillis() + " ms that it lost "
                            + notHeld.lock());
        }
    }

    private List<String> heldWithoutRedis(List<Event> own) {
        List<String> found = new ArrayList<>();
        Event grant = own.stream().filter(Event::begins).findFirst().orElse(null);
        Event held = own.stream()
                .filter(event -> event.is(Kind.HELD))
                .reduce((first, second) -> second)
                .orElse(null);
        if (grant == null || held == null || grant.token() == 0) {
            return found;
        }
        saidByRedis.stream()
                .filter(said -> said.lock().equals(grant.lock()))
                .filter(said -> said.time() > grant.time() && said.validUntil() < held.time())
                .filter(said -> said.token() == 0
                        || (said.token() > grant.token() && (grant.limit() == 1 || said.limit() != grant.limit())))
                .findFirst()
                .ifPresent(said -> found.add(held.actor() + " said it holds " + held.lock() + " with token "
                        + held.token() + " "
                        + (held.time() - said.validUntil()) / 1_000 + " us after Redis said "
                        + (said.token() == 0 ? "nobody does" : "token " + said.token() + " does")));
        return found;
    }

    private void checkOneLock(List<Hold> holds) {
        holds.sort(Comparator.comparingLong(Hold::from));
        Map<Long, Hold> tokens = new HashMap<>();
        List<Hold> newest = new ArrayList<>();
        List<Hold> believed = new ArrayList<>();
        for (Hold hold : holds) {
            believed.removeIf(other -> other.until() <= hold.from());
            excluding(hold, believed).ifPresent(other -> {
                long shared = other.until() - hold.from();
                overlaps.add(new Overlap(
                        hold.lock(),
                        describe(hold) + " overlaps " + describe(other) + " by " + shared / 1_000 + " us",
                        shared));
            });
            believed.add(hold);
            if (hold.token() > 0) {
                checkToken(hold, newest, tokens);
            }
        }
    }

    /** The one that must have ended before this could be granted, the one that ends last if there are several. */
    private static Optional<Hold> excluding(Hold hold, List<Hold> believed) {
        Comparator<Hold> lastFirst = Comparator.comparingLong(Hold::until).reversed();
        Stream<Hold> others =
                believed.stream().filter(other -> other.limit() != hold.limit() && !hold.isDowngradeOf(other));
        Stream<Hold> alike = believed.stream()
                .filter(other -> other.limit() == hold.limit())
                .sorted(lastFirst)
                .skip(hold.limit() - 1);
        return Stream.concat(others, alike).min(lastFirst);
    }

    /**
     * A reader's is that of the last who was no reader, or newer. One that was taken over is that of the one who handed
     * it over, if nobody was granted the lock since. Any other is new, and newer than all before but those of the other
     * permits.
     *
     * @param newest of each limit, the one with the newest token
     * @param tokens the last hold with each
     */
    private void checkToken(Hold hold, List<Hold> newest, Map<Long, Hold> tokens) {
        boolean reads = hold.limit() == Client.UNLIMITED;
        Hold before = reads ? null : tokens.put(hold.token(), hold);
        if (hold.takenOver() && (before == null || !before.handedOver())) {
            breaches.add("the token of " + describe(hold) + " was not handed over");
        } else if (!hold.takenOver() && before != null) {
            breaches.add("the token of " + describe(hold) + " was given before");
        } else {
            newest.stream()
                    .filter(other -> !hold.isBeside(other))
                    .filter(other ->
                            reads || hold.takenOver() ? hold.token() < other.token() : hold.token() <= other.token())
                    .max(Comparator.comparingLong(Hold::token))
                    .ifPresent(other -> oldTokens.add(
                            "the token of " + describe(hold) + " is not above that of " + describe(other)));
        }
        if (newest.stream().noneMatch(other -> other.limit() == hold.limit() && other.token() >= hold.token())) {
            newest.removeIf(other -> other.limit() == hold.limit());
            newest.add(hold);
        }
    }

    private static String describe(Hold hold) {
        return "hold " + hold.hold() + " of " + hold.lock() + " by " + hold.actor() + " with token " + hold.token();
    }
}
