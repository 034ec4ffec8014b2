package io.github.lockboot.spec;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import io.github.lockboot.fixture.StoredLock;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.core.script.DigestUtils;

/**
 * What MONITOR showed of one key, as lines of RedisTrace.tla: each run of a script with what it stored and published. A
 * key that was removed by another command begins a new trace.
 */
final class RedisTrace {

    /** Redis may take the time of a script that much before MONITOR shows it, but after what it showed before. */
    private static final long SLACK_MICROS = 5_000;

    /** As many fences may be ahead of the clock. */
    private static final long TOKENS_PER_PERMIT = 64;

    private static final Pattern KEY = Pattern.compile("lock:[a-z-]+-\\d+");
    private static final Pattern LINE = Pattern.compile("\\+(\\d+)\\.(\\d{6}) \\[\\d+ ([^]]*)] (.*)");
    private static final Pattern WORD = Pattern.compile("\"((?:[^\"\\\\]++|\\\\.)*+)\"");
    private static final Pattern ESCAPE = Pattern.compile("\\\\(x[0-9a-f]{2}|.)");
    private static final Set<String> REMOVING = Set.of("FLUSHALL", "FLUSHDB", "DEL", "UNLINK");

    /**
     * A command, and those that it ran if it was a script.
     *
     * @param begin its clock is not before
     */
    private record Shown(long begin, long micros, List<String> words, List<Shown> calls) {

        String name() {
            return words.get(0).toUpperCase();
        }

        long end() {
            return calls.get(calls.size() - 1).micros;
        }
    }

    private final List<Map<String, Object>> lines = new ArrayList<>();
    private final Map<String, List<Object>> ids = new HashMap<>();
    private final List<Object> ttls = new ArrayList<>();
    private final long base;
    private StoredLock stored = StoredLock.of(null);
    private long earliestEnd;
    private long latestEnd;
    private int runs;

    private RedisTrace(long micros) {
        base = (micros / 1_000 - 1_000) * 1_000;
    }

    /** {@return the traces of all keys in this output of MONITOR} Before it are lines {@code script <name> <SHA-1>}. */
    static List<RedisTrace> of(List<String> monitored) {
        Map<String, String> scripts = new HashMap<>();
        List<Shown> all = new ArrayList<>();
        long previous = 0;
        for (String line : monitored) {
            Matcher matcher = LINE.matcher(line);
            if (line.startsWith("script ")) {
                scripts.put(line.split(" ")[2], line.split(" ")[1]);
            } else if (matcher.matches()) {
                long micros = Long.parseLong(matcher.group(1) + matcher.group(2));
                Shown shown = new Shown(
                        Math.max(previous, micros - SLACK_MICROS), micros, words(matcher.group(4)), new ArrayList<>());
                previous = micros;
                if (matcher.group(3).equals("lua")) {
                    all.get(all.size() - 1).calls.add(shown);
                } else {
                    all.add(shown);
                }
            } else {
                throw new IllegalArgumentException(line);
            }
        }
        List<RedisTrace> traces = new ArrayList<>();
        Map<String, RedisTrace> open = new HashMap<>();
        for (Shown each : all) {
            if (each.name().startsWith("EVAL")) {
                String script = each.words.get(1);
                String sha1 = each.name().equals("EVAL")
                        ? DigestUtils.sha1DigestAsHex(
                                new String(script.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8))
                        : script;
                String key = each.words.get(3);
                if (!each.calls.isEmpty() && KEY.matcher(key).matches()) {
                    open.computeIfAbsent(key, none -> {
                                RedisTrace trace = new RedisTrace(each.micros);
                                traces.add(trace);
                                return trace;
                            })
                            .ran(Objects.requireNonNull(scripts.get(sha1), sha1), each);
                }
            } else if (REMOVING.contains(each.name())) {
                open.keySet().removeIf(key -> each.name().startsWith("FLUSH") || each.words.contains(key));
            }
        }
        return traces;
    }

