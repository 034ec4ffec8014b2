package io.github.lockboot.faults;

import java.util.EnumMap;
import java.util.Map;
import java.util.function.LongUnaryOperator;

import io.github.lockboot.faults.Footprint.Figure;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/** What grows is found, and what goes up and down or has grown by the end of the start is not. */
class CourseTests {

    private static final int SAMPLES = 100;

    @Test
    void whatGoesUpAndDownDoesNotGrow() {
        assertThat(course(Figure.HEAP, at -> 20_000 + at % 7 * 10_000).growth()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(Figure.class)
    void whatIsThereAfterTheFirstQuarterDoesNotGrow(Figure figure) {
        assertThat(course(figure, at -> at < SAMPLES / 4 ? 0 : 100_000).growth())
                .isEmpty();
    }

    @ParameterizedTest
    @EnumSource(Figure.class)
    void aLeakIsFound(Figure figure) {
        assertThat(course(figure, at -> 1_000 + at * figure.most(0)).growth())
                .singleElement()
                .asString()
                .startsWith(figure.toString());
        assertThat(course(figure, at -> 20_000 + at * 1_000).growth()).hasSize(1);
    }

    @ParameterizedTest
    @EnumSource(Figure.class)
    void whatIsAllowedIsNoLeak(Figure figure) {
        assertThat(course(figure, at -> at < SAMPLES / 2 ? 50_000 : figure.most(50_000))
                        .growth())
                .isEmpty();
    }

    private static Course course(Figure figure, LongUnaryOperator values) {
        Course course = new Course();
        for (int i = 0; i < SAMPLES; i++) {
            Map<Figure, Long> footprint = new EnumMap<>(Figure.class);
            for (Figure each : Figure.values()) {
                footprint.put(each, each == figure ? values.applyAsLong(i) : 7L);
            }
            course.add(footprint);
        }
        return course;
    }
}
