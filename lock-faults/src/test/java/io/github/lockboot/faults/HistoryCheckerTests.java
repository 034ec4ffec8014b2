package io.github.lockboot.faults;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import io.github.lockboot.faults.Event.Kind;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** The judge is judged: good histories pass, and each kind of bad one is told apart. */
class HistoryCheckerTests {

    private static Event event(long time, String hold, Kind kind, long token, long validUntil) {
        return new Event(time, "actor-" + hold, kind, "x", hold, token, validUntil);
    }

    private static List<String> violations(Event... events) {
        HistoryChecker checker = HistoryChecker.of(List.of(events));
        return Stream.of(
                        checker.overlaps().stream().map(HistoryChecker.Overlap::description),
                        checker.breaches().stream(),
                        checker.oldTokens().stream(),
                        checker.heldWithoutRedis().stream())
                .flatMap(found -> found)
                .toList();
    }

    @Test
    void holdsOneAfterTheOtherAreFine() {
        assertThat(violations(
                        event(1, "a", Kind.REQUEST, 0, 0),
                        event(2, "a", Kind.GRANTED, 10, 100),
                        event(3, "b", Kind.REQUEST, 0, 0),
                        event(5, "a", Kind.RELEASING, 10, 100),
                        event(6, "b", Kind.GRANTED, 11, 100),
                        event(7, "a", Kind.RELEASED, 10, 0),
                        event(9, "b", Kind.RELEASING, 11, 100),
                        event(10, "b", Kind.RELEASED, 11, 0)))
                .isEmpty();
    }

    @Test
    void anUnreleasedHoldEndsWithItsLease() {
        assertThat(violations(event(2, "a", Kind.GRANTED, 10, 100), event(101, "b", Kind.GRANTED, 11, 200)))
                .isEmpty();
    }

    @Test
    void twoWhoBelieveAtTheSameTimeAreFound() {
        assertThat(violations(
                        event(2, "a", Kind.GRANTED, 10, 100),
                        event(6, "b", Kind.GRANTED, 11, 100),
                        event(7, "a", Kind.RELEASING, 10, 100)))
                .singleElement()
                .asString()
                .contains("overlaps");
    }

    @Test
    void anOverlapWithAnEarlierHoldThanTheLastIsFound() {
        assertThat(violations(
                        event(2, "a", Kind.GRANTED, 10, 1_000),
                        event(3, "b", Kind.GRANTED, 11, 4),
                        event(5, "c", Kind.GRANTED, 12, 6)))
                .hasSize(2)
                .allMatch(violation -> violation.contains("overlaps hold a"));
    }

    @Test
    void aRenewedLeaseSeenInAnAnswerCounts() {
        assertThat(violations(
                        event(2, "a", Kind.GRANTED, 10, 100),
                        event(90, "a", Kind.HELD, 10, 190),
                        event(150, "b", Kind.GRANTED, 11, 300)))
                .singleElement()
                .asString()
                .contains("overlaps");
    }

    @Test
    void aTokenGivenTwiceIsFound() {
        assertThat(violations(
                        event(2, "a", Kind.GRANTED, 10, 100),
                        event(5, "a", Kind.RELEASING, 10, 100),
                        event(6, "b", Kind.GRANTED, 10, 100)))
                .singleElement()
                .asString()
                .contains("token");
    }

    @Test
    void aTokenBelowTheLastOneIsFoundAndIsNoBreach() {
        HistoryChecker checker = HistoryChecker.of(List.of(
                event(2, "a", Kind.GRANTED, 10, 100),
                event(5, "a", Kind.RELEASING, 10, 100),
                event(6, "b", Kind.GRANTED, 9, 100)));
        assertThat(checker.oldTokens()).hasSize(1);
        assertThat(checker.breaches()).isEmpty();
    }

    @Test
    void heldAfterTheEndOfTheLeaseIsFound() {
        assertThat(violations(event(2, "a", Kind.GRANTED, 10, 100), event(101, "a", Kind.HELD, 10, 100)))
                .singleElement()
                .asString()
                .contains("after its own lease was over");
    }

    @Test
    void aLossToldTwiceIsFound() {
        assertThat(violations(
                        event(2, "a", Kind.GRANTED, 10, 100),
                        event(101, "a", Kind.LOST, 10, 0),
                        event(102, "a", Kind.LOST, 10, 0)))
                .singleElement()
                .asString()
                .contains("2 times");
    }

    @Test
    void aGrantThatIsExecutedTwiceIsFound() {
        assertThat(violations(
                        event(2, "a", Kind.GRANTED, 10, 100),
                        event(3, "a", Kind.RELEASING, 10, 100),
                        event(4, "a", Kind.GRANTED, 11, 100)))
                .singleElement()
                .asString()
                .contains("twice");
    }

    @Test
    void aLossThatTheReleaseDidNotReportIsFound() {
        assertThat(violations(
                        event(2, "a", Kind.GRANTED, 10, 100),
                        event(101, "a", Kind.LOST, 10, 0),
                        event(102, "a", Kind.RELEASING, 10, 0),
                        event(103, "a", Kind.RELEASED, 10, 0)))
                .singleElement()
                .asString()
                .contains("without complaint");
    }

