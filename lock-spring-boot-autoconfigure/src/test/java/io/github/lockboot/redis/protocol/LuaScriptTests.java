package io.github.lockboot.redis.protocol;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** A client that has lost count gives a command the reply to another one. */
class LuaScriptTests {

    private static final byte[] NUMBER = bytes("1000000000007");

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    @Test
    void aReplyWithTheNumberOfItsCommandIsTheAnswer() {
        ByteBuffer received = ByteBuffer.wrap(bytes("older 1000000000007 GRANTED 1 2 3"));
        received.position("older ".length());
        assertThat(LuaScript.answerTo(NUMBER, received)).isEqualTo("GRANTED 1 2 3");
    }

    @ParameterizedTest
    @NullSource
    @ValueSource(
            strings = {
                "",
                "RELEASED",
                "1000000000007",
                "1000000000007RELEASED",
                "1000000000008 RELEASED",
                "100000000000 RELEASED",
                "10000000000070 RELEASED"
            })
    void anyOtherReplyIsThatOfAnotherCommand(@Nullable String reply) {
        ByteBuffer received = reply == null ? null : ByteBuffer.wrap(bytes(reply));
        assertThatExceptionOfType(LuaScript.ForeignReplyException.class)
                .isThrownBy(() -> LuaScript.answerTo(NUMBER, received));
    }

    @Test
    void eachCommandHasANumberOfItsOwn() {
        assertThat(LuaScript.nextNumber()).isNotEqualTo(LuaScript.nextNumber()).hasSize(NUMBER.length);
    }
}
