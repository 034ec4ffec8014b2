package org.example.docs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * What pages may show: whole files of {@code snippets/}, and in files that are run what stands between
 * {@code tag::name} and {@code end::name}, in one part or several. A region is named {@code File.java#name}, with the
 * file's extension left out for Java.
 */
final class Regions {

    private static final Pattern TAG = Pattern.compile("\\s*(?://|#|--|<!--)\\s*(tag|end)::([\\w-]+)\\s*(?:-->)?");

    /** The version of the project, as Maven puts it in. */
    private static final Pattern VERSION = Pattern.compile("<revision>([^<]+)</revision>");

    private final Map<String, List<String>> regions = new LinkedHashMap<>();

    private Regions() {}

    static Regions read() {
        Regions regions = new Regions();
        Path here = Page.ROOT.resolve("testing/snippets");
        regions.add(here.resolve("pom.xml"));
        // What is said of other libraries runs beside them: testing/matrix/run.
        for (Path tests : List.of(here.resolve("src/test"), Page.ROOT.resolve("testing/matrix/peers/src/test"))) {
            try (Stream<Path> files = Files.walk(tests)) {
                files.filter(Files::isRegularFile).sorted().forEach(regions::add);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return regions;
    }

    Optional<List<String>> find(String name) {
        return Optional.ofNullable(regions.get(name));
    }

    private void add(Path file) {
        List<String> lines = Page.read(file).lines();
        String name = file.getFileName().toString().replaceFirst("\\.java$", "");
        if (file.getParent().getFileName().toString().equals("snippets")) {
            put(
                    name,
                    lines.stream().filter(line -> !TAG.matcher(line).matches()).toList());
        }
        Map<String, List<String>> parts = new LinkedHashMap<>();
        Map<String, List<String>> open = new LinkedHashMap<>();
        for (String line : lines) {
            Matcher tag = TAG.matcher(line);
            if (!tag.matches()) {
                open.values().forEach(region -> region.add(line));
            } else if (tag.group(1).equals("tag")) {
                open.put(tag.group(2), parts.computeIfAbsent(tag.group(2), first -> new ArrayList<>()));
            } else {
                if (open.remove(tag.group(2)) == null) {
                    throw new IllegalStateException(file + ": end::" + tag.group(2) + " without tag::" + tag.group(2));
                }
            }
        }
        parts.forEach((region, text) -> put(name + "#" + region, text));
        if (!open.isEmpty()) {
            throw new IllegalStateException(file + ": no end::" + open.keySet());
        }
    }

    private void put(String name, List<String> text) {
        List<String> shown = leftmost(text).stream()
                .map(line -> line.replace("${project.version}", version()))
                .toList();
        if (regions.put(name, shown) != null) {
            throw new IllegalStateException("two regions are called " + name);
        }
    }

    private static String version() {
        Matcher version = VERSION.matcher(
                String.join("\n", Page.read(Page.ROOT.resolve("pom.xml")).lines()));
        if (!version.find()) {
            throw new IllegalStateException("no version in pom.xml");
        }
        return version.group(1);
    }

    /** Without the indentation that all lines have, and without empty lines around. */
    static List<String> leftmost(List<String> lines) {
        int indent = lines.stream()
                .filter(line -> !line.isBlank())
                .mapToInt(line -> line.length() - line.stripLeading().length())
                .min()
                .orElse(0);
        List<String> text = new ArrayList<>(lines.stream()
                .map(line -> line.isBlank() ? "" : line.substring(indent).stripTrailing())
                .toList());
        while (!text.isEmpty() && text.get(0).isEmpty()) {
            text.remove(0);
        }
        while (!text.isEmpty() && text.get(text.size() - 1).isEmpty()) {
            text.remove(text.size() - 1);
        }
        return text;
    }
}
