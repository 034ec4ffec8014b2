package io.github.lockboot.versions;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

import io.github.lockboot.fixture.Await;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.fixture.StoredLock;
import io.github.lockboot.harness.WorkerProcess;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.FieldSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Instances with two versions of this library on one Redis. If both write the same format, they queue together. If not,
 * the older one takes a lock of the newer one for a foreign key and polls.
 */
@Tag("full")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class TwoVersionsTests {

    /** The older version, the newer one. */
    static final List<Arguments> PAIRS = List.of(
            Arguments.of(Version.BEFORE, Version.TODAY),
            Arguments.of(Version.TODAY, Version.NEXT),
            Arguments.of(Version.BEFORE, Version.NEXT));

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final RedisServer server = RedisServer.start();
    private final List<Instance> started = new ArrayList<>();
    private final Map<Version, List<Instance>> instances = new EnumMap<>(Version.class);

    @AfterAll
    void endAll() {
        started.forEach(WorkerProcess::close);
        server.close();
    }

    @ParameterizedTest
    @FieldSource("PAIRS")
    void theyExcludeEachOtherInARollingDeployForwardsAndBack(Version older, Version newer) {
        String name = "deployed-" + older + newer;
        List<Instance> running = List.of();
        for (Version version : List.of(older, newer, older)) {
            for (int i = 0; i < 2; i++) {
                Instance joining = of(version).get(i);
                joining.tell("contend " + name);
                if (!running.isEmpty()) {
                    if (joining.format >= running.get(i).format) {
                        joining.awaitSaid("turned", PATIENCE);
                    }
                    running.get(i).endContending(name);
                }
            }
            running = of(version);
            int format = running.get(0).format;
            Await.until("a lock of its format", () -> stored(name).format() == format);
        }
        running.forEach(last -> last.endContending(name));
        List<Long> tokens = ((List<?>) server.command("LRANGE", VersionWorker.TOKENS + name, "0", "-1"))
                .stream().map(token -> Long.valueOf((String) token)).toList();
        assertThat(tokens).as("tokens of both versions in one order").isSorted().doesNotHaveDuplicates();
        awaitGone(name);
    }

    @ParameterizedTest
    @FieldSource("PAIRS")
    void eachGetsTheLockThatTheOtherReleases(Version older, Version newer) {
        Instance first = of(older).get(0);
        Instance second = of(newer).get(0);
        assertThat(second.format).isGreaterThanOrEqualTo(first.format);
        handOver("handed-" + older + newer, first, second);
        handOver("handed-" + newer + older, second, first);
    }

    private void handOver(String name, Instance holder, Instance waiter) {
        long token = holder.lock(name);
        StoredLock held = stored(name);
        assertThat(waiter.ask("try", name)).isEqualTo("false");
        waiter.tell("lock " + name);
        waiter.awaitSaid("waiting", PATIENCE);
        if (waiter.format >= holder.format) {
            Await.until("it queues", () -> stored(name).isWaitedFor());
        }
        assertThat(stored(name).owner()).isEqualTo(held.owner());
        assertThat(stored(name).format()).isEqualTo(holder.format);
        holder.ask("unlock", name);
        assertThat(waiter.token()).isGreaterThan(token);
        assertThat(holder.ask("try", name)).isEqualTo("false");
        waiter.ask("unlock", name);
        awaitGone(name);
    }

    @ParameterizedTest
    @FieldSource("PAIRS")
    void theyReadTogetherIfTheSecondKnowsTheFormatOfTheFirst(Version older, Version newer) {
        Instance first = of(older).get(0);
        Instance second = of(newer).get(0);
        assertThat(readTogether("read-" + older + newer, first, second)).isTrue();
        assertThat(readTogether("read-" + newer + older, second, first)).isEqualTo(first.format == second.format);
    }

    private boolean readTogether(String name, Instance reader, Instance second) {
        assertThat(reader.ask("read", name)).isEqualTo("true");
        assertThat(second.ask("try", name)).isEqualTo("false");
        boolean together = second.ask("read", name).equals("true");
        reader.ask("unread", name);
        if (together) {
            assertThat(reader.ask("try", name)).isEqualTo("false");
            second.ask("unread", name);
        }
        awaitGone(name);
        return together;
    }

    /** {@return the two instances of this version} */
    private List<Instance> of(Version version) {
        return instances.computeIfAbsent(version, each -> List.of(new Instance(each), new Instance(each)));
    }

    private StoredLock stored(String name) {
        return StoredLock.at(server, "lock:" + name);
    }

    private void awaitGone(String name) {
        Await.until(
                "the lock is gone",
                () -> server.command("EXISTS", "lock:" + name).equals(0L));
    }

    /** One that has connected. */
    private final class Instance extends WorkerProcess {

        /** The one in which it stores its locks. */
        private final int format;

        Instance(Version version) {
            super(
                    Path.of(System.getProperty("java.home")),
                    List.of("-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
                    version.classPath(),
                    VersionWorker.class,
                    List.of(server.host(), "" + server.port()),
                    line -> false);
            started.add(this);
            awaitReady();
            String own = "own-" + started.size();
            lock(own);
            format = stored(own).format();
            ask("unlock", own);
        }

        long lock(String name) {
            tell("lock " + name);
            return token();
        }

        /** {@return that of the lock for which it waited} */
        long token() {
            return Long.parseLong(awaitSaid("token ", PATIENCE));
        }

        /** {@return what it answers to one order} */
        String ask(String order, String name) {
            tell(order + " " + name);
            return awaitSaid("did ", PATIENCE);
        }

        void endContending(String name) {
            assertThat(ask("end", name)).matches("[1-9]\\d* turns, 0 overlaps, 0 losses");
        }
    }
}
