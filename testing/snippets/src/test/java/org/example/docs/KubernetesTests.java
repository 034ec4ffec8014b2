package org.example.docs;

import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.springframework.boot.convert.DurationStyle;
import org.yaml.snakeyaml.Yaml;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What docs/recipes.md shows of Kubernetes: the deployment leaves the application the time that its properties ask for.
 */
@SuppressWarnings("unchecked") // maps of maps
class KubernetesTests {

    private static Map<String, Object> read(String file) throws Exception {
        return new Yaml()
                .load(Files.readString(Page.ROOT
                        .resolve("testing/snippets/src/test/resources/snippets")
                        .resolve(file)));
    }

    private static <T> T in(Map<String, Object> yaml, String... path) {
        Object found = yaml;
        for (String step : path) {
            found = ((Map<String, Object>) found).get(step);
        }
        return (T) found;
    }

    private static long seconds(Map<String, Object> yaml, String... path) {
        Duration time = DurationStyle.detectAndParse(in(yaml, path));
        return time.toSeconds();
    }

    @Test
    void theProcessIsKilledLaterThanItsShutdownTakes() throws Exception {
        Map<String, Object> application = read("kubernetes.yml");
        Integer grace = in(read("deployment.yaml"), "spec", "template", "spec", "terminationGracePeriodSeconds");
        assertThat(grace.longValue())
                .isGreaterThan(seconds(application, "spring", "lifecycle", "timeout-per-shutdown-phase")
                        + seconds(application, "lock", "shutdown-grace-period"));
    }

    @Test
    void theProbesAskForWhatHasNoLocksInIt() throws Exception {
        List<Map<String, Object>> containers = in(read("deployment.yaml"), "spec", "template", "spec", "containers");
        Map<String, Object> container = containers.get(0);
        assertThat(pathOf(container, "startupProbe")).isEqualTo("/actuator/health/liveness");
        assertThat(pathOf(container, "livenessProbe")).isEqualTo("/actuator/health/liveness");
        assertThat(pathOf(container, "readinessProbe")).isEqualTo("/actuator/health/readiness");
    }

    private static String pathOf(Map<String, Object> container, String probe) {
        return in(container, probe, "httpGet", "path");
    }
}
