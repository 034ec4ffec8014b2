package io.github.lockboot.autoconfigure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.github.lockboot.Actor;
import io.github.lockboot.DistributedLock;
import io.github.lockboot.DistributedLock.Mode;
import io.github.lockboot.DistributedLock.Release;
import io.github.lockboot.Lease;
import io.github.lockboot.LockContext;
import io.github.lockboot.LockListener;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockTemplate;
import io.github.lockboot.LockUse;
import io.github.lockboot.NamedLock;
import io.github.lockboot.ScheduledLock;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.memory.MemoryLockRegistry;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** {@code lock.locks.<group>} wins over annotations and over options. */
@ExtendWith(OutputCaptureExtension.class)
class LockOverridesTests {

    private static final Duration FIRST = Duration.ofSeconds(100);

    private static RedisServer server;

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(LockAutoConfiguration.class))
            .withPropertyValues("lock.startup-check=off")
            .withBean(LettuceConnectionFactory.class, () -> new LettuceConnectionFactory(server.host(), server.port()))
            .withBean(Work.class);

    private static final Logger log = (Logger) LoggerFactory.getLogger("io.github.lockboot");

    @BeforeAll
    static void start() {
        log.setLevel(Level.INFO);
        server = RedisServer.start();
    }

    @AfterAll
    static void stop() {
        log.setLevel(null);
        server.close();
    }

    static class Work {

        @DistributedLock(name = "order", key = "#id", ttl = "100s", waitTime = "30s")
        Duration order(String id) {
            return LockContext.current().remainingLease();
        }

        @DistributedLock(name = "order", key = "#id", ttl = "100s", waitTime = "30s")
        CompletableFuture<Duration> orderAsync(String id) {
            return CompletableFuture.completedFuture(LockContext.current().remainingLease());
        }

        @DistributedLock(key = "#id")
        Duration unnamed(String id) {
            return LockContext.current().remainingLease();
        }

        @DistributedLock(name = "sales", key = "#id", mode = Mode.SHARED)
        void sales(String id) {}

        @DistributedLock(name = "submit", key = "#id", keepFor = "1s")
        void submit(String id) {}
    }

    private void run(LockProperties.Type type, Consumer<ApplicationContext> test, String... properties) {
        runner.withPropertyValues("lock.type=" + type)
                .withPropertyValues(properties)
                .run(context -> test.accept(context.getSourceApplicationContext()));
    }

    private static LockOptions orders() {
        return LockOptions.defaults().withGroup("order").withTtl(FIRST).withWaitTime(Duration.ofSeconds(30));
    }

    private static void assertAbout(Duration remaining, long seconds) {
        assertThat(remaining).isBetween(Duration.ofSeconds(seconds / 2), Duration.ofSeconds(seconds));
    }

    @ParameterizedTest
    @EnumSource(LockProperties.Type.class)
    void theTtlWinsOverAnnotationAndOptions(LockProperties.Type type) {
        run(
                type,
                context -> {
                    Work work = context.getBean(Work.class);
                    LockRegistry registry = context.getBean(LockRegistry.class);
                    LockTemplate template = context.getBean(LockTemplate.class);
                    assertAbout(work.order("a"), 20);
                    assertAbout(work.orderAsync("a").join(), 20);
                    assertAbout(work.unnamed("a"), 10);
                    NamedLock lock = registry.get("b", orders());
                    assertAbout(template.execute("b", orders(), lock::remainingLease), 20);
                    lock.lock();
                    assertAbout(lock.remainingLease(), 20);
                    lock.unlock();
                    try (Lease lease = acquire(registry, "c", orders())) {
                        assertAbout(lease.remainingLease(), 20);
                    }
                    try (Lease other = acquire(registry, "c", orders().withGroup("other"))) {
                        assertAbout(other.remainingLease(), 100);
                    }
                },
                "lock.locks.order.ttl=20s",
                "lock.locks.[Work.unnamed].ttl=10s");
    }

    @ParameterizedTest
    @EnumSource(LockProperties.Type.class)
    void whatIsLeftOpenComesFromTheAnnotationAndThenFromTheProperties(LockProperties.Type type) {
        run(
                type,
                context -> {
                    assertAbout(context.getBean(Work.class).order("a"), 100);
                    assertAbout(context.getBean(Work.class).unnamed("a"), 50);
                },
                "lock.ttl=50s",
                "lock.locks.order.wait-time=5s",
                "lock.locks.[Work.unnamed].wait-time=5s");
    }

    /** Each of these would wait for half a minute, as it is written. */
    @ParameterizedTest
    @EnumSource(LockProperties.Type.class)
    void theWaitTimeWinsHoweverTheLockIsAskedFor(LockProperties.Type type) {
        run(
                type,
                context -> {
                    Work work = context.getBean(Work.class);
                    LockRegistry registry = context.getBean(LockRegistry.class);
                    LockTemplate template = context.getBean(LockTemplate.class);
                    try (Lease held = acquire(registry, "order:a", LockOptions.defaults())) {
                        refused(() -> work.order("a"));
                        refused(() -> Actor.get(work.orderAsync("a")));
                        refused(() -> template.execute("order:a", orders(), () -> null));
                        refused(() -> Actor.get(template.executeAsync(
                                "order:a", orders(), () -> CompletableFuture.completedFuture(null))));
                        refused(() -> registry.acquire("order:a", orders()));
                        refused(() -> Actor.get(registry.acquireAsync("order:a", orders())));
                        assertThat(held.isValid()).isTrue();
                    }
                },
                "lock.locks.order.wait-time=20ms");
    }

    private interface Attempt {
        void run() throws Exception;
    }

    private static void refused(Attempt attempt) {
        assertThatExceptionOfType(LockNotAcquiredException.class)
                .isThrownBy(attempt::run)
                .satisfies(refusal -> assertThat(refusal.getWaited()).isLessThan(Duration.ofSeconds(20)));
    }

    private static Lease acquire(LockRegistry registry, String name, LockOptions options) {
        try {
            return registry.acquire(name, options);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void aCallerThatSaysATimeItselfIsObeyed() {
        run(
                LockProperties.Type.MEMORY,
                context -> {
                    LockRegistry registry = context.getBean(LockRegistry.class);
                    Lease held = acquire(registry, "a", orders());
                    try (Actor actor = new Actor()) {
                        NamedLock lock = registry.get("a", orders());
                        CompletableFuture<Boolean> waiting = actor.start(() -> lock.tryLock(30, TimeUnit.SECONDS));
                        Actor.await("the actor waits", actor::isWaiting);
                        held.close();
                        assertThat(waiting.join()).isTrue();
                    }
                },
                "lock.locks.order.wait-time=0");
    }

    // --- what is wrong ----------------------------------------------------------------------------------------

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            lock.locks.order.ttl             | 999ms | lock.locks.order.ttl             | ttl is PT0.999S; it must be at least 1000 ms
            lock.locks.[Work.unnamed].ttl    | 25d   | lock.locks.[Work.unnamed].ttl    | ttl is PT600H; it must be at most 24 days: use renewal instead
            lock.locks.order.wait-time       | -1ms  | lock.locks.order.wait-time       | waitTime is PT-0.001S; it must not be negative
            lock.locks.order.max-hold        | 0ms   | lock.locks.order.max-hold        | maxHold is PT0S; it must be positive
            lock.locks.order.permits         | 0     | lock.locks.order.permits         | permits is 0; it must be at least 1
            lock.locks.order.permits         | 201   | lock.locks.order.permits         | must be at most lock.max-holders (200): lower it, or raise that in all instances
            lock.locks.order.permits         | -3    | lock.locks.order.permits         | permits is -3; it must be at least 1
            lock.locks.order.linger          | -1ms  | lock.locks.order.linger          | linger is PT-0.001S; it must not be negative
            lock.locks.order.max-waiting     | 0     | lock.locks.order.max-waiting     | maxWaiting is 0; it must be at least 1
            lock.max-waiting                 | 0     | lock.max-waiting                 | maxWaiting is 0; it must be at least 1
            lock.locks.order.tll             | 5s    | lock.locks.order.tll             | is none of ttl, wait-time, renew, max-hold, permits, release, linger and max-waiting
            lock.enabled                     | off   | lock.enabled                     | must be true or false
            lock.mdc                         | no    | lock.mdc                         | must be true or false
            lock.observations.enabled        | 0     | lock.observations.enabled        | must be true or false
            lock.locks.Work.unnamed.ttl      | 5s    | lock.locks.Work.unnamed.ttl      | would be ignored: write a name with dots in brackets, lock.locks.[Work.unnamed].ttl; an environment variable cannot name a group with dots, dashes or capitals
            """)
    void aBadOverrideEndsTheStartWithItsPropertyAndAction(String property, String value, String named, String reason) {
        runner.withPropertyValues("lock.type=memory", property + "=" + value)
                .run(context -> assertThat(NestedExceptionUtils.getMostSpecificCause(context.getStartupFailure()))
                        .hasMessageStartingWith("Property " + named + " with value '")
                        .hasMessageEndingWith("' is invalid: " + reason));
    }

    @ParameterizedTest
    @ValueSource(strings = {"5s", ""})
    void anOverrideThatIsNoObjectEndsTheStart(String value) {
        runner.withPropertyValues("lock.type=memory", "lock.locks.order=" + value)
                .run(context -> assertThat(NestedExceptionUtils.getMostSpecificCause(context.getStartupFailure()))
                        .hasMessageEndingWith("needs an attribute, such as lock.locks.order.ttl"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"wait-time=5s", "permits=2"})
    void whatWouldHaveSeveralInstancesRunATickOfAJobEndsTheStart(String property) {
        runner.withBean(Tick.class)
                .withPropertyValues("lock.type=memory", "lock.locks.tick." + property)
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasMessageContaining("is a job for one instance, and lock.locks.[tick]."
                                + property.replaceAll("=.*", "") + " lets several run each tick"));
    }

    @Test
    void aJobMayHaveATtlAndNoWaitTime() {
        runner.withBean(Tick.class)
                .withPropertyValues("lock.type=memory", "lock.locks.tick.ttl=5s", "lock.locks.tick.wait-time=0")
                .run(context -> assertThat(context).hasNotFailed());
    }

    static class Tick {

        @ScheduledLock(name = "tick")
        public void run() {}
    }

    @Test
    void namesInTheEnvironmentAreFine() {
        run(
                LockProperties.Type.MEMORY,
                context -> assertThat(context.getBean(LockProperties.class).locks())
                        .containsEntry(
                                "order",
                                new LockProperties.Group(
                                        null,
                                        Duration.ofSeconds(1),
                                        null,
                                        Duration.ofDays(1),
                                        5,
                                        Release.SEND,
                                        Duration.ZERO,
                                        20)),
                "lock.locks.order.waittime=1s",
                "lock.locks.order.maxHold=1d",
                "lock.locks.order.PERMITS=5",
                "lock.locks.order.Release=SEND",
                "lock.locks.order.linger=0",
                "lock.locks.order.maxwaiting=20");
    }

    @Test
    void aLockIsKeptAlthoughAnOverrideEndsItsRenewal() {
        runner.withPropertyValues("lock.type=memory", "lock.locks.submit.renew=false")
                .run(context -> {
                    context.getBean(Work.class).submit("a");
                    assertThat(context.getBean(LockRegistry.class)
                                    .get("submit:a")
                                    .isLocked())
                            .isTrue();
                });
    }

    @Test
    void permitsWinOverTheAnnotation() {
        run(
                LockProperties.Type.MEMORY,
                context -> {
                    List<Integer> permits = new ArrayList<>();
                    context.getBean(LockRegistry.class).addListener(new LockListener() {
                        @Override
                        public void requested(LockUse use) {
                            permits.add(use.permits());
                        }
                    });
                    context.getBean(Work.class).order("a");
                    context.getBean(Work.class).unnamed("a");
                    assertThat(permits).containsExactly(5, null);
                },
                "lock.locks.order.permits=5");
    }

    static class Partners {

        @DistributedLock(name = "partner", permits = "4")
        void ask() {}
    }

    @ParameterizedTest
    @EnumSource(LockProperties.Type.class)
    void morePermitsThanALockMayHaveHoldersEndTheStart(LockProperties.Type type) {
        ApplicationContextRunner partners =
                runner.withBean(Partners.class).withPropertyValues("lock.type=" + type, "lock.max-holders=3");
        partners.run(
                context -> assertThat(context)
                        .getFailure()
                        .hasMessageContaining(
                                "Partners.ask(): has options that its registry refuses: permits of group 'partner' is"
                                        + " 4, and a lock has at most 3 holders; request fewer, or raise lock.max-holders in all"));
        partners.withPropertyValues("lock.locks.partner.permits=3").run(context -> {
            assertThat(context).hasNotFailed();
            LockOptions four = LockOptions.defaults().withPermits(4);
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> context.getBean(LockRegistry.class).get("a", four))
                    .withMessage("permits of lock 'a' is 4, and a lock has at most 3 holders; request fewer, or raise"
                            + " lock.max-holders in all instances");
        });
    }

    @Test
    void permitsForAMethodWithASharedLockEndTheStart() {
        runner.withPropertyValues("lock.type=memory", "lock.locks.sales.permits=5")
                .run(
                        context -> assertThat(context)
                                .getFailure()
                                .hasMessageContaining(
                                        "Work.sales(String): has options that its registry refuses:"
                                                + " lock.locks.[sales].permits is 5, and the caller requests mode SHARED; remove the property"));
    }

    @Test
    void aGroupThatLingersHasNoPermitsAndIsRenewed() {
        for (String other : List.of("lock.locks.order.permits=5", "lock.locks.order.renew=false")) {
            runner.withPropertyValues("lock.type=memory", "lock.locks.order.linger=1s", other)
                    .run(context -> assertThat(context)
                            .getFailure()
                            .hasStackTraceContaining(
                                    "Property lock.locks.order.linger with value '1000ms' is invalid: linger"
                                            + " is PT1S; it must be left out for a l"));
        }
    }

    @Test
    void aMethodThatCannotLingerEndsTheStart() {
        runner.withPropertyValues("lock.type=memory", "lock.locks.sales.linger=1s")
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasMessageContaining("Work.sales(String): has options that its registry refuses:"
                                + " linger is PT1S; it must be left out for mode SHARED"));
    }

    @Test
    void aGroupThatLingersEndsTheStartIfNoLockIsRenewed() {
        runner.withPropertyValues("lock.type=memory", "lock.renew=false", "lock.locks.order.linger=1s")
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasMessageContaining("Work.order(String): has options that its registry refuses:"
                                + " linger is PT1S; it must be left out for a lease that is not renewed"));
    }

    @Test
    void aMethodThatLingersEndsTheStartIfNoLockIsRenewed() {
        runner.withBean(Lingering.class)
                .withPropertyValues("lock.type=memory", "lock.renew=false")
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasMessageContaining("Lingering.run(): has options that its registry refuses:"
                                + " linger is PT1S; it must be left out for a lease that is not renewed"));
    }

    @Test
    void aMethodThatLingersMayBeTheOnlyOneThatIsRenewed() {
        runner.withBean(Lingering.class)
                .withPropertyValues("lock.type=memory", "lock.renew=false", "lock.locks.stay.renew=true")
                .run(context ->
                        assertThat(context.getBean(Lingering.class).run()).isEqualTo("ran"));
    }

    @Test
    void aMethodMayLingerInARegistryOfItsOwnAlthoughLockRenewIsFalse() {
        runner.withBean(LingeringElsewhere.class)
                .withBean("second", MemoryLockRegistry.class, () -> new MemoryLockRegistry())
                .withBean(
                        "first",
                        MemoryLockRegistry.class,
                        () -> new MemoryLockRegistry(),
                        primary -> primary.setPrimary(true))
                .withPropertyValues("lock.renew=false")
                .run(context -> assertThat(
                                context.getBean(LingeringElsewhere.class).run())
                        .isEqualTo("ran"));
    }

    static class LingeringElsewhere {
        @DistributedLock(name = "stay", linger = "1s", registry = "second")
        String run() {
            return "ran";
        }
    }

    static class Lingering {
        @DistributedLock(name = "stay", linger = "1s")
        String run() {
            return "ran";
        }
    }

    @Test
    void aNameThatIsSpelledOtherwiseThanInTheAnnotationIsWarnedOf(CapturedOutput output) {
        run(LockProperties.Type.MEMORY, context -> {}, "lock.locks.Or-der.ttl=5s", "lock.locks.unnamed.ttl=5s");
        assertThat(output)
                .containsPattern("WARN.*lock.locks.\\[Or-der\\] matches no @DistributedLock here;"
                        + " did you mean lock.locks.\\[order\\]\\?")
                .containsPattern(
                        "WARN.*lock.locks.\\[unnamed\\] matches .*did you mean lock.locks.\\[Work.unnamed\\]\\?");
    }

    @Test
    void aNameThatOnlyCodeMayHaveIsMentioned(CapturedOutput output) {
        run(LockProperties.Type.MEMORY, context -> {}, "lock.locks.report.ttl=5s", "lock.locks.order.ttl=5s");
        assertThat(output)
                .containsPattern("INFO.*lock.locks.\\[report\\] matches no @DistributedLock here,"
                        + " so it is only for LockOptions.withGroup\\(\"report\"\\) or a LeaderElection")
                .doesNotContain("[order]");
        assertThat(Stream.of(output.getAll().split("\n")).filter(line -> line.contains("matches no @DistributedLock")))
                .hasSize(1);
    }
}
