package io.github.lockboot.internal;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class LockNamesTests {

    @Test
    void aNameIsJoinedOfPartsThatCanBeToldApart() {
        assertThat(LockNames.join("order")).isEqualTo("order");
        assertThat(LockNames.join("order", "5")).isEqualTo("order:5");
        assertThat(LockNames.join("order", "refund", "5")).isEqualTo("order:refund:5");
        assertThat(LockNames.join("order", "refund:5")).isEqualTo("order:refund\\:5");
        assertThat(LockNames.join("order", "a\\")).isEqualTo("order:a\\\\");
        assertThat(LockNames.join("", "a:b")).isEqualTo("a:b");
        assertThat(LockNames.join("", "", "a:b")).isEqualTo(":a\\:b");
    }

    @Test
    void withoutANameTheFirstOfSeveralKeysTakesItsPlace() {
        assertThat(LockNames.join("", "order", "5")).isEqualTo(LockNames.join("order", "5"));
    }

    @Test
    void aDigestIsShortAlwaysTheSameAndNotTheName() {
        assertThat(LockNames.digest("order:4711")).hasSize(12).matches("[0-9a-f]+");
        assertThat(LockNames.digest("order:4711")).isEqualTo(LockNames.digest("order:4711"));
        assertThat(LockNames.digest("order:4711")).isNotEqualTo(LockNames.digest("order:4712"));
    }

    @Test
    void aPrintableNameIsOnOneLineAndTellsWhatWasReplaced() {
        assertThat(LockNames.printable("order:4711 ä")).isEqualTo("order:4711 ä");
        assertThat(LockNames.printable("a\r\nb")).isEqualTo("a\\u000d\\u000ab");
        assertThat(LockNames.printable("a" + (char) 0x2028 + "b" + (char) 0x202e + "c" + (char) 27 + "[0m"))
                .isEqualTo("a\\u2028b\\u202ec\\u001b[0m");
        assertThat(LockNames.printable("a" + (char) 92 + "n")).isEqualTo("a" + (char) 92 + "u005cn");
    }
}
