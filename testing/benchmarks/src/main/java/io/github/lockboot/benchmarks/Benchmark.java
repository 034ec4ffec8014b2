package io.github.lockboot.benchmarks;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.fixture.TcpProxy;
import io.github.lockboot.harness.Contender;
import io.github.lockboot.harness.WorkerProcess.FailedException;

import static java.util.Objects.requireNonNull;

/** Measures all contenders in interleaved rounds, first one round of each, then the next of each. See README.md. */
public final class Benchmark {

    static final Duration ONE_WAY = Duration.ofNanos(250_000);

    private final Plan plan;
    private final Teams teams;
    private final long stopAt;

    private Benchmark(Plan plan, Teams teams) {
        this.plan = plan;
        this.teams = teams;
        this.stopAt = System.nanoTime() + Duration.ofMillis(plan.limitMillis()).toNanos();
    }

    /**
     * @param args {@code quick} for short rounds; then the ids of scenarios, or none for all, which writes the results
     */
    public static void main(String[] args) throws Exception {
        Plan plan = Plan.of(args);
        try (RedisServer server = RedisServer.start();
                TcpProxy proxy = TcpProxy.to(server);
                Teams teams = new Teams(server, proxy, plan)) {
            Map<Scenario, List<Result>> results = new Benchmark(plan, teams).run();
            Report report = new Report(results, Setting.of(plan, server.product()));
            System.out.println(report.targets());
            if (plan.isOfAll()) {
                report.write(Path.of(""));
            }
        }
    }

    private Map<Scenario, List<Result>> run() {
        Map<Scenario, List<Result>> results = new EnumMap<>(Scenario.class);
        for (Scenario scenario : plan.scenarios()) {
            List<Result> measured = run(scenario);
            System.out.println(Report.section(scenario, measured));
            results.put(scenario, measured);
        }
        return results;
    }

    private List<Result> run(Scenario scenario) {
        Map<Contender, List<Measurement>> measured = new LinkedHashMap<>();
        Map<Contender, String> failures = new LinkedHashMap<>();
        List<Contender> contenders = plan.contenders(scenario);
        contenders.forEach(contender -> measured.put(contender, new ArrayList<>()));
        for (Contender contender : contenders) {
            attempt(contender, failures, () -> teams.team(scenario, contender));
        }
        Load load = load(scenario, contenders, failures);
        int turns = scenario.isCold() ? scenario.firstTurns() : load.isVirtual() ? plan.turns() : 0;
        for (int round = 0; round < plan.warmUps() + plan.rounds(); round++) {
            boolean warm = round >= plan.warmUps();
            for (Contender contender : contenders) {
                attempt(contender, failures, () -> {
                    if (scenario.isCold()) {
                        teams.dismiss(contender);
                    }
                    Measurement one = teams.team(scenario, contender).measure(load, plan.roundMillis(), turns);
                    if (warm) {
                        requireNonNull(measured.get(contender)).add(one);
                    }
                });
            }
        }
        return contenders.stream()
                .map(one -> new Result(scenario, load, one, requireNonNull(measured.get(one)), failures.get(one)))
                .toList();
    }

    /** What a scenario's processes do. All contenders have failed in an open loop whose rate is not known. */
    private Load load(Scenario scenario, List<Contender> contenders, Map<Contender, String> failures) {
        if (scenario.share() == 0) {
            return scenario.load();
        }
        double rate = scenario.share() * rawRate(scenario, failures);
        if (failures.containsKey(Contenders.RAW)) {
            contenders.forEach(one -> failures.putIfAbsent(one, "the raw loop failed, so no rate is known"));
        }
        return scenario.load().due((int) Math.max(1, rate));
    }

    /** Turns of the raw loop in a second, closed, in the best of three rounds. */
    private double rawRate(Scenario scenario, Map<Contender, String> failures) {
        double[] best = {0};
        for (int round = 0; round < 3; round++) {
            attempt(Contenders.RAW, failures, () -> {
                Measurement one = teams.team(scenario, Contenders.RAW).measure(scenario.load(), plan.roundMillis(), 0);
                best[0] = Math.max(best[0], one.turnsPerSecond());
            });
        }
        return best[0];
    }

    /** Does nothing for a contender that has failed in this scenario. */
    private void attempt(Contender contender, Map<Contender, String> failures, Runnable step) {
        if (failures.containsKey(contender)) {
            return;
        }
        try {
            if (System.nanoTime() - stopAt >= 0) {
                throw new FailedException("no time left");
            }
            step.run();
        } catch (FailedException e) {
            failures.put(contender, String.valueOf(e.getMessage()));
            teams.dismiss(contender);
        }
    }
}
