package io.github.lockboot.autoconfigure;

import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import io.github.lockboot.Actor;
import io.github.lockboot.DistributedLock;
import io.github.lockboot.DistributedLock.KeepOn;
import io.github.lockboot.Lease;
import io.github.lockboot.LockLostException;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockUnavailableException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.test.context.runner.AbstractApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.support.StaticMessageSource;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;

/** What a web application answers to a request that ends without a lock, whatever it is built on. */
abstract class LockWebContract {

    static final AutoConfigurations OURS = AutoConfigurations.of(
            PropertyPlaceholderAutoConfiguration.class, LockAutoConfiguration.class, LockWebAutoConfiguration.class);

    /** What a client sees. */
    record Answer(
            int status, @Nullable String type, @Nullable String retryAfter, String body) {}

    /** A request of a client. */
    interface Client {

        /** Fails if the application answers nothing. */
        Answer get(String path) throws Exception;
    }

    /** What a test does. */
    interface Step {

        void run(Client client, LockRegistry locks) throws Exception;
    }

    abstract AbstractApplicationContextRunner<?, ?, ?> runner();

    abstract Client client(ConfigurableApplicationContext context);

    /** An advice that handles all exceptions, besides those of the framework. */
    abstract Class<?> handlerOfAll();

    private void run(Step step, Class<?> additional, String... properties) {
        AbstractApplicationContextRunner<?, ?, ?> runner = runner().withPropertyValues("lock.type=memory")
                .withPropertyValues(properties)
                .withUserConfiguration(additional, Orders.class);
        runner.run(context -> step.run(
                client((ConfigurableApplicationContext) context.getSourceApplicationContext()),
                context.getBean(LockRegistry.class)));
    }

    private void run(Step step, String... properties) {
        run(step, Orders.class, properties);
    }

    private static void whileHeld(LockRegistry locks, String name, Actor.Step step) throws Exception {
        Lease held = locks.acquire(name, LockOptions.defaults().withTtl(Duration.ofSeconds(20)));
        step.run();
        held.close();
    }

    @Test
    void aRefusalIsAConflictThatSaysWhenToComeBackAndNotWhichLockItIs() {
        run((client, locks) -> whileHeld(locks, "order:secret", () -> {
            Answer answer = client.get("/plain");
            assertThat(answer.status()).isEqualTo(409);
            assertThat(answer.type()).startsWith("application/problem+json");
            assertThat(Integer.parseInt(answer.retryAfter())).isBetween(1, 20);
            assertThat(answer.body())
                    .contains("\"title\":\"Conflict\"", "\"status\":409", "\"instance\":\"/plain\"")
                    .contains("\"detail\":\"Another request holds what this one needs; try again later.\"")
                    .doesNotContain("secret", "lock");
        }));
    }

