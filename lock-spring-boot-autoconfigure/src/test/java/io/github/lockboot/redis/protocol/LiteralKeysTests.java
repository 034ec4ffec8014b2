package io.github.lockboot.redis.protocol;

import java.lang.reflect.Modifier;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** The scripts as they are sent pass proxies that read where their keys come from. */
class LiteralKeysTests {

    static Stream<Map.Entry<String, LuaScript>> scripts() throws IllegalAccessException {
        Map<String, LuaScript> scripts = new TreeMap<>();
        for (var field : LuaScript.class.getDeclaredFields()) {
            if (field.getType() == LuaScript.class && Modifier.isPublic(field.getModifiers())) {
                scripts.put(field.getName(), (LuaScript) field.get(null));
            }
        }
        assertThat(scripts).containsKeys("ACQUIRE", "RENEW", "UNLOCK", "SHOW", "PUBLISH", "FENCE");
        return scripts.entrySet().stream();
    }

    @ParameterizedTest
    @MethodSource("scripts")
    void eachKeyIsWrittenAsAnElementOfKeys(Map.Entry<String, LuaScript> script) {
        assertThat(LiteralKeys.refused(script.getValue().getScriptAsString()))
                .as(script.getKey())
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "local key = KEYS[1] return redis.call('GET', key)",
                "return redis.call('GET', KEYS[i])",
                "return redis.call('GET', KEYS[1] .. 'x')",
                "return redis.call('SET', KEYS[1], KEYS[1])",
                "return redis.call('PUBLISH', 'channel', KEYS[1])",
                "return redis.call(ARGV[1], KEYS[1])",
                "return redis.call('SET', KEYS[1], redis.call('GET', KEYS[2]))",
                "local call = redis.call return call('GET', KEYS[1])",
                "return redis.call('DEL', unpack(KEYS))"
            })
    void whatTheyRefuseIsFound(String script) {
        assertThat(LiteralKeys.refused(script)).hasSize(1);
    }

    @Test
    void whatTheyAllowIsAllowed() {
        String script = """
                -- redis.call('GET', key) in a comment
                local time, text = redis.call('TIME'), 'redis.call(key)'
                if redis.pcall('SET', KEYS[1], state, 'PX', text(stay)).err then
                  redis.call('DEL', KEYS[2])
                end
                redis.pcall('PUBLISH', channels .. session, message(id, fence))
                """;
        assertThat(LiteralKeys.refused(script)).isEmpty();
    }
}
