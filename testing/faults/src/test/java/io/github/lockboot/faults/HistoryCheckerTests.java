package io.github.lockboot.faults;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import io.github.lockboot.faults.Event.Kind;
import io.github.lockboot.harness.Contender.Client;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The judge is judged: good histories pass, and each kind of bad one is told apart. A history is written as its events:
 * the time, the hold or {@code redis}, what it told, the token if there is one, and until when that is valid. A hold
 * such as {@code a:r} is a reader's, {@code a:2} one of two permits, {@code a} exclusive, all by {@code a}.
 * {@code LATE} is a time at which a loss must have been told.
 */
class HistoryCheckerTests {

    private static final long LATE = 2 * HistoryChecker.LOSS_TOLD_WITHIN.toNanos();

    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', textBlock = """
            one after the other                               | 1 a REQUEST, 2 a GRANTED 10 100, 3 b REQUEST, 5 a RELEASING 10 100, \
                                                                6 b GRANTED 11 100, 7 a RELEASED 10, 9 b RELEASING 11 100, 10 b RELEASED 11
            an unreleased hold ends with its lease            | 2 a GRANTED 10 100, 101 b GRANTED 11 200
            who has no lease believes until it last said so   | 2 a GRANTED, 10 a HELD, 11 b GRANTED, 12 a NOT_HELD, 13 a RELEASING
            Redis before the grant and after the answer       | 1 redis SERVER 0 5, 2 a GRANTED 10 100, 22 a HELD 10 100, 21 redis SERVER 0 23
            readers together, with the writer's token         | 2 w GRANTED 10 100, 5 w RELEASING 10 100, 6 a:r GRANTED 10 100, 7 b:r GRANTED 11 100
            a writer that becomes a reader, beside another    | 2 a GRANTED 10 100, 4 a:r GRANTED 10 100, 5 a RELEASING 10 100, 6 b:r GRANTED 10 100
            two permits of two, the later with a smaller token | 2 a:2 GRANTED 10 100, 3 b:2 GRANTED 9 100
            a third permit after a release                    | 2 a:2 GRANTED 10 100, 3 b:2 GRANTED 20 100, 4 a:2 RELEASING 10 100, 5 c:2 GRANTED 11 100
            a hold that another takes over, and gives back    | 2 a GRANTED 10 100, 5 a HANDING_OVER 10 100, 6 b TAKEN_OVER 10 100, \
                                                                7 a RELEASED 10, 8 b HANDING_OVER 10 100, 9 c TAKEN_OVER 10 100
            other readers have come since                     | 2 a:r GRANTED 10 100, 20 redis:r SERVER 15 21, 22 a:r HELD 10 100
            """)
    void aGoodHistoryPasses(String what, String history) {
        assertThat(violations(history)).isEmpty();
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', textBlock = """
            two believe at the same time         | overlaps                     | 2 a GRANTED 10 100, 6 b GRANTED 11 100, 7 a RELEASING 10 100
            a renewed lease seen in an answer    | overlaps                     | 2 a GRANTED 10 100, 90 a HELD 10 190, 150 b GRANTED 11 300
            believed without a lease             | overlaps                     | 2 a GRANTED, 11 b GRANTED, 12 a HELD
            a token given twice                  | token                        | 2 a GRANTED 10 100, 5 a RELEASING 10 100, 6 b GRANTED 10 100
            held after the end of the lease      | after its own lease was over | 2 a GRANTED 10 100, 101 a HELD 10 100
            a loss told twice                    | 2 times                      | 2 a GRANTED 10 100, 101 a LOST 10, 102 a LOST 10
            a grant executed twice               | twice                        | 2 a GRANTED 10 100, 3 a RELEASING 10 100, 4 a GRANTED 11 100
            a loss the release did not report    | without complaint            | 2 a GRANTED 10 100, 101 a LOST 10, 102 a RELEASING 10, 103 a RELEASED 10
            held after Redis gave it to another  | after Redis said token 11    | 2 a GRANTED 10 100, 20 redis SERVER 11 21, 22 a HELD 10 100
            held while Redis says nobody owns it | after Redis said nobody      | 2 a GRANTED 10 100, 20 redis SERVER 0 21, 22 a HELD 10 100
            a writer beside a reader             | overlaps                     | 2 a:r GRANTED 10 100, 6 b GRANTED 11 100
            a reader beside a writer             | overlaps                     | 2 a GRANTED 10 100, 6 b:r GRANTED 10 100
            a writer beside one that now reads   | overlaps                     | 2 a GRANTED 10 100, 4 a:r GRANTED 10 100, 5 a RELEASING 10 100, 6 b GRANTED 11 100
            a reader beside a permit             | overlaps                     | 2 a:2 GRANTED 10 100, 6 b:r GRANTED 10 100
            three permits of two                 | hold a:2 of x                | 2 a:2 GRANTED 10 90, 3 b:2 GRANTED 20 100, 4 c:2 GRANTED 30 100
            the token of a permit given twice    | was given before             | 2 a:2 GRANTED 10 100, 3 b:2 GRANTED 10 100
            a reader older than the last writer  | is not above                 | 2 a GRANTED 10 100, 5 a RELEASING 10 100, 6 b:r GRANTED 9 100
            a writer with the token of a reader  | is not above                 | 2 a:r GRANTED 10 100, 5 a:r RELEASING 10 100, 6 b GRANTED 10 100
            a permit older than the last writer  | is not above                 | 2 a GRANTED 10 100, 5 a RELEASING 10 100, 6 b:2 GRANTED 9 100
            read after Redis gave it to a writer | after Redis said token 11    | 2 a:r GRANTED 10 100, 20 redis SERVER 11 21, 22 a:r HELD 10 100
            wrote after Redis gave it to readers | after Redis said token 11    | 2 a GRANTED 10 100, 20 redis:r SERVER 11 21, 22 a HELD 10 100
            a permit after Redis said none has   | after Redis said nobody      | 2 a:2 GRANTED 10 100, 20 redis SERVER 0 21, 22 a:2 HELD 10 100
            taken over by two, one after the other | not handed over           | 2 a GRANTED 10 100, 3 a HANDING_OVER 10 100, 4 b TAKEN_OVER 10 100, \
                                                                                  5 b RELEASING 10 100, 6 c TAKEN_OVER 10 100
            taken over without a hand-over       | not handed over              | 2 a GRANTED 10 100, 3 a RELEASING 10 100, 4 b TAKEN_OVER 10 100
            taken over after another's grant     | is not above                 | 2 a GRANTED 10 100, 3 a HANDING_OVER 10 100, 4 b GRANTED 11 100, \
                                                                                  5 b RELEASING 11 100, 6 c TAKEN_OVER 10 100
            beside the one who took it over      | overlaps                     | 2 a GRANTED 10 100, 3 a HANDING_OVER 10 100, 4 b TAKEN_OVER 10 100, 6 c GRANTED 11 100
            held after Redis took it from a taker | after Redis said nobody     | 2 a GRANTED 10 100, 3 a HANDING_OVER 10 100, 4 b TAKEN_OVER 10 100, \
                                                                                  20 redis SERVER 0 21, 22 b HELD 10 100
            a loss never told                    | was not told                 | 2 a GRANTED 10 100, 101 a NOT_HELD 10, 102 a RELEASE_FAILED 10, LATE a DONE
            a loss told too late                 | was not told                 | 2 a GRANTED 10 100, 101 a NOT_HELD 10, LATE a LOST 10
            """)
    void aBadHistoryIsFound(String what, String complaint, String history) {
        assertThat(violations(history)).singleElement().asString().contains(complaint);
    }

    @Test
    void anOverlapWithAnEarlierHoldThanTheLastIsFound() {
        assertThat(violations("2 a GRANTED 10 1000, 3 b GRANTED 11 4, 5 c GRANTED 12 6"))
                .hasSize(2)
                .allMatch(violation -> violation.contains("overlaps hold a"));
    }

    @Test
    void anOverlapLastsUntilTheEarlierHolderStopsBelieving() {
        assertThat(checker("2 a GRANTED 10 100, 6 b GRANTED 11 200, 40 b RELEASING 11 200")
                        .overlaps())
                .singleElement()
                .extracting(HistoryChecker.Overlap::nanos)
                .isEqualTo(94L);
    }

    @Test
    void aTokenBelowTheLastOneIsFoundAndIsNoBreach() {
        HistoryChecker checker = checker("2 a GRANTED 10 100, 5 a RELEASING 10 100, 6 b GRANTED 9 100");
        assertThat(checker.oldTokens()).hasSize(1);
        assertThat(checker.breaches()).isEmpty();
    }

    @Test
    void locksDoNotDisturbEachOther() {
        assertThat(violations(HistoryChecker.of(List.of(
                        new Event(2, "a", Kind.GRANTED, "x", "a", 1, 10, 100),
                        new Event(3, "b", Kind.GRANTED, "y", "b", 1, 5, 100)))))
                .isEmpty();
    }

    @Test
    void aGrantOutOfOrderIsFoundUnlessBothAskedAtTheSameTime() {
        HistoryChecker checker = checker("0 a REQUEST, 10 b REQUEST, 20 b GRANTED 10 100, 30 a GRANTED 11 100");
        assertThat(checker.outOfOrder("x", Duration.ofNanos(5))).hasSize(1);
        assertThat(checker.outOfOrder("x", Duration.ofNanos(11))).isEmpty();
    }

    @Test
    void aWaitBeyondItsBoundIsFound() {
        HistoryChecker checker = checker("0 a REQUEST, 1000 a GRANTED 10 2000");
        assertThat(checker.waitsOver(Duration.ofNanos(999))).hasSize(1);
        assertThat(checker.waitsOver(Duration.ofNanos(1_000))).isEmpty();
    }

    @Test
    void aLostHoldIsNamed() {
        assertThat(checker("5 a RELEASE_FAILED 10").lostHolds()).hasSize(1);
    }

    @Test
    void aLineReadsBackAsTheEventItWas() {
        Event event = event("2 a GRANTED 10 100");
        assertThat(Event.isLine(event.toLine())).isTrue();
        assertThat(Event.parse(event.toLine())).isEqualTo(event);
    }

    private static List<String> violations(String history) {
        return violations(checker(history));
    }

    private static List<String> violations(HistoryChecker checker) {
        return Stream.of(
                        checker.overlaps().stream().map(HistoryChecker.Overlap::description),
                        checker.breaches().stream(),
                        checker.oldTokens().stream(),
                        checker.lateLosses().stream(),
                        checker.heldWithoutRedis().stream())
                .flatMap(found -> found)
                .toList();
    }

    private static HistoryChecker checker(String history) {
        return HistoryChecker.of(
                Stream.of(history.split(", *")).map(HistoryCheckerTests::event).toList());
    }

    private static Event event(String text) {
        String[] words = text.split(" ");
        long time = words[0].equals("LATE") ? LATE : Long.parseLong(words[0]);
        String[] hold = words[1].split(":");
        boolean server = hold[0].equals("redis");
        return new Event(
                time,
                server ? "redis" : "actor-" + hold[0],
                Kind.valueOf(words[2]),
                "x",
                server ? "-" : words[1],
                hold.length == 1 ? 1 : hold[1].equals("r") ? Client.UNLIMITED : Integer.parseInt(hold[1]),
                words.length > 3 ? Long.parseLong(words[3]) : 0,
                words.length > 4 ? Long.parseLong(words[4]) : 0);
    }
}
