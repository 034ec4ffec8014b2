package io.github.lockboot.benchmarks;

import java.util.Collection;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockTemplate;
import io.github.lockboot.NamedLock;
import io.github.lockboot.autoconfigure.LockAutoConfiguration;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.options.CommandLineOptions;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * What {@link DistributedLock} adds to a lock that costs next to nothing: one thread, nobody else, locks in memory. See
 * README.md.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(2)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 4, time = 1)
@SuppressWarnings("NullAway.Init") // the fields are set up before each trial
public class AnnotationOverhead {

    private static final double TARGET = 2;

    private String openid;
    private String redPacketId;
    private String name;
    private ConfigurableApplicationContext application;
    private LockRegistry registry;
    private LockTemplate template;
    private Packets packets;

    /** @param args options of JMH, none for those of this class */
    public static void main(String[] args) throws Exception {
        Collection<RunResult> results = new Runner(new OptionsBuilder()
                        .parent(new CommandLineOptions(args))
                        .include(AnnotationOverhead.class.getName())
                        .build())
                .run();
        double direct = score(results, "direct");
        double template = score(results, "template");
        System.out.println("\n| call | us/op | ± | over `direct` | over `template` |\n|---|---:|---:|---:|---:|");
        results.stream().map(RunResult::getPrimaryResult).forEach(result -> {
            double score = result.getScore();
            System.out.printf(
                    Locale.ROOT,
                    "| `%s` | %.2f | %.2f | %.2f | %.2f |%n",
                    result.getLabel(),
                    score,
                    result.getScoreError(),
                    score - direct,
                    score - template);
        });
        double added = score(results, "annotated") - direct;
        if (!Double.isNaN(added)) {
            System.out.printf(
                    Locale.ROOT,
                    "%n`annotated` over `direct`: %.2f us, target at most %.1f us: %s%n",
                    added,
                    TARGET,
                    added <= TARGET ? "met" : "missed");
        }
    }

    /** NaN if it was not run. */
    private static double score(Collection<RunResult> results, String label) {
        return results.stream()
                .filter(result -> result.getPrimaryResult().getLabel().equals(label))
                .mapToDouble(result -> result.getPrimaryResult().getScore())
                .findAny()
                .orElse(Double.NaN);
    }

    @Setup
    public void start() {
        openid = "o6_bmjrPTlm6_2sgVt7hMZOPfL2M";
        redPacketId = "10204";
        name = openid + redPacketId;
        application = new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.NONE)
                .properties("lock.type=memory", "spring.main.banner-mode=off", "logging.level.root=error")
                .run();
        registry = application.getBean(LockRegistry.class);
        template = application.getBean(LockTemplate.class);
        packets = application.getBean(Packets.class);
    }

    @TearDown
    public void stop() {
        application.close();
    }

    @Benchmark
    public String direct() {
        NamedLock lock = registry.get(name);
        if (!lock.tryLock()) {
            throw new IllegalStateException("held by another");
        }
        try {
            return redPacketId;
        } finally {
            lock.unlock();
        }
    }

    @Benchmark
    public String template() {
        return template.execute(name, () -> redPacketId);
    }

    @Benchmark
    public String annotated() {
        return packets.grab(redPacketId, openid);
    }

    @Benchmark
    public String annotatedTwoKeys() {
        return packets.open(redPacketId, openid);
    }

    /** A service without work. */
    static class Packets {

        @DistributedLock(key = "#openid+#redPacketId")
        String grab(String redPacketId, String openid) {
            return redPacketId;
        }

        @DistributedLock(key = {"#openid", "#redPacketId"})
        String open(String redPacketId, String openid) {
            return redPacketId;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(LockAutoConfiguration.class)
    static class Application {

        @Bean
        Packets packets() {
            return new Packets();
        }
    }
}
