package io.github.lockboot.aop;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.aop.key.KeyVariables;

/** Finds parameters in the {@code name} of an annotation. They are not evaluated there, so that all calls would share one lock. */
record KeyInName(DistributedLock annotation, LockedMethod method, KeyVariables variables) {

    /** A template, or a variable with what is read of it. */
    private static final Pattern PART =
            Pattern.compile("#\\{((?:[^{}]|\\{[^{}]*})*)}|#([\\p{L}_]\\w*)(?:\\.\\w+(?:\\([^()]*\\))?|\\[[^]]*])*");

    private static final Pattern VARIABLE = Pattern.compile("#(?!this\\b|root\\b)[\\p{L}_]\\w*");

    /**
     * Adds a finding if the name has a parameter in it.
     *
     * @param name with placeholders resolved and, if it has no template, evaluated
     */
    boolean isIn(String name) {
        List<String> keys = new ArrayList<>();
        boolean known = true;
        StringBuilder rest = new StringBuilder();
        Matcher part = PART.matcher(name);
        while (part.find()) {
            String template = part.group(1);
            boolean reads = template == null
                    ? isVariable(name, part)
                    : VARIABLE.matcher(template).find();
            part.appendReplacement(rest, reads ? "" : Matcher.quoteReplacement(part.group()));
            if (reads) {
                keys.add(template == null ? part.group() : template.strip());
                known &= template != null || variables.has(part.group(2));
            }
        }
        part.appendTail(rest);
        if (!keys.isEmpty()) {
            String written = annotation.name();
            method.add(
                    "name = \"" + written + "\"" + (written.equals(name) ? "" : " (" + name + ")") + " has "
                            + String.join(" and ", keys)
                            + " in it, which is not evaluated there, so that all calls would share one lock",
                    action(withoutGaps(rest.toString()), keys, known));
        }
        return !keys.isEmpty();
    }

    /** A # within a word is text, unless a parameter has the name that follows it. */
    private boolean isVariable(String name, Matcher part) {
        boolean within = part.start() > 0 && Character.isLetterOrDigit(name.charAt(part.start() - 1));
        return !within || variables.has(part.group(2));
    }

    private static String withoutGaps(String name) {
        return name.replaceAll("([^\\p{L}\\p{N}])\\1+", "$1").replaceAll("^[^\\p{L}\\p{N}]+|[^\\p{L}\\p{N}]+$", "");
    }

    private String action(String name, List<String> keys, boolean known) {
        if (method.method().getParameterCount() == 0) {
            return "leave out the #, as the method has no parameters";
        }
        String shorter = name.isEmpty() ? "" : "name = \"" + name + "\", ";
        if (!known) {
            return "write " + shorter + "and in key " + variables.hint();
        }
        String key = Stream.concat(keys.stream(), Stream.of(annotation.key()))
                .map(each -> "\"" + each + "\"")
                .collect(Collectors.joining(", "));
        String line = shorter + "key = " + (key.contains(", ") ? "{" + key + "}" : key);
        return method.isJob(annotation)
                ? "write @DistributedLock with " + line + ": a @ScheduledLock is one lock"
                : "write " + line;
    }
}
