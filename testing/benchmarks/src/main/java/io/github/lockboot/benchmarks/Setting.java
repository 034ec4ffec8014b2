package io.github.lockboot.benchmarks;

import io.github.lockboot.fixture.Jdks;

/** Where and how results came about. */
record Setting(String rounds, String machine, String software) {

    static Setting of(Plan plan, String redisVersion) {
        String rounds = plan.name() + " run: medians over " + plan.rounds() + " rounds of " + plan.roundMillis()
                + " ms after " + plan.warmUps() + " for warm-up and, in new processes, "
                + plan.warmUpMillis() + " ms more; virtual threads: " + plan.turns() + " turn(s) each";
        String machine = Runtime.getRuntime().availableProcessors() + " shared cores, " + System.getProperty("os.name")
                + " " + System.getProperty("os.arch");
        String virtual = Jdks.withVirtualThreads()
                .map(jdk -> ", virtual threads on " + jdk.getFileName())
                .orElse("");
        return new Setting(
                rounds,
                machine,
                "Redis " + redisVersion + ", Java " + Runtime.version().feature() + virtual);
    }
}
