package io.github.lockboot.sample.live;

import java.util.List;
import java.util.Map;

/**
 * All that the page shows at one moment.
 *
 * @param instance the one that tells it
 * @param scenarios by name
 * @param waits summaries of the waiting times of the last seconds, oldest first
 * @param events what happened lately, newest first
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
     * @param state as the scenario tells it
     */
    record ScenarioView(boolean running, Object state) {}
}
