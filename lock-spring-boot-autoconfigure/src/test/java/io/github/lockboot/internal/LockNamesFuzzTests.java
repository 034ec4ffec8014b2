package io.github.lockboot.internal;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.github.lockboot.Fuzz;
import io.github.lockboot.LockLostException;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.StaleTokenException;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Names of any characters: shown on one line and told apart, and apart in Redis. */
class LockNamesFuzzTests {

    @Test
    void aShownNameIsOneLineAndNoOtherNameIsShownSo() {
        Map<String, String> shownBefore = new HashMap<>();
        Fuzz.times(200_000, "names shown", fuzz -> {
            String name = fuzz.text(6);
            String shown = LockNames.printable(name);
            if (!Fuzz.isOneHonestLine(shown)) {
                throw new AssertionError("more than one line: " + shown);
            }
            String other = shownBefore.putIfAbsent(shown, name);
            if (other != null && !other.equals(name)) {
                throw new AssertionError("another name is shown as " + shown);
            }
        });
    }

    @Test
    void aNameThatIsAcceptedIsWhatRedisGetsAndAnyOtherIsRefused() {
        Fuzz.times(100_000, "names accepted", fuzz -> {
            String name = fuzz.below(100) == 0 ? fuzz.text(3_000) : fuzz.text(6);
            boolean keepsItsCharacters =
                    new String(name.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8).equals(name);
            boolean legal = !name.isEmpty() && name.length() <= LockRegistry.MAX_NAME_LENGTH && keepsItsCharacters;
            try {
                if (!LockNames.valid(name).equals(name) || !legal) {
                    throw new AssertionError("accepted: " + LockNames.printable(name));
                }
            } catch (IllegalArgumentException refused) {
                if (legal || !Fuzz.isOneHonestLine(String.valueOf(refused.getMessage()))) {
                    throw new AssertionError("refused: " + LockNames.printable(name), refused);
                }
            }
            if (!LockNames.digest(name).matches("[0-9a-f]{12}")) {
                throw new AssertionError("digest of " + LockNames.printable(name));
            }
        });
    }

    @Test
    void noExceptionForgesALine() {
        Fuzz.times(20_000, "names in exceptions", fuzz -> {
            String name = fuzz.text(6);
            for (RuntimeException failure : List.of(
                    new LockNotAcquiredException(name, Duration.ZERO),
                    new LockNotAcquiredException(name, Duration.ZERO, new InterruptedException()),
                    new LockUnavailableException(name, "reason", null),
                    new LockLostException(name, 1, "reason"),
                    new StaleTokenException(name, 1, 2))) {
                if (!Fuzz.isOneHonestLine(String.valueOf(failure.getMessage()))) {
                    throw new AssertionError("forges a line", failure);
                }
            }
        });
        assertThat(new LockNotAcquiredException("a\nb", Duration.ZERO).getLockName())
                .isEqualTo("a\nb");
    }
}