    private static List<String> words(String line) {
        return WORD.matcher(line)
                .results()
                .map(word -> ESCAPE.matcher(word.group(1)).replaceAll(RedisTrace::unescaped))
                .toList();
    }

    private static String unescaped(MatchResult escape) {
        String what = escape.group(1);
        String plain = switch (what.charAt(0)) {
            case 'x' -> String.valueOf((char) Integer.parseInt(what.substring(1), 16));
            case 'n' -> "\n";
            case 'r' -> "\r";
            case 't' -> "\t";
            default -> what;
        };
        return Matcher.quoteReplacement(plain);
    }

    Map<String, Object> value() {
        return Map.of("lines", lines, "ttls", ttls);
    }

    int runs() {
        return runs;
    }

    List<Map<String, Object>> lines() {
        return lines;
    }

    /** {@return what a line is about} */
    static String step(Map<String, Object> line) {
        if (!(line.get("command") instanceof Map<?, ?> command)) {
            return line.get("k") + (Boolean.TRUE.equals(line.get("surely")) ? " surely" : "");
        }
        return command.get("k")
                + (command.get("next") instanceof List<?> next && !next.isEmpty() ? " with next" : "")
                + (line.get("dropped").equals(Set.of()) ? "" : ", waiter dropped");
    }

    // --- one run ----------------------------------------------------------------------------------------------

    private void ran(String script, Shown run) {
        runs++;
        Map<String, Object> command = command(script, run.words.subList(4, run.words.size()));
        long patience = patience(run);
        @Nullable Shown write = write(run);
        boolean isNew = write != null && write.words.contains("NX");
        StoredLock before = stored;
        StoredLock after = write == null ? before : written(write);
        Set<Object> pushes = pushes(run);
        long micros = grantedAt(before, after, run);
        clock(micros > 0 ? micros - TOKENS_PER_PERMIT : run.begin, micros > 0 ? micros : run.end());
        boolean surelyGone = isNew || run.begin > latestEnd;
        boolean maybeGone = before.format() > 0 && (surelyGone || run.end() >= earliestEnd);
        if (maybeGone) {
            gone(surelyGone, run, patience);
            before = surelyGone ? StoredLock.of(null) : before;
            after = write == null ? before : after;
        }
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("k", "run");
        line.put("command", command);
        line.put("micros", number(micros > 0 ? micros : run.end()));
        Set<Object> dropped = new LinkedHashSet<>();
        long unseen = 1_000_000;
        for (StoredLock.Waiter waiter : before.queue()) {
            if (!has(after, waiter.id()) && !endedItself(waiter, run)) {
                dropped.add(id(waiter.id()));
                unseen = Math.min(unseen, ago(waiter, run));
            }
        }
        line.put("dropped", dropped);
        Set<Object> passed = passed(after);
        line.put("passed", passed);
        line.put("marked", without(passed, passed(before)));
        line.put("unseen", (int) unseen);
        line.put("patience", (int) patience);
        line.put("there", after.format() > 0);
        line.put("maybe", maybeGone && write == null);
        line.put("holders", holders(after));
        line.put(
                "queue",
                after.queue().stream()
                        .map(each -> (Object) Map.of("id", id(each.id()), "kind", each.kind()))
                        .toList());
        line.put("fence", number(after.fence()));
        line.put("token", number(after.token() == 0 ? after.fence() : after.token()));
        line.put("pushes", pushes);
        lines.add(line);
        stored = after;
        if (after.format() == 0) {
            lines.add(Map.of("k", "removed"));
        } else if (write != null) {
            long stay = Long.parseLong(write.words.get(write.words.size() - 1)) * 1_000;
            earliestEnd = run.begin + stay;
            latestEnd = write.micros + stay;
        }
    }

    /** What a script wrote last. SET with NX wrote nothing if the script went on. */
    private static @Nullable Shown write(Shown run) {
        Shown write = null;
        for (int i = 0; i < run.calls.size(); i++) {
            Shown call = run.calls.get(i);
            boolean sets = call.name().equals("SET") && (!call.words.contains("NX") || i == run.calls.size() - 1);
            write = sets || call.name().equals("DEL") ? call : write;
        }
        return write;
    }

