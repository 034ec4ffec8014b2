package io.github.lockboot.redis.fleet;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import javax.tools.ToolProvider;

import io.github.lockboot.Actor;
import io.github.lockboot.NamedLock;
import io.github.lockboot.engine.LockStore;
import io.github.lockboot.fixture.StoredLock;
import io.github.lockboot.redis.RedisLockRegistry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two versions of this library on one Redis. The newer one is made of the same sources, with a larger number of the format of what lies in
 * Redis.
 */
@Tag("full")
class FormatTests {

    private static final Path SOURCES = Path.of(System.getProperty("basedir", ""), "src/main/java");
    private static final String STORE = "io/github/lockboot/engine/LockStore.java";
    private static final String SCRIPT = "io/github/lockboot/redis/protocol/LuaScript.java";
    private static final String OURS = "int FORMAT = " + LockStore.FORMAT + ";";
    private static final String NEWER = "int FORMAT = " + (LockStore.FORMAT + 1) + ";";

    private final Fleet fleet = new Fleet();
    private final List<Instance> instances = new ArrayList<>();

    @AfterEach
    void endAll() {
        instances.forEach(instance -> instance.process.destroyForcibly());
        fleet.close();
    }

    @Test
    void instancesOfBothVersionsExcludeEachOtherInARollingDeployForwardsAndBack(@TempDir Path newer) throws Exception {
        compileNewer(newer);
        List<String> both = List.of("", newer + File.pathSeparator);
        roll(List.of(both.get(0), both.get(1), both.get(0)));
        List<Long> tokens = ((List<?>) fleet.server().command("LRANGE", FormatWorker.TOKENS, "0", "-1"))
                .stream().map(token -> Long.valueOf((String) token)).toList();
        assertThat(tokens).as("tokens of both versions in one order").isSorted().doesNotHaveDuplicates();
        Actor.await(
                "no lock is left",
                () -> fleet.server().command("EXISTS", key(FormatWorker.NAME)).equals(0L));
    }

    /** Replaces the two instances of each version by those of the next, one by one. Each says at its end what it saw. */
    private void roll(List<String> versions) throws Exception {
        List<Instance> running = List.of(new Instance(versions.get(0)), new Instance(versions.get(0)));
        for (String version : versions.subList(1, versions.size())) {
            List<Instance> next = new ArrayList<>();
            for (Instance old : running) {
                next.add(new Instance(version));
                assertThat(old.end()).matches("turns [1-9]\\d* overlaps 0 losses 0");
            }
            running = next;
            Actor.await("its format", () -> version.isEmpty() == (format(FormatWorker.NAME) == 1));
        }
        for (Instance last : running) {
            assertThat(last.end()).matches("turns [1-9]\\d* overlaps 0 losses 0");
        }
    }

    @Test
    void aLockOfANewerVersionIsWaitedForAndNotChanged(@TempDir Path newer) throws Exception {
        compileNewer(newer);
        RedisLockRegistry ours = fleet.registry();
        Instance stranger = new Instance(newer + File.pathSeparator);
        Actor.await("a lock of its format", () -> format(FormatWorker.NAME) == 2);
        stranger.process.destroyForcibly().waitFor();
        String text = StoredLock.exclusive(2, 7, "newer-1", 1_000, 1).toString();
        fleet.server().command("SET", key(FormatWorker.NAME), text, "PX", "600000");
        NamedLock lock = ours.get(FormatWorker.NAME);
        assertThat(lock.tryLock()).isFalse();
        Actor waiter = fleet.actor();
        CompletableFuture<Void> waits = waiter.begin(lock::lock);
        Actor.await("a waiter", waiter::isWaiting);
        assertThat(fleet.server().command("GET", key(FormatWorker.NAME))).isEqualTo(text);
        fleet.server().command("DEL", key(FormatWorker.NAME));
        waits.get(30, TimeUnit.SECONDS);
        assertThat(format(FormatWorker.NAME)).isEqualTo(1);
        waiter.run(lock::unlock);
    }

    private int format(String name) {
        return StoredLock.at(fleet.server(), key(name)).format();
    }

    private static String key(String name) {
        return "lock:" + name;
    }

    private static void compileNewer(Path to) throws IOException {
        List<String> arguments =
                new ArrayList<>(List.of("-nowarn", "-proc:none", "-d", to.toString(), "-cp", classPath()));
        for (String file : List.of(STORE, SCRIPT)) {
            String source = Files.readString(SOURCES.resolve(file));
            Path copy = to.resolve("src").resolve(file);
            Files.createDirectories(copy.getParent());
            Files.writeString(copy, source.replace(OURS, NEWER));
            arguments.add(copy.toString());
        }
        assertThat(Files.readString(to.resolve("src").resolve(STORE))).contains(NEWER);
        int failed = ToolProvider.getSystemJavaCompiler().run(null, null, null, arguments.toArray(String[]::new));
        assertThat(failed).as("the compiler's exit code").isZero();
    }

    private static String classPath() {
        return System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    }

    /** One that runs, with these classes before all others. */
    private final class Instance {

        private final Process process;
        private final BufferedReader output;

        Instance(String classes) throws IOException {
            process = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-Xmx128m",
                            "-XX:+UseSerialGC",
                            "-cp",
                            classes + classPath(),
                            FormatWorker.class.getName(),
                            fleet.server().host(),
                            "" + fleet.server().port())
                    .redirectErrorStream(true)
                    .start();
            instances.add(this);
            output = process.inputReader();
            lineOf("ready");
        }

        String end() throws IOException {
            process.getOutputStream().write('\n');
            process.getOutputStream().flush();
            return lineOf("turns ");
        }

        private String lineOf(String beginning) throws IOException {
            List<String> said = new ArrayList<>();
            for (String line = output.readLine(); line != null; line = output.readLine()) {
                if (line.startsWith(beginning)) {
                    return line;
                }
                said.add(line);
            }
            throw new AssertionError("an instance ended: " + said);
        }
    }
}
