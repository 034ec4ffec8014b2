package io.github.lockboot.sample.transfer;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;

import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.fixture.Await;
import io.github.lockboot.sample.Money;
import io.github.lockboot.sample.SampleInstance;
import io.github.lockboot.sample.live.EventLog;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Transfers of 10.00 and 20.00 both ways at once. Each test has accounts of its own, because both orders are reported
 * once in a process.
 */
class TransferTests {

    private static SampleInstance sample;

    @BeforeAll
    static void start() {
        sample = SampleInstance.start();
    }

    @AfterAll
    static void stop() {
        sample.close();
    }

    @Test
    void nestedOnesGiveUpAndTellOfTheOtherLockAndTheLibraryWarns() {
        List<Throwable> refused = bothWays("nested", "C", "D");
        assertThat(refused)
                .isNotEmpty()
                .allSatisfy(given -> assertThat(given)
                        .isInstanceOf(LockNotAcquiredException.class)
                        .hasMessageContaining("this thread held lock 'transfer:"));
        Await.until(
                "the warning is an event",
                () -> sample.bean(EventLog.class).newest("sample:events", 100).stream()
                        .anyMatch(event -> "both-orders".equals(event.get("kind"))));
        long sum = balance("C") + balance("D");
        assertThat(sum).as("nothing is lost").isEqualTo(20_000);
    }

    @Test
    void thoseThatTakeBothLocksAtOnceAreMade() {
        assertThat(bothWays("all-of", "E", "F")).isEmpty();
        assertThat(balance("E")).isEqualTo(11_000);
        assertThat(balance("F")).isEqualTo(9_000);
    }

    private static long balance(String account) {
        return Objects.requireNonNull(transfers().balances(List.of(account)).get(account))
                .cents();
    }

    /** @return why transfers were refused */
    private static List<Throwable> bothWays(String mode, String one, String other) {
        transfers().open(one, new Money(10_000));
        transfers().open(other, new Money(10_000));
        return Stream.of(start(mode, one, other, 1_000), start(mode, other, one, 2_000)).toList().stream()
                .map(transfer -> transfer.handle((made, refused) -> refused).join())
                .filter(Objects::nonNull)
                .map(refused -> refused instanceof CompletionException ? refused.getCause() : refused)
                .toList();
    }

    private static CompletableFuture<Void> start(String mode, String from, String to, long cents) {
        CompletableFuture<Void> made = new CompletableFuture<>();
        new Thread(() -> {
                    try {
                        transfers().transfer(mode, from, to, new Money(cents));
                        made.complete(null);
                    } catch (Exception refused) {
                        made.completeExceptionally(refused);
                    }
                })
                .start();
        return made;
    }

    private static TransferService transfers() {
        return sample.bean(TransferService.class);
    }
}