    private static StoredLock written(Shown write) {
        if (write.name().equals("DEL")) {
            return StoredLock.of(null);
        }
        StoredLock lock = StoredLock.of(write.words.get(2));
        if (lock.format() == 0) {
            throw new IllegalArgumentException(write.words.get(2));
        }
        return lock;
    }

    private static boolean has(StoredLock lock, String id) {
        return lock.queue().stream().anyMatch(each -> each.id().equals(id))
                || lock.holders().stream().anyMatch(each -> each.id().equals(id));
    }

    /** The clock of a script that granted the lock: its first grant has it as its fence; 0 if that is not known. */
    private long grantedAt(StoredLock before, StoredLock after, Shown run) {
        Set<Long> known = new LinkedHashSet<>();
        before.holders().forEach(each -> known.add(fenceOf(before, each)));
        long seen = after.holders().stream()
                .mapToLong(each -> fenceOf(after, each))
                .filter(fence -> !known.contains(fence) && fence >= run.begin && fence <= run.end())
                .min()
                .orElse(0);
        long tokens = tokensTakenBack(before, after, run);
        if (seen == 0 && tokens > 0 && after.fence() > before.fence()) {
            return after.fence()
                    - tokens
                    + 1; // nobody else was granted it, so the last of these tokens stays as the fence
        }
        return seen == 0 ? 0 : seen - tokens;
    }

    /**
     * How many tokens the caller had, if the script granted it the lock as a waiter and took it back at once; else 0.
     */
    private long tokensTakenBack(StoredLock before, StoredLock after, Shown run) {
        for (StoredLock.Waiter waiter : before.queue()) {
            if (endedItself(waiter, run) && !has(after, waiter.id())) {
                return !admits(before, waiter.kind(), run) ? 0 : waiter.kind() > 0 ? TOKENS_PER_PERMIT : 1;
            }
            if (has(after, waiter.id()) && !passed(after).contains(id(waiter.id()))) {
                return 0;
            }
        }
        return 0;
    }

    /** Whether the holders whose leases are not over leave room for one of this kind. */
    private static boolean admits(StoredLock lock, int kind, Shown run) {
        List<StoredLock.Holder> holders = lock.holders().stream()
                .filter(each -> each.until() > run.end() / 1_000)
                .toList();
        int most = holders.stream().mapToInt(StoredLock.Holder::kind).reduce(kind, Math::min);
        return holders.stream().allMatch(each -> Integer.signum(each.kind()) == Integer.signum(kind))
                && (kind < 0 || holders.size() < Math.max(1, most));
    }

    /**
     * Whether the caller ended its wait, or the hold that it was granted at once, if the waiter is not there any more.
     */
    private static boolean endedItself(StoredLock.Waiter waiter, Shown run) {
        return waiter.id().equals(run.words.get(4)) && ago(waiter, run) < patience(run); // else it was dropped before
    }

    private static long ago(StoredLock.Waiter waiter, Shown run) {
        return run.end() / 1_000 - waiter.seen();
    }

    private static long patience(Shown run) {
        return Long.parseLong(run.words.get(5).split(" ")[1]);
    }

    private static long fenceOf(StoredLock lock, StoredLock.Holder holder) {
        return holder.fence() == 0 ? lock.fence() : holder.fence();
    }

    private void clock(long from, long to) {
        lines.add(Map.of("k", "clock", "from", millis(from / 1_000), "to", millis(to / 1_000)));
    }

    private void gone(boolean surely, Shown run, long patience) {
        long unseen = stored.queue().stream()
                .mapToLong(each -> run.end() / 1_000 - each.seen())
                .min()
                .orElse(1_000_000);
        lines.add(Map.of("k", "gone", "surely", surely, "unseen", (int) unseen, "patience", (int) patience));
    }

