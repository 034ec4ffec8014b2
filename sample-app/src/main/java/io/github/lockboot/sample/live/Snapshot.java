package io.github.lockboot.sample.live;

import java.util.List;
import java.util.Map;

/**
 * All that the page shows at one moment.
 *
 * @param instance the one that took it
 * @param scenarios by name
 * @param waits summaries of the waiting times of the last seconds, oldest first
 * @param events the latest events, newest first
 */
record Snapshot(
        String instance,
        List<Instances.Instance> instances,
        List<LockView> locks,
        Map<String, ScenarioView> scenarios,
        List<Map<String, String>> waits,
        List<Map<String, String>> events) {

    /**
     * @param running whether it is under load
     * @param state {@link Scenario#state()}
     */
    record ScenarioView(boolean running, Object state) {}
}
