package io.github.lockboot.benchmarks;

import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

import io.github.lockboot.fixture.Jdks;
import io.github.lockboot.fixture.RedisProbe;
import io.github.lockboot.fixture.RedisSentinel;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.fixture.TcpProxy;
import io.github.lockboot.harness.Contender;
import io.github.lockboot.harness.RedisAddress;
import io.github.lockboot.harness.WorkerProcess.FailedException;
import org.jspecify.annotations.Nullable;

/**
 * Starts teams and keeps them while the scenarios that follow can use them: a team costs some seconds of processor
 * time, which is not to be spent while another is measured.
 */
final class Teams implements AutoCloseable {

    /** What the processes of a team have in common; a team is kept until another kind is wanted. */
    private record Kind(Path jdk, int processes, boolean remote, boolean copied, boolean cold) {}

    private final RedisServer server;
    private final TcpProxy proxy;
    private final RedisProbe probe;
    private final Plan plan;
    private final Map<Contender, Team> teams = new LinkedHashMap<>();
    private Kind kind = new Kind(Path.of(""), 0, false, false, false);
    private @Nullable RedisSentinel copied;

    Teams(RedisServer server, TcpProxy proxy, Plan plan) {
        this.server = server;
        this.proxy = proxy;
        this.probe = server.probe();
        this.plan = plan;
    }

    Team team(Scenario scenario, Contender contender) {
        Path jdk = scenario.load().isVirtual()
                ? Jdks.withVirtualThreads().orElseThrow(() -> new FailedException("no JDK with virtual threads here"))
                : Jdks.current();
        Kind wanted = new Kind(jdk, scenario.processes(), scenario.isRemote(), scenario.isCopied(), scenario.isCold());
        if (!wanted.equals(kind)) {
            dismissAll();
            kind = wanted;
            copied = wanted.copied ? RedisSentinel.start() : null;
        }
        Team team = teams.get(contender);
        if (team == null) {
            RedisSentinel group = copied;
            RedisAddress address = group != null
                    ? RedisAddress.sentinel(group.masterName(), group.nodes())
                    : scenario.isRemote()
                            ? RedisAddress.standalone(proxy.host(), proxy.port())
                            : RedisAddress.standalone(server.host(), server.port());
            RedisProbe counter = group != null ? group.master().probe() : probe;
            team = Team.start(
                    wanted.cold, jdk, contender, scenario.processes(), address, counter, plan.patienceMillis());
            teams.put(contender, team);
            if (!wanted.cold) {
                warmUp(team, scenario.load());
            }
        }
        return team;
    }

    /** Without the delay of the proxy, with which there are too few turns for the compilers of the JVM. */
    private void warmUp(Team team, Load load) {
        proxy.delay(Duration.ZERO);
        try {
            team.measure(load, plan.warmUpMillis(), load.isVirtual() ? plan.turns() : 0);
        } finally {
            proxy.delay(Benchmark.ONE_WAY);
        }
    }

    /**
     * Ends the processes of one, if there are any: it has failed and must not disturb the others, or is to begin anew.
     */
    void dismiss(Contender contender) {
        Team team = teams.remove(contender);
        if (team != null) {
            team.close();
        }
    }

    private void dismissAll() {
        teams.values().forEach(Team::close);
        teams.clear();
        if (copied != null) {
            copied.close();
            copied = null;
        }
        probe.command("FLUSHALL");
    }

    @Override
    public void close() {
        dismissAll();
        probe.close();
    }
}
