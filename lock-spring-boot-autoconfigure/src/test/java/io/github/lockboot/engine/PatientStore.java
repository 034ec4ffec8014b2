package io.github.lockboot.engine;

import java.time.Duration;

import io.github.lockboot.redis.protocol.ScriptStore;

/** A store on a runner of a test: commands never expire by themselves. */
public final class PatientStore {

    private PatientStore() {}

    public static ScriptStore on(ScriptStore.Runner runner, Duration poll, Duration patience) {
        return new ScriptStore(runner, "lock:", poll, patience, 1_000, 1_000, new ManualTimer(), Duration.ofDays(1));
    }
}
