package io.github.lockboot.faults;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import io.github.lockboot.faults.Footprint.Figure;

/** The footprints of one process, one after the other. */
final class Course {

    static final int QUARTERS = 4;

    private final List<Map<Figure, Long>> footprints = new ArrayList<>();

    void add(Map<Figure, Long> footprint) {
        footprints.add(footprint);
    }

    void forget() {
        footprints.clear();
    }

    int size() {
        return footprints.size();
    }

    /** That of a quarter, from 1 on. */
    long median(Figure figure, int quarter) {
        int from = footprints.size() * (quarter - 1) / QUARTERS;
        int to = footprints.size() * quarter / QUARTERS;
        List<Long> sorted = footprints.subList(from, to).stream()
                .map(footprint -> footprint.get(figure))
                .sorted()
                .toList();
        return sorted.isEmpty() ? 0 : sorted.get(sorted.size() / 2);
    }

    /** What is larger in the last quarter than in the second by more than is allowed. The first has the start in it. */
    List<String> growth() {
        return Stream.of(Figure.values())
                .filter(figure -> median(figure, QUARTERS) > figure.most(median(figure, 2)))
                .map(figure -> figure + ": " + median(figure, 2) + " in the second quarter, " + median(figure, QUARTERS)
                        + " in the last")
                .toList();
    }
}