    @Test
    void locksDoNotDisturbEachOther() {
        assertThat(violations(
                        new Event(2, "a", Kind.GRANTED, "x", "a", 10, 100),
                        new Event(3, "b", Kind.GRANTED, "y", "b", 5, 100)))
                .isEmpty();
    }

    @Test
    void whoHasNoLeaseToTellBelievesUntilItLastSaidSo() {
        assertThat(violations(
                        event(2, "a", Kind.GRANTED, 0, 0),
                        event(10, "a", Kind.HELD, 0, 0),
                        event(11, "b", Kind.GRANTED, 0, 0),
                        event(12, "a", Kind.NOT_HELD, 0, 0),
                        event(13, "a", Kind.RELEASING, 0, 0)))
                .isEmpty();
        assertThat(violations(
                        event(2, "a", Kind.GRANTED, 0, 0),
                        event(11, "b", Kind.GRANTED, 0, 0),
                        event(12, "a", Kind.HELD, 0, 0)))
                .singleElement()
                .asString()
                .contains("overlaps");
    }

    @Test
    void anOverlapLastsUntilTheEarlierHolderStopsBelieving() {
        List<Event> history = List.of(
                event(2, "a", Kind.GRANTED, 10, 100),
                event(6, "b", Kind.GRANTED, 11, 200),
                event(40, "b", Kind.RELEASING, 11, 200));
        assertThat(HistoryChecker.of(history).overlaps())
                .singleElement()
                .extracting(HistoryChecker.Overlap::nanos)
                .isEqualTo(94L);
    }

    @Test
    void heldAfterRedisGaveItToAnotherIsFound() {
        assertThat(violations(
                        event(2, "a", Kind.GRANTED, 10, 100),
                        new Event(20, "redis", Kind.SERVER, "x", "-", 11, 21),
                        event(22, "a", Kind.HELD, 10, 100)))
                .singleElement()
                .asString()
                .contains("after Redis said token 11");
    }

    @Test
    void heldWhileRedisSaysThatNobodyOwnsItIsFound() {
        assertThat(violations(
                        event(2, "a", Kind.GRANTED, 10, 100),
                        new Event(20, "redis", Kind.SERVER, "x", "-", 0, 21),
                        event(22, "a", Kind.HELD, 10, 100)))
                .singleElement()
                .asString()
                .contains("after Redis said nobody");
    }

    @Test
    void whatRedisSaidBeforeTheGrantOrAfterTheAnswerProvesNothing() {
        assertThat(violations(
                        new Event(1, "redis", Kind.SERVER, "x", "-", 0, 5),
                        event(2, "a", Kind.GRANTED, 10, 100),
                        event(22, "a", Kind.HELD, 10, 100),
                        new Event(21, "redis", Kind.SERVER, "x", "-", 0, 23)))
                .isEmpty();
    }

    @Test
    void aLossThatIsNeverToldIsFound() {
        long later = 2 * HistoryChecker.LOSS_TOLD_WITHIN.toNanos();
        assertThat(violations(
                        event(2, "a", Kind.GRANTED, 10, 100),
                        event(101, "a", Kind.NOT_HELD, 10, 0),
                        event(102, "a", Kind.RELEASE_FAILED, 10, 0),
                        event(later, "a", Kind.DONE, 0, 0)))
                .singleElement()
                .asString()
                .contains("was not told");
    }

    @Test
    void aLossThatIsToldTooLateIsFound() {
        long later = 2 * HistoryChecker.LOSS_TOLD_WITHIN.toNanos();
        assertThat(violations(
                        event(2, "a", Kind.GRANTED, 10, 100),
                        event(101, "a", Kind.NOT_HELD, 10, 0),
                        event(later, "a", Kind.LOST, 10, 0)))
                .singleElement()
                .asString()
                .contains("was not told");
    }

    @Test
    void aGrantOutOfOrderIsFoundUnlessBothAskedAtTheSameTime() {
        List<Event> history = List.of(
                event(0, "a", Kind.REQUEST, 0, 0),
                event(10, "b", Kind.REQUEST, 0, 0),
                event(20, "b", Kind.GRANTED, 10, 100),
                event(30, "a", Kind.GRANTED, 11, 100));
        assertThat(HistoryChecker.of(history).outOfOrder(Duration.ofNanos(5))).hasSize(1);
        assertThat(HistoryChecker.of(history).outOfOrder(Duration.ofNanos(11))).isEmpty();
    }

    @Test
    void aWaitBeyondItsBoundIsFound() {
        List<Event> history = List.of(event(0, "a", Kind.REQUEST, 0, 0), event(1_000, "a", Kind.GRANTED, 10, 2_000));
        assertThat(HistoryChecker.of(history).waitsOver(Duration.ofNanos(999))).hasSize(1);
        assertThat(HistoryChecker.of(history).waitsOver(Duration.ofNanos(1_000)))
                .isEmpty();
    }

    @Test
    void aLostHoldIsNamed() {
        assertThat(HistoryChecker.of(List.of(event(5, "a", Kind.RELEASE_FAILED, 10, 0)))
                        .lostHolds())
                .hasSize(1);
    }

    @Test
    void aLineReadsBackAsTheEventItWas() {
        Event event = event(2, "a", Kind.GRANTED, 10, 100);
        assertThat(Event.isLine(event.toLine())).isTrue();
        assertThat(Event.parse(event.toLine())).isEqualTo(event);
    }
}
