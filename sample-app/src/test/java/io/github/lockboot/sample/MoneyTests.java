package io.github.lockboot.sample;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class MoneyTests {

    @ParameterizedTest
    @CsvSource({"0.01,1", "1,100", "1.2,120", "1.23,123", "100.00,10000", "1000000,100000000"})
    void yuanAreReadAsCents(String yuan, long cents) {
        assertThat(Money.valueOf(yuan)).isEqualTo(new Money(cents));
    }

    @ParameterizedTest
    @CsvSource({"0,0.00", "1,0.01", "120,1.20", "10000,100.00", "100000000,1000000.00"})
    void centsAreWrittenAsYuan(long cents, String yuan) {
        assertThat(new Money(cents)).hasToString(yuan);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", " ", "0", "0.00", "-1", "+1", "1.", ".5", "1.001", "1,5", "1e3", "NaN", "１", "1000000.01"})
    void anythingElseIsRefused(String text) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Money.valueOf(text))
                .withMessageContaining("from 0.01 to 1000000.00");
    }
}
