package io.github.lockboot.benchmarks;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.stream.Stream;

import com.baomidou.lock.LockTemplate;
import io.github.lockboot.fixture.Jdks;
import io.github.lockboot.harness.Checkout;
import io.lettuce.core.RedisClient;
import org.redisson.api.RedissonClient;
import org.springframework.boot.SpringApplication;
import org.springframework.integration.redis.util.RedisLockRegistry;

/**
 * When, where and how results came about.
 *
 * @param commit of this repository
 * @param server and its version
 * @param libraries and their versions
 */
record Setting(
        String date, String commit, String rounds, String machine, String server, String java, List<String> libraries) {

    private static final Path CPUS = Path.of("/proc/cpuinfo");

    static Setting of(Plan plan, String server) {
        String rounds = plan.name() + " run: medians over " + plan.rounds() + " rounds of " + plan.roundMillis()
                + " ms after " + plan.warmUps() + " for warm-up and, in new processes, "
                + plan.warmUpMillis() + " ms more; virtual threads: " + plan.turns() + " turn(s) each";
        String virtual = Jdks.withVirtualThreads()
                .map(jdk -> ", virtual threads on " + jdk.getFileName())
                .orElse("");
        return new Setting(
                LocalDate.now(ZoneOffset.UTC).toString(),
                Checkout.commit(),
                rounds,
                thisMachine(),
                server,
                "Java " + Runtime.version() + virtual,
                Stream.of(
                                SpringApplication.class,
                                RedisClient.class,
                                RedissonClient.class,
                                RedisLockRegistry.class,
                                LockTemplate.class)
                        .map(Setting::library)
                        .toList());
    }

    /** For a reader. */
    String text() {
        return "Measured on " + date + ", commit " + commit + ", on " + machine + "; " + server + ", " + java + ";\n"
                + String.join(", ", libraries) + ".\nA " + rounds + ".\n";
    }

    private static String thisMachine() {
        String cpu = "";
        try (Stream<String> lines = Files.exists(CPUS) ? Files.lines(CPUS) : Stream.empty()) {
            cpu = lines.filter(line -> line.startsWith("model name"))
                    .map(line -> " of " + line.substring(line.indexOf(':') + 1).strip())
                    .findFirst()
                    .orElse("");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return Runtime.getRuntime().availableProcessors() + " shared cores" + cpu + ", " + System.getProperty("os.name")
                + " " + System.getProperty("os.arch");
    }

    /** From the name of its jar. */
    private static String library(Class<?> type) {
        try {
            Path jar = Path.of(
                    type.getProtectionDomain().getCodeSource().getLocation().toURI());
            return String.valueOf(jar.getFileName()).replaceFirst("-(\\d.*)\\.jar$", " $1");
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }
}