    @ParameterizedTest
    @ValueSource(strings = {"/plain", "/later", "/mono"})
    void aRequestThatGetsItsLockIsNoneOfThese(String path) {
        run((client, locks) -> assertThat(client.get(path).body()).isEqualTo("ran"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"/told", "/later", "/mono"})
    void theMessageOfTheAnnotationIsTheDetail(String path) {
        run(
                (client, locks) -> whileHeld(locks, "order:secret", () -> {
                    Answer answer = client.get(path);
                    assertThat(answer.status()).isEqualTo(409);
                    assertThat(answer.body()).contains("\"detail\":\"Order is being submitted\"");
                }),
                "what=Order");
    }

    @Test
    void theTextsAreMessagesOfTheApplicationIfItHasThem() {
        run(
                (client, locks) -> {
                    whileHeld(locks, "order:secret", () -> {
                        assertThat(client.get("/plain").body()).contains("\"detail\":\"In Bearbeitung\"");
                        assertThat(client.get("/told").body()).contains("\"detail\":\"Something is being submitted\"");
                    });
                    assertThat(client.get("/unavailable").body()).contains("\"detail\":\"Gerade nicht\"");
                },
                Messages.class);
    }

    @Test
    void aLockThatIsKeptIsRetriedWhenItIsFree() {
        run((client, locks) -> {
            assertThat(client.get("/kept").body()).isEqualTo("ran");
            Answer answer = client.get("/kept");
            assertThat(answer.status()).isEqualTo(409);
            assertThat(Integer.parseInt(answer.retryAfter())).isBetween(3_000, 3_600);
        });
    }

    @Test
    void anOutageIsNoConflict() {
        run((client, locks) -> {
            Answer answer = client.get("/unavailable");
            assertThat(answer.status()).isEqualTo(503);
            assertThat(answer.type()).startsWith("application/problem+json");
            assertThat(answer.retryAfter()).isEqualTo("1");
            assertThat(answer.body())
                    .contains("\"detail\":\"The request cannot be handled at the moment; try again later.\"")
                    .doesNotContain("secret", "lock");
        });
    }

    @Test
    void lessThanASecondIsASecondAndWhatIsNotKnownIsNotSaid() {
        run((client, locks) -> {
            assertThat(client.get("/soon").retryAfter()).isEqualTo("1");
            assertThat(client.get("/unknown").status()).isEqualTo(409);
            assertThat(client.get("/unknown").retryAfter()).isNull();
        });
    }

    @Test
    void theNameIsSaidIfNamesAreWrittenToTheLog() {
        run(
                (client, locks) -> {
                    whileHeld(
                            locks,
                            "order:secret",
                            () -> assertThat(client.get("/told").body())
                                    .contains(
                                            "\"lock\":\"order:secret\"",
                                            "\"detail\":\"Something is being submitted\""));
                    assertThat(client.get("/unavailable").body()).contains("\"lock\":\"order:secret\"");
                },
                "lock.log-keys=true");
    }

    @Test
    void anExceptionOfTheApplicationThatHasOneOfALockAsItsCauseIsNotHandled() {
        run((client, locks) -> assertThat(client.get("/own-status").status()).isEqualTo(418));
    }

    @Test
    void aHandlerOfTheControllerComesFirst() {
        run(
                (client, locks) -> assertThat(client.get("/handled").body()).isEqualTo("by the controller"),
                Handling.class);
    }

    @Test
    void anAdviceOfTheApplicationComesFirst() {
        run((client, locks) -> assertThat(client.get("/soon").body()).isEqualTo("by the advice"), Advice.class);
    }

    @Test
    void anAdviceOfTheApplicationForAllExceptionsComesFirst() {
        run(
                (client, locks) -> {
                    assertThat(client.get("/soon").body()).isEqualTo("by the handler of all");
                    assertThat(client.get("/unavailable").body()).isEqualTo("by the handler of all");
                },
                handlerOfAll());
    }

    @Test
    void aPropertyTurnsItOff() {
        run(
                (client, locks) -> assertThat(client.get("/soon").status()).isEqualTo(500),
                "lock.web.problem-details=false");
    }

    @Test
    void withoutLocksThereIsNothingToAnswer() {
        runner().withPropertyValues("lock.enabled=false")
                .run(context -> assertThat(context.getBeanNamesForType(LockProblemAdvice.class))
                        .isEmpty());
        runner().withPropertyValues("lock.type=memory", "lock.web.problem-details=off")
                .run(context -> assertThat(context.getStartupFailure())
                        .rootCause()
                        .hasMessage("Property lock.web.problem-details with value 'off' is invalid:"
                                + " must be true or false"));
    }

    /** Its work may have been done in part, so the client must not simply repeat it. */
    @Test
    void aLostLockIsAFailureAsAnyOther() {
        run((client, locks) -> assertThat(client.get("/lost").status()).isEqualTo(500));
    }

    private static LockNotAcquiredException refusal(@Nullable Duration retryAfter) {
        return new LockNotAcquiredException("order:secret", Duration.ZERO, "another caller held it", "a-1", retryAfter);
    }

    @RestController
    static class Orders {

        @GetMapping("/plain")
        @DistributedLock(name = "order", key = "'secret'", waitTime = "0")
        public String plain() {
            return "ran";
        }

        @GetMapping("/told")
        @DistributedLock(
                name = "order",
                key = "'secret'",
                waitTime = "0",
                message = "${what:Something} is being submitted")
        public String told() {
            return "ran";
        }

        @GetMapping("/later")
        @DistributedLock(
                name = "order",
                key = "'secret'",
                waitTime = "0",
                message = "${what:Something} is being submitted")
        public CompletableFuture<String> later() {
            return CompletableFuture.completedFuture("ran");
        }

        @GetMapping("/mono")
        @DistributedLock(
                name = "order",
                key = "'secret'",
                waitTime = "0",
                message = "${what:Something} is being submitted")
        public Mono<String> mono() {
            return Mono.just("ran");
        }

        @GetMapping("/kept")
        @DistributedLock(name = "kept", waitTime = "0", keepFor = "1h", keepOn = KeepOn.SUCCESS)
        public String kept() {
            return "ran";
        }

        @GetMapping("/unavailable")
        public String unavailable() {
            throw new LockUnavailableException("order:secret", "no answer", null);
        }

        @GetMapping("/soon")
        public String soon() {
            throw refusal(Duration.ZERO);
        }

        @GetMapping("/unknown")
        public String unknown() {
            throw refusal(null);
        }

        @GetMapping("/lost")
        public String lost() {
            throw new LockLostException("order:secret", 1, "its lease ran out");
        }

        @GetMapping("/own-status")
        public String ownStatus() {
            throw new Teapot(refusal(null));
        }
    }

    @ResponseStatus(HttpStatus.I_AM_A_TEAPOT)
    static class Teapot extends RuntimeException {

        private static final long serialVersionUID = 1L;

        Teapot(Throwable cause) {
            super(cause);
        }
    }

    @RestController
    static class Handling {

        @GetMapping("/handled")
        public String handled() {
            throw refusal(null);
        }

        @ExceptionHandler
        public String handle(LockNotAcquiredException refusal) {
            return "by the controller";
        }
    }

    static class Messages {

        @Bean
        StaticMessageSource messageSource() {
            StaticMessageSource messages = new StaticMessageSource();
            messages.addMessages(
                    Map.of(
                            "problemDetail.io.github.lockboot.LockNotAcquiredException", "In Bearbeitung",
                            "problemDetail.io.github.lockboot.LockUnavailableException", "Gerade nicht"),
                    Locale.getDefault());
            return messages;
        }
    }

    /** Even if it says that all others come before it. */
    @RestControllerAdvice
    @Order(Ordered.LOWEST_PRECEDENCE)
    static class Advice {

        @ExceptionHandler
        public ResponseEntity<String> handle(LockNotAcquiredException refusal) {
            return ResponseEntity.ok("by the advice");
        }
    }
}