    private Set<Object> pushes(Shown run) {
        Set<Object> pushes = new LinkedHashSet<>();
        for (Shown call : run.calls) {
            String[] words = call.name().equals("PUBLISH") ? call.words.get(2).split(" ") : new String[0];
            if (words.length > 0 && !words[1].equals("0")) {
                pushes.add(Map.of(
                        "k",
                        "push",
                        "id",
                        id(words[0]),
                        "fence",
                        number(words[1]),
                        "lease",
                        Integer.parseInt(words[2]),
                        "others",
                        !words[3].equals("0"),
                        "token",
                        number(words[4])));
            }
        }
        return pushes;
    }

    private Set<Object> holders(StoredLock lock) {
        Set<Object> holders = new LinkedHashSet<>();
        for (StoredLock.Holder each : lock.holders()) {
            holders.add(Map.of(
                    "id",
                    id(each.id()),
                    "kind",
                    each.kind(),
                    "until",
                    millis(each.until()),
                    "fence",
                    number(fenceOf(lock, each))));
        }
        return holders;
    }

    /** @param words id, settings, and what the script says of its arguments */
    private Map<String, Object> command(String script, List<String> words) {
        Map<String, Object> command = new LinkedHashMap<>();
        command.put("k", script);
        command.put("id", id(words.get(0)));
        command.put("age", 0);
        switch (script) {
            case "acquire" -> {
                ttl(words.get(0), words.get(2));
                if (words.size() > 6) {
                    boolean downgrades = words.get(5).equals(words.get(0));
                    command.put("k", downgrades ? "downgrade" : "transfer");
                    command.put("from", id(words.get(5)));
                    command.put("tok", number(words.get(6)));
                    command.put("last", number(words.get(7)));
                } else {
                    command.put("kind", Integer.parseInt(words.get(3)));
                    command.put("queues", words.get(4).equals("1"));
                }
            }
            case "unlock" -> {
                boolean next = words.size() > 4;
                command.put("last", number(words.get(2)));
                command.put("next", next ? id(words.get(3)) : List.of());
                command.put("kind", next ? Integer.parseInt(words.get(5)) : 0);
                if (next) {
                    ttl(words.get(3), words.get(4));
                }
            }
            case "renew" -> {
                Set<Object> permits = new LinkedHashSet<>();
                for (int i = 2; i + 2 < words.size(); i += 3) {
                    String id = words.get(i > 2 ? i - 1 : 0);
                    permits.add(Map.of("id", id(id), "tok", number(words.get(i))));
                    ttl(id, words.get(i + 1));
                }
                command.put("k", permits.size() > 1 ? "renew-permits" : "renew");
                command.put(
                        permits.size() > 1 ? "permits" : "tok", permits.size() > 1 ? permits : number(words.get(2)));
            }
            default -> throw new IllegalArgumentException(script);
        }
        return command;
    }

    // --- numbers ----------------------------------------------------------------------------------------------

    private Set<Object> passed(StoredLock lock) {
        return lock.queue().stream()
                .filter(waiter -> waiter.passedOver() == StoredLock.PassedOver.SINCE_IT_ASKED)
                .map(waiter -> id(waiter.id()))
                .collect(Collectors.toSet());
    }

    private static Set<Object> without(Set<Object> all, Set<Object> some) {
        Set<Object> rest = new LinkedHashSet<>(all);
        rest.removeAll(some);
        return rest;
    }

    private List<Object> id(String name) {
        return ids.computeIfAbsent(name, none -> {
            ttls.add(0);
            return List.of(1, ttls.size());
        });
    }

    private void ttl(String name, String millis) {
        int place = (Integer) id(name).get(1) - 1;
        Object known = ttls.set(place, Integer.valueOf(millis));
        if (!known.equals(0) && !known.equals(ttls.get(place))) {
            throw new IllegalArgumentException("another ttl of " + name);
        }
    }

    private int number(String fence) {
        return number(Long.parseLong(fence));
    }

    private int number(long fence) {
        return fence == 0 ? 0 : Math.toIntExact(fence - base);
    }

    private int millis(long time) {
        return Math.toIntExact(time - base / 1_000);
    }
}
