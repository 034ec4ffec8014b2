package io.github.lockboot.redis.protocol;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.github.lockboot.Actor;
import io.github.lockboot.NamedLock;
import io.github.lockboot.engine.StoreFailure;
import io.github.lockboot.engine.StoreFailure.NotConnectedException;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.redis.TestRegistries;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class RedisFailureTests {

    private static StoreFailure of(String message) {
        return RedisFailure.of(new RuntimeException(new RuntimeException(message)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"READONLY ", "OOM ", "NOREPLICAS ", "MISCONF ", "MASTERDOWN "})
    void aRefusalOfACommandInAScriptIsOne(String error) {
        assertThat(of(error + "text")).isEqualTo(StoreFailure.NOT_NOW);
        assertThat(of("-" + error + "text")).isEqualTo(StoreFailure.NOT_NOW);
        assertThat(of("@user_script: 37: -" + error + "text")).isEqualTo(StoreFailure.NOT_NOW);
        assertThat(of("ERR Error running script (call to f_0a): @user_script:54: @user_script: 54: -" + error + "text"))
                .isEqualTo(StoreFailure.NOT_NOW);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ERR Error running script (call to f_0a): @user_script:54: Script attempted -OOM command",
                "ERR Error running script (call to f_0a): @user_script:54: @user_script: 54: WRONGTYPE -OOM key",
                "@user_script: 37: -OOMS text",
                "@user_script: 37: OOM text",
                "ERR -OOM text"
            })
    void anErrorThatNamesARefusalElsewhereIsNone(String error) {
        assertThat(of(error)).isEqualTo(StoreFailure.UNKNOWN);
    }

    @Test
    void aServerThatCannotServeStaleDataIsAReplica() {
        assertThat(RedisFailure.isOfReplica(new RuntimeException("MASTERDOWN Link with MASTER is down")))
                .isTrue();
    }

    @Test
    void aCommandThatFoundNoConnectionIsKnownNotToHaveRun() {
        Throwable none = new NotConnectedException("none", null);
        assertThat(RedisFailure.of(new RuntimeException("failed", none))).isEqualTo(StoreFailure.NOT_SENT);
        assertThat(RedisFailure.of(null)).isEqualTo(StoreFailure.UNKNOWN);
    }

    @ParameterizedTest
    @ValueSource(strings = {"MOVED 3999 127.0.0.1:6381", "ASK 3999 127.0.0.1:6381"})
    void aNodeThatRefersToAnotherIsFoundBelowOtherFailures(String error) {
        assertThat(RedisFailure.isOfRedirection(new RuntimeException(error))).isTrue();
        assertThat(RedisFailure.isOfRedirection(new RuntimeException(null, new RuntimeException(error))))
                .isTrue();
        assertThat(RedisFailure.isOfRedirection(new RuntimeException("ERR " + error)))
                .isFalse();
    }

    @Test
    void aProxyThatCannotReadAScriptIsFoundBelowOtherFailures() {
        Throwable refusal = new RuntimeException("ERR bad lua script for redis cluster");
        assertThat(RedisFailure.isOfScriptText(new RuntimeException(null, refusal)))
                .isTrue();
        assertThat(RedisFailure.isOfScriptText(new RuntimeException("bad lua scripts")))
                .isFalse();
    }

    @Test
    void anOutdatedServerIsTakenForWhatItIs() {
        assertThat(RedisFailure.isOfReplica(new RuntimeException("@user_script: 3: -READONLY text")))
                .isTrue();
        assertThat(RedisFailure.isOfReplica(new RuntimeException("Master is currently unknown: []")))
                .isTrue();
        assertThat(RedisFailure.isOfNoMaster(new RuntimeException("CLUSTERDOWN Hash slot not served")))
                .isTrue();
        RuntimeException other = new RuntimeException("WRONGTYPE text");
        assertThat(RedisFailure.isOfReplica(other)).isFalse();
        assertThat(RedisFailure.isOfNoMaster(other)).isFalse();
    }

    @ParameterizedTest
    @EnumSource
    @Tag("not-for-mutants")
    void aWaitGoesOnWhileRedisRefusesWritesInScripts(RedisProgram program) throws Exception {
        try (RedisServer server = program.start();
                TestRegistries registries = TestRegistries.on(server);
                Actor actor = new Actor()) {
            NamedLock lock = registries.connected().get("a");
            String[][] refused = {{"REPLICAOF", "127.0.0.1", "1"}, {"CONFIG", "SET", "min-replicas-to-write", "1"}};
            String[][] accepted = {{"REPLICAOF", "NO", "ONE"}, {"CONFIG", "SET", "min-replicas-to-write", "0"}};
            for (int i = 0; i < refused.length; i++) {
                server.command(refused[i]);
                CompletableFuture<Boolean> waiting = actor.start(() -> lock.tryLock(20, TimeUnit.SECONDS));
                Actor.pass(Duration.ofMillis(300));
                assertThat(waiting).isNotDone();
                server.command(accepted[i]);
                assertThat(Actor.get(waiting)).isTrue();
                actor.run(lock::unlock);
            }
        }
    }
}
