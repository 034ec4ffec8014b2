package org.example.docs;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.yaml.snakeyaml.Yaml;

/**
 * What a workflow must not do: run code that its author can exchange afterwards, hold a permission that none of its
 * steps needs, or put a stranger's text into a script.
 */
final class WorkflowRules {

    private static final Pattern USES = Pattern.compile("(?m)^[\\s-]*uses:\\s*([^\\s#]+)[ \\t]*(.*)$");
    private static final Pattern PINNED = Pattern.compile("[\\w.-]+(?:/[\\w.-]+)+@[0-9a-f]{40}");
    private static final Pattern VERSION = Pattern.compile("# v\\d+(\\.\\d+)*");
    private static final Pattern EXPRESSION = Pattern.compile("\\$\\{\\{\\s*([^}]*?)\\s*}}");

    /** What each action needs, as its own documentation says. An action without an entry needs no permission. */
    private static final Map<String, Map<String, String>> NEEDS = Map.of(
            "actions/checkout", Map.of("contents", "read"),
            "actions/dependency-review-action", Map.of("contents", "read"),
            "actions/attest", Map.of("id-token", "write", "attestations", "write"),
            "actions/deploy-pages", Map.of("id-token", "write", "pages", "write"),
            "github/codeql-action/analyze", Map.of("security-events", "write"),
            "github/codeql-action/upload-sarif", Map.of("security-events", "write"),
            "ossf/scorecard-action", Map.of("id-token", "write"));

    private WorkflowRules() {}

    static List<String> problems(String text) {
        List<String> problems = new ArrayList<>();
        pins(text, problems);
        Map<?, ?> workflow = (Map<?, ?>) new Yaml().load(text);
        // YAML 1.1 reads the key "on" as true.
        String triggers = String.valueOf(workflow.containsKey("on") ? workflow.get("on") : workflow.get(true));
        for (String trigger : Set.of("pull_request_target", "workflow_run")) {
            if (triggers.contains(trigger)) {
                problems.add(trigger + " gives the permissions of this repository to the code of a stranger");
            }
        }
        if (!workflow.containsKey("permissions")) {
            problems.add(
                    "no permissions: those of the repository's settings hold; write permissions: {contents: read}");
        }
        ((Map<?, ?>) workflow.get("jobs")).forEach((name, job) -> {
            List<?> steps = (List<?>) ((Map<?, ?>) job).get("steps");
            Object granted = ((Map<?, ?>) job).get("permissions");
            permissions(name + ": ", granted == null ? workflow.get("permissions") : granted, steps, problems);
            steps.forEach(step -> step(name + ": ", (Map<?, ?>) step, problems));
        });
        return problems;
    }

    private static void pins(String text, List<String> problems) {
        Matcher uses = USES.matcher(text);
        while (uses.find()) {
            if (!PINNED.matcher(uses.group(1)).matches()) {
                problems.add(uses.group(1) + " can be exchanged by its authors; name a commit by its 40 digits");
            } else if (!VERSION.matcher(uses.group(2).strip()).matches()) {
                problems.add(uses.group(1) + " does not say its version; write it behind the commit: # v1.2.3");
            }
        }
    }

    private static void permissions(String where, Object granted, List<?> steps, List<String> problems) {
        Map<String, String> needed = new TreeMap<>();
        for (Object step : steps) {
            needed.putAll(NEEDS.getOrDefault(action((Map<?, ?>) step), Map.of()));
        }
        if (!(granted instanceof Map<?, ?> levels)) {
            problems.add(where + "permissions are not named one by one: " + granted);
            return;
        }
        Set<String> names = new TreeSet<>(needed.keySet());
        levels.keySet().forEach(name -> names.add((String) name));
        for (String name : names) {
            Object level = levels.get(name);
            if (!needed.containsKey(name)) {
                problems.add(where + name + ": " + level + " is needed by none of its steps");
            } else if (!needed.get(name).equals(level)) {
                problems.add(where + name + ": " + level + ", but its steps need " + needed.get(name));
            }
        }
    }

    private static void step(String where, Map<?, ?> step, List<String> problems) {
        if (action(step).equals("actions/checkout")
                && !(step.get("with") instanceof Map<?, ?> with
                        && Boolean.FALSE.equals(with.get("persist-credentials")))) {
            problems.add(
                    where + "every later step can read the token of the checkout; write persist-credentials: false");
        }
        Matcher expression = EXPRESSION.matcher(String.valueOf(step.get("run")));
        while (expression.find()) {
            if (!expression.group(1).startsWith("matrix.")) {
                problems.add(where + expression.group() + " becomes a part of the script; pass it by env");
            }
        }
    }

    /** Without its commit, or the empty text. */
    private static String action(Map<?, ?> step) {
        return step.get("uses") instanceof String uses ? uses.replaceFirst("@.*", "") : "";
    }
}
