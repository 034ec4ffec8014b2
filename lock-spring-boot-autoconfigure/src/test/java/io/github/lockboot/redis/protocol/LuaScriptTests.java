package io.github.lockboot.redis.protocol;

import java.nio.charset.StandardCharsets;
import java.util.List;

import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.protocol.CommandArgs;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class LuaScriptTests {

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void argumentsAreEncodedAsLettuceWould(boolean digestOnly) {
        LuaScript script = LuaScript.ACQUIRE;
        for (int length : List.of(0, 1, 9, 10, 99, 100, 1_000)) {
            byte[] key = bytes("锁".repeat(length));
            byte[][] arguments = {bytes("x".repeat(length)), bytes("\r\n$"), new byte[0]};
            byte[] number = LuaScript.nextNumber();
            CommandArgs<byte[], byte[]> theirs = new CommandArgs<>(ByteArrayCodec.INSTANCE)
                    .add(digestOnly ? script.getSha1() : script.getScriptAsString())
                    .add(1)
                    .addKey(key)
                    .addValues(arguments)
                    .add(number);
            ByteBuf expected = Unpooled.buffer();
            theirs.encode(expected);
            LuaScript.Encoded ours = script.encoded(digestOnly, key, arguments, number);
            assertThat(ours.count()).isEqualTo(theirs.count());
            assertThat(Unpooled.wrappedBuffer(ours.bytes())).isEqualTo(expected);
        }
    }
}
