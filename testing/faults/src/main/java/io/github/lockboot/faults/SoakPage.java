package io.github.lockboot.faults;

import java.util.Locale;

import io.github.lockboot.faults.Footprint.Figure;
import io.github.lockboot.faults.Soak.Suffered;
import io.github.lockboot.harness.Markdown;

/** The page that shows what came of a soak. */
final class SoakPage {

    private SoakPage() {}

    static String of(Soak soak) {
        RunResult.Told told = soak.told();
        int faults = soak.suffered().values().stream().mapToInt(Suffered::times).sum();
        StringBuilder page = new StringBuilder(String.format(
                Locale.ROOT,
                """
                # %d minutes of faults on the same processes

                Written by `./mvnw -Pfaults verify -Dsoak=%dm -Dseed=%d`. What happens, and what counts as a violation:
                [docs/evidence/reliability.md](../../../docs/evidence/reliability.md#long-runs).

                %s
                | | |
                |---|---:|
                | faults | %,d |
                | exclusive holds | %,d |
                | holds of readers | %,d |
                | permits | %,d |
                | terms of leaders | %,d |
                | losses that holders and leaders were told | %,d |
                | stale writes refused | %,d |
                | two holders at a time while Redis kept its data | %d |
                | violations | %d |
                | faults that something was late after: a grant, the report of a loss, or a renewal | %d |
                | faults that could not be injected to the end, because processes, Sentinels or a Cluster were not ready in time | %d |

                """,
                soak.time().toMinutes(),
                soak.time().toMinutes(),
                soak.seed(),
                Report.setting(),
                faults,
                told.exclusive(),
                told.readers(),
                told.permits(),
                told.terms(),
                told.losses(),
                soak.suffered().values().stream().mapToLong(Suffered::refused).sum(),
                soak.violations().stream()
                        .filter(violation -> violation.contains(" overlaps "))
                        .count(),
                soak.violations().size(),
                soak.suffered().values().stream().mapToInt(Suffered::late).sum(),
                soak.unjudged().size()));
        soak.violations()
                .forEach(violation -> page.append("- ").append(violation).append('\n'));
        page.append("\n## What one process of each group needs from the beginning to the end\n\n"
                + "Medians of the samples in each quarter, taken between two faults, when no lock is held. The last must not exceed the second"
                + " by more than is allowed.\n\n");
        soak.groups().forEach(group -> page.append(course(group)));
        page.append("## Faults\n\n").append(faults(soak));
        page.append("\nNot run:\n\n");
        soak.leftOut().forEach(row -> page.append("- ").append(row).append('\n'));
        return page.toString();
    }

    private static String course(Soak.Group<?> group) {
        StringBuilder table = new StringBuilder("### On " + group.name() + ", with " + group.processes()
                + " processes, " + group.course().size() + " samples\n\n");
        table.append(Markdown.row("", "first quarter", "second", "third", "last", "allowed"))
                .append("|---|---:|---:|---:|---:|---:|\n");
        for (Figure figure : Figure.values()) {
            Course course = group.course();
            table.append(Markdown.row(
                    figure.toString(),
                    String.format(Locale.ROOT, "%,d", course.median(figure, 1)),
                    String.format(Locale.ROOT, "%,d", course.median(figure, 2)),
                    String.format(Locale.ROOT, "%,d", course.median(figure, 3)),
                    String.format(Locale.ROOT, "%,d", course.median(figure, Course.QUARTERS)),
                    String.format(Locale.ROOT, "%,d", figure.most(course.median(figure, 2)))));
        }
        return table.append('\n').toString();
    }

    private static String faults(Soak soak) {
        StringBuilder table = new StringBuilder(
                Markdown.row("fault", "times", "granted again within", "two holders, where Redis lost its data, for"));
        table.append("|---|---:|---:|---:|\n");
        for (Fault<?> fault : Faults.ALL) {
            Suffered row = soak.suffered().get(fault.name());
            if (row != null) {
                table.append(Markdown.row(
                        "`" + fault.name() + "`",
                        "" + row.times(),
                        Report.seconds(row.worstRecoveryNanos() / 1_000_000),
                        fault.harm() == Fault.Harm.DATA ? Report.seconds(row.overlapNanos() / 1_000_000) : ""));
            }
        }
        return table.toString();
    }
}
