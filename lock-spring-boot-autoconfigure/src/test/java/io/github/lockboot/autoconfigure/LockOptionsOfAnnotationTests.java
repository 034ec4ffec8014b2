package io.github.lockboot.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.DistributedLock.KeepOn;
import io.github.lockboot.DistributedLock.Mode;
import io.github.lockboot.DistributedLock.Release;
import io.github.lockboot.DistributedLock.Renewal;
import io.github.lockboot.LockLostException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockTemplate;
import io.github.lockboot.RecordingLockRegistry;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** The attributes renew, maxHold, mode, permits, condition and keepFor. */
class LockOptionsOfAnnotationTests {

    private static final Duration WAIT_TIME = Duration.ofSeconds(10);

    private final RecordingLockRegistry registry = new RecordingLockRegistry();

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(PropertyPlaceholderAutoConfiguration.class, LockAutoConfiguration.class))
            .withBean(RecordingLockRegistry.class, () -> registry)
            .withPropertyValues("limit=100", "keep=1m")
            .withBean(Orders.class);

    @Test
    void renewalReleaseAndLingeringAreTheRegistrysUnlessSaid() {
        runner.run(context -> {
            Orders orders = context.getBean(Orders.class);
            orders.plain();
            assertThat(registry.lastOptions().renew()).isNull();
            assertThat(registry.lastOptions().maxHold()).isNull();
            orders.renewed();
            assertThat(registry.lastOptions().renew()).isTrue();
            orders.notRenewed();
            assertThat(registry.lastOptions().renew()).isFalse();
            assertThat(registry.lastOptions().maxHold()).isEqualTo(Duration.ofMinutes(5));
            assertThat(registry.lastOptions().release()).isNull();
            assertThat(registry.lastOptions().linger()).isNull();
            orders.lingering();
            assertThat(registry.lastOptions().linger()).isEqualTo(Duration.ofMillis(200));
            orders.sent();
            assertThat(registry.lastOptions().release()).isEqualTo(Release.SEND);
        });
    }

    @Test
    void modeAndPermitsArePassedOnWhateverTheResult() throws Exception {
        LockTemplate template = new LockTemplate(registry, WAIT_TIME);
        runner.withPropertyValues("calls=5")
                .withBean(LockTemplate.class, () -> template)
                .run(context -> {
                    Orders orders = context.getBean(Orders.class);
                    orders.plain();
                    assertThat(registry.lastOptions()).isEqualTo(ofKind().withGroup("plain"));
                    orders.shared();
                    assertThat(registry.lastOptions())
                            .isEqualTo(ofKind().withGroup("shared").shared());
                    orders.sharedLater().join();
                    assertThat(registry.lastOptions())
                            .isEqualTo(ofKind().withGroup("sharedLater").shared());
                    orders.limited();
                    assertThat(registry.lastOptions())
                            .isEqualTo(ofKind().withGroup("limited").withPermits(5));
                    orders.limitedMono().block();
                    assertThat(registry.lastOptions())
                            .isEqualTo(ofKind().withGroup("limitedMono").withPermits(3));
                    orders.sharedElements(List.of("a", "b"));
                    assertThat(registry.optionsOf("elements:a"))
                            .isEqualTo(ofKind().withGroup("elements").shared());
                });
    }

    private static LockOptions ofKind() {
        return LockOptions.defaults().withWaitTime(WAIT_TIME);
    }

    @Test
    void theGroupIsTheNameOrElseTheMethod() {
        runner.run(context -> {
            Orders orders = context.getBean(Orders.class);
            orders.plain();
            assertThat(registry.lastOptions().group()).isEqualTo("plain");
            orders.unnamed("o1");
            assertThat(registry.lastOptions().group()).isEqualTo("Orders.unnamed");
        });
    }

    @Test
    void withTheConditionTheMethodIsLocked() {
        runner.run(context -> {
            context.getBean(Orders.class).above(101);
            assertThat(registry.events()).containsExactly("lock above", "body", "unlock above");
        });
    }

    @Test
    void withoutTheConditionTheMethodRunsWithoutLock() {
        runner.run(context -> {
            context.getBean(Orders.class).above(100);
            assertThat(registry.events()).containsExactly("body");
        });
    }

    @Test
    void aConditionThatIsNeitherTrueNorFalseIsRefused() {
        runner.run(context -> assertThatIllegalArgumentException()
                .isThrownBy(() -> context.getBean(Orders.class).maybe("true"))
                .withMessageEndingWith("condition expression \"#maybe\" gives neither true nor false: "
                        + "use a comparison such as #amount > 100"));
        assertThat(registry.events()).isEmpty();
    }

    @Test
    void aLockIsKeptForTheRestOfItsTime() {
        runner.run(context -> context.getBean(Orders.class).submit(false));
        assertThat(registry.events()).containsExactly("lock submit", "body", "keep submit");
        assertThat(registry.lastKeep()).isBetween(Duration.ofSeconds(30), Duration.ofMinutes(1));
    }

    @Test
    void aKeptLockIsRenewedWhileTheMethodRunsOnlyIfThatIsTheDefault() {
        runner.withPropertyValues("lock.renew=false")
                .run(context -> context.getBean(Orders.class).submit(false));
        assertThat(registry.lastOptions().renew()).isNull();
        assertThat(registry.events()).endsWith("keep submit");
    }

    @Test
    void aLockIsKeptAfterAFailureToo() {
        runner.run(context -> assertThatThrownBy(
                        () -> context.getBean(Orders.class).submit(true))
                .hasMessage("body"));
        assertThat(registry.events()).containsExactly("lock submit", "body", "keep submit");
    }

    @Test
    void aLockKeptOnSuccessIsGivenBackAfterAFailure() {
        runner.run(context -> {
            Orders orders = context.getBean(Orders.class);
            assertThatThrownBy(() -> orders.submitOnce(true)).hasMessage("body");
            orders.submitOnce(false);
        });
        assertThat(registry.events())
                .containsExactly("lock once", "body", "unlock once", "lock once", "body", "keep once");
    }

    @Test
    void aLockWhoseTimeIsOverIsGivenBack() {
        runner.run(context -> context.getBean(Orders.class).shortly());
        assertThat(registry.events()).containsExactly("lock shortly", "unlock shortly");
    }

    @Test
    void aLostLockIsNotKept() {
        runner.run(context -> assertThatExceptionOfType(LockLostException.class)
                .isThrownBy(() -> context.getBean(Orders.class).submitAndLose()));
        assertThat(registry.events()).containsExactly("lock loser", "unlock loser");
    }

    static class Orders {

        private final RecordingLockRegistry registry;

        Orders(RecordingLockRegistry registry) {
            this.registry = registry;
        }

        @DistributedLock(name = "plain")
        void plain() {}

        @DistributedLock(key = "#id")
        void unnamed(String id) {}

        @DistributedLock(name = "renewed", renew = Renewal.ON)
        void renewed() {}

        @DistributedLock(name = "notRenewed", renew = Renewal.OFF, maxHold = "5m")
        void notRenewed() {}

        @DistributedLock(name = "lingering", linger = "${linger:200ms}")
        void lingering() {}

        @DistributedLock(name = "sent", release = Release.SEND)
        void sent() {}

        @DistributedLock(name = "shared", mode = Mode.SHARED)
        void shared() {}

        @DistributedLock(name = "sharedLater", mode = Mode.SHARED)
        CompletableFuture<Void> sharedLater() {
            return CompletableFuture.completedFuture(null);
        }

        @DistributedLock(name = "limited", permits = "${calls:1}")
        void limited() {}

        @DistributedLock(name = "limitedMono", permits = "3")
        Mono<String> limitedMono() {
            return Mono.just("done");
        }

        @DistributedLock(name = "elements", key = "#keys", perElement = true, mode = Mode.SHARED)
        void sharedElements(List<String> keys) {}

        @DistributedLock(name = "above", condition = "#amount > ${limit}")
        void above(int amount) {
            registry.record("body");
        }

        @DistributedLock(name = "maybe", condition = "#maybe")
        void maybe(Object maybe) {}

        @DistributedLock(name = "submit", keepFor = "${keep}")
        void submit(boolean failing) {
            registry.record("body");
            failIf(failing);
        }

        @DistributedLock(name = "once", keepFor = "1m", keepOn = KeepOn.SUCCESS)
        void submitOnce(boolean failing) {
            registry.record("body");
            failIf(failing);
        }

        @DistributedLock(name = "shortly", keepFor = "1ns")
        void shortly() {}

        @DistributedLock(name = "loser", keepFor = "1m")
        void submitAndLose() {
            registry.lose("loser");
        }

        private static void failIf(boolean failing) {
            if (failing) {
                throw new IllegalStateException("body");
            }
        }
    }
}
