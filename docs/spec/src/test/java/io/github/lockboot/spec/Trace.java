package io.github.lockboot.spec;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

import io.github.lockboot.fixture.StoredLock;

/**
 * What was seen of one lock, as lines of Trace.tla. Ids are numbered: a client of the model is what one JVM wants under
 * one id at a time, so an id gets the first client of its JVM that is at rest, and the id that an unlock queues gets
 * the client of that unlock. Fences count from the begin of the trace. Time passes in whole milliseconds, by lines of
 * their own.
 */
final class Trace {

    private static final long MILLI = 1_000_000;
    private static final long PATIENCE = 6_000;

    /** A client of the model. */
    private static final class Client {

        final int number;
        final int session;
        final List<Object> ttls = new ArrayList<>();
        boolean atRest = true;
        boolean crashed;

        Client(int number, int session) {
            this.number = number;
            this.session = session;
        }
    }

    private static final class Id {

        final Client client;
        final int number;
        final int kind;
        int lastLine;
        boolean placed;
        List<String> early = List.of();
        long last;
        int readers;
        boolean owned;
        boolean tookOver;
        boolean downgraded;
        /** When a hold was given up for it. It counts as sent then, although Redis may be asked later. */
        long givenAt;

        Map<String, Object> grant = Map.of();

        Id(Client client, int number, int kind) {
            this.client = client;
            this.number = number;
            this.kind = kind;
        }

        List<Object> value() {
            return List.of(client.number, number);
        }
    }

    private record Command(
            String script, Id id, List<String> words, int session, long sentAt, Map<String, Object> fixed) {

        /** Whether it ends an id under which no token was used, perhaps in the queue. */
        boolean leaves() {
            return script.equals("unlock") && words.get(3).equals("0");
        }
    }

    private record Run(Command command, List<String> reply, String id) {}

    private final List<Map<String, Object>> lines = new ArrayList<>();
    private final List<Client> clients = new ArrayList<>();
    private final Map<String, Id> ids = new HashMap<>();
    private final Map<String, Command> commands = new HashMap<>();

    /** How many permits a command renews, which the model renews one after the other. */
    private final Map<String, Integer> permits = new HashMap<>();

    private final Map<String, Integer> permitsOfRun = new HashMap<>();
    private final Map<String, Run> runs = new HashMap<>();
    private final Map<String, Integer> lastUses = new HashMap<>();
    private final Set<Integer> acknowledging = new LinkedHashSet<>();
    private final Set<Integer> listening = new LinkedHashSet<>();

    /** Ids whose hold is lost later. */
    private final Set<String> lost = new LinkedHashSet<>();

    private final int raw;
    private long base;
    private long micros;
    private long[] nanos = {};
    private long tickedMicros;
    private long[] ticked = {};
    private StoredLock stored = StoredLock.of(null);

    private Trace(List<String> seen) {
        raw = seen.size();
        noteLastUses(seen);
        for (int i = 0; i < seen.size(); i++) {
            take(seen.get(i));
            endIdsAt(i);
        }
    }

    /** {@return the traces as values of the model, with as many clients for each as that needs which needs most} */
    static List<Object> of(List<List<String>> seen) {
        List<Trace> traces = seen.stream().map(Trace::new).toList();
        int clients =
                traces.stream().mapToInt(each -> each.clients.size()).max().orElse(0);
        return traces.stream().map(each -> each.value(clients)).toList();
    }

    private Object value(int count) {
        for (Map<String, Object> line : lines) {
            if (line.get("by") instanceof List<?> by) {
                List<Object> all = new ArrayList<>(by);
                while (all.size() < count) {
                    all.add(line.get("n"));
                }
                line.put("by", all);
            }
        }
        List<List<Object>> ttls = clients.stream().map(each -> each.ttls).toList();
        return Map.of("lines", lines, "ttls", ttls, "clients", count);
    }

    // --- reading ----------------------------------------------------------------------------------------------

    private void noteLastUses(List<String> seen) {
        Map<String, List<String>> ofCommand = new HashMap<>();
        Map<String, String> commandOfRun = new HashMap<>();
        for (int i = 0; i < seen.size(); i++) {
            String[] words = seen.get(i).split(" ");
            List<String> used = List.of();
            switch (words[3]) {
                case "sent" -> {
                    used = new ArrayList<>(List.of(words[6]));
                    if (words.length > 8 && words[5].equals("unlock")) {
                        used.add(words[8]);
                    }
                    if (words[5].equals("acquire") && words.length > 10) {
                        used.add(words[10]);
                    }
                    for (int permit = 9; words[5].equals("renew") && permit < words.length; permit += 3) {
                        used.add(words[permit]);
                    }
                    ofCommand.put(words[4], used);
                }
                case "ran" -> {
                    used = ofCommand.get(words[4]);
                    commandOfRun.put(words[5], words[4]);
                }
                case "answered" -> used = ofCommand.get(commandOfRun.get(words[4]));
                case "ends", "gone", "told", "usable" -> used = List.of(words[4]);
                case "gives" -> used = List.of(words[4], words[5]);
                case "owns" -> {
                    used = List.of(words[4].equals("no") ? words[6] : words[4]);
                    if (words[words.length - 1].equals("lost")) {
                        lost.add(words[6]);
                    }
                }
                default -> {}
            }
            for (String id : used) {
                lastUses.put(id, i);
            }
        }
    }

    private void take(String line) {
        String[] words = line.split(" ", 5);
        micros = Long.parseLong(words[0]);
        String[] clocks = words[1].split(",");
        nanos = new long[clocks.length];
        for (int i = 0; i < clocks.length; i++) {
            nanos[i] = Long.parseLong(clocks[i]);
        }
        if (base == 0) {
            base = micros - 1_000;
            tickedMicros = micros;
            ticked = nanos.clone();
        }
        int session = Integer.parseInt(words[2]);
        String rest = words.length > 4 ? words[4] : "";
        switch (words[3]) {
            case "acknowledges" -> acknowledging.add(session);
            case "listens" -> listens(session, Boolean.parseBoolean(rest));
            case "sent" -> sent(session, List.of(rest.split(" ")));
            case "ran" -> ran(rest);
            case "answered" -> {
                for (int permit = 0; permit < permitsOfRun.getOrDefault(rest, 0); permit++) {
                    answered(runs.get(rest + "." + permit));
                }
                if (!permitsOfRun.containsKey(rest)) {
                    answered(runs.get(rest));
                }
            }
            case "told" -> told(session, List.of(rest.split(" ")));
            case "ends" -> add("end", "id", ids.get(rest).value());
            case "gives" -> gives(rest.split(" "));
            case "owns" -> owns(session, List.of(rest.split(" ")));
            case "gone" -> {
                add("gone", "id", ids.get(rest).value());
                rest(ids.get(rest));
            }
            case "usable" -> add("usable", "id", ids.get(rest).value());
            case "crashed" -> crashed(session);
            case "deleted" -> forget(1_000_000, true);
            default -> throw new IllegalArgumentException(line);
        }
    }

    // --- writing ----------------------------------------------------------------------------------------------

    private Map<String, Object> add(String kind, Object... fields) {
        tick();
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("k", kind);
        for (int i = 0; i < fields.length; i += 2) {
            line.put((String) fields[i], fields[i + 1]);
        }
        lines.add(line);
        return line;
    }

    private void tick() {
        long passed = micros / 1_000 - tickedMicros / 1_000;
        boolean any = passed > 0;
        List<Object> by = new ArrayList<>();
        for (Client client : clients) {
            long more = millis(nanos[client.session]) - millis(ticked[client.session]);
            any |= more > 0;
            by.add((int) more);
        }
        if (any) {
            Map<String, Object> line = new LinkedHashMap<>();
            line.put("k", "tick");
            line.put("n", (int) passed);
            line.put("by", by);
            lines.add(line);
        }
        tickedMicros = micros;
        ticked = nanos.clone();
    }

    private static long millis(long nanos) {
        return Math.floorDiv(nanos, MILLI);
    }

    private int fence(String fence) {
        return fence(Long.parseLong(fence));
    }

    private int fence(long fence) {
        return fence == 0 ? 0 : Math.toIntExact(fence - base);
    }

    private int age(Command command) {
        return age(command.session, command.sentAt);
    }

    private int age(int session, long sentAt) {
        return (int) Math.min(30_000, millis(nanos[session]) - millis(sentAt));
    }

    // --- what clients send ------------------------------------------------------------------------------------

    private Id begun(int session, String name, int ttl, int kind) {
        Client client = clients.stream()
                .filter(each -> each.session == session && each.atRest && !each.crashed)
                .findFirst()
                .orElseGet(() -> {
                    Client more = new Client(clients.size() + 1, session);
                    clients.add(more);
                    return more;
                });
        return begun(client, name, ttl, kind);
    }

    private Id begun(Client client, String name, int ttl, int kind) {
        client.atRest = false;
        client.ttls.add(ttl);
        Id id = new Id(client, client.ttls.size(), kind);
        ids.put(name, id);
        return id;
    }

    private void sent(int session, List<String> words) {
        String script = words.get(1);
        if (script.equals("acquire") && words.size() > 6) {
            sent(session, taking(words));
            return;
        }
        int count = script.equals("renew") ? (words.size() - 2) / 3 : 1;
        if (count > 1) {
            permits.put(words.get(0), count);
            for (int i = 0; i < count; i++) {
                List<String> one = new ArrayList<>(List.of(words.get(0) + "." + i, "renew"));
                one.addAll(words.subList(2 + 3 * i, 5 + 3 * i));
                sent(session, one);
            }
            return;
        }
        String name = words.get(2);
        Id id = ids.get(name);
        Map<String, Object> fixed = new LinkedHashMap<>();
        if (script.equals("acquire")) {
            int kind = Integer.parseInt(words.get(4));
            boolean queues = words.get(5).equals("1");
            if (id == null) {
                id = begun(session, name, Integer.parseInt(words.get(3)), kind);
                add("begin", "c", id.client.number, "kind", kind, "queues", queues);
            } else {
                add("poll", "id", id.value());
            }
            fixed.put("kind", kind);
            fixed.put("queues", queues);
        } else if (script.equals("transfer")) {
            id = transferred(session, words);
            fixed.put("from", ids.get(words.get(3)).value());
            fixed.put("tok", fence(words.get(4)));
        } else if (id == null) {
            throw new IllegalArgumentException(script + " of an id that never asked: " + name);
        } else if (script.equals("unlock")) {
            if (lost.contains(name)) {
                lost(id, name); // before Redis is told
            }
            long last = Long.parseLong(words.get(3));
            passOn(id, last);
            fixed.put("last", fence(last));
            if (words.size() > 4) {
                int kind = Integer.parseInt(words.get(6));
                parts(id);
                Id next = begun(id.client, words.get(4), Integer.parseInt(words.get(5)), kind);
                fixed.put("next", next.value());
                add("next", "id", id.value(), "last", fence(last), "kind", kind);
                id.owned = false;
            } else {
                parts(id);
                fixed.put("next", List.of());
                add("unlock", "id", id.value(), "last", fence(last));
                rest(id);
            }
        } else if (script.equals("renew")) {
            fixed.put("tok", fence(words.get(3)));
            add("renew", "id", id.value(), "tok", fence(words.get(3)));
        } else if (script.equals("downgrade")) {
            long last = Long.parseLong(words.get(4));
            passOn(id, last);
            fixed.put("tok", fence(words.get(3)));
            fixed.put("last", fence(last));
            id.downgraded = false; // Redis is told, perhaps once more
            downgraded(id, fence(words.get(3)), fence(last));
        } else {
            throw new IllegalArgumentException(String.join(" ", words));
        }
        long sentAt = id.givenAt == 0 ? nanos[session] : id.givenAt;
        commands.put(words.get(0), new Command(script, id, words, session, sentAt, fixed));
    }

    /** What an acquisition that names a hold is called here, with the arguments that count. */
    private static List<String> taking(List<String> words) {
        String id = words.get(2);
        String from = words.get(6);
        String number = words.get(7);
        return from.equals(id)
                ? List.of(words.get(0), "downgrade", id, number, words.get(8))
                : List.of(words.get(0), "transfer", id, from, number, words.get(3));
    }

    /** A hold is handed over to an id of nobody, or taken over from one. {@return the id that is to have it} */
    private Id transferred(int session, List<String> words) {
        String name = words.get(2);
        Id from = ids.get(words.get(3));
        int number = fence(words.get(4));
        Id to = ids.get(name);
        if (from.number > 0) {
            to = given(from, name, number);
        } else if (to == null) {
            to = begun(session, name, Integer.parseInt(words.get(5)), from.kind);
            to.tookOver = true;
            add("take over", "c", to.client.number, "kind", from.kind, "from", from.value(), "tok", number);
        } else {
            add("poll", "id", to.value());
        }
        return to;
    }

    /** The hold is given up, for the id of this name. */
    private Id given(Id from, String name, int number) {
        return ids.computeIfAbsent(name, absent -> {
            Id to = new Id(from.client, -from.number, from.kind);
            to.givenAt = nanos[from.client.session];
            add("hand over", "id", from.value(), "tok", number);
            rest(from);
            return to;
        });
    }

    /** From now on it reads, although Redis may be told later. */
    private void downgraded(Id id, int number, int last) {
        if (!id.downgraded) {
            id.downgraded = true;
            add("downgrade", "id", id.value(), "tok", number, "last", last);
        }
    }

    private void gives(String[] words) {
        given(ids.get(words[0]), words[1], fence(words[2]));
    }

    private static void rest(Id id) {
        id.owned = false;
        if (id.number == id.client.ttls.size()) {
            id.client.atRest = true;
        }
    }

    /** The hold has gone from thread to thread since it was heard of last. */
    private void passOn(Id id, long last) {
        if (id.kind >= 0 && id.owned && !id.tookOver) {
            for (; id.last < last; id.last++) {
                add("pass on", "c", id.client.number);
            }
        }
    }

    private void parts(Id id) {
        for (; id.owned && id.readers > 0; id.readers--) {
            add("part", "c", id.client.number);
        }
    }

    // --- what Redis does --------------------------------------------------------------------------------------

    private void ran(String rest) {
        int bar = rest.indexOf(" | ");
        String[] head = rest.substring(0, bar).split(" ", 3);
        String before = rest.substring(bar + 3, rest.indexOf(" | ", bar + 1));
        String text = rest.substring(rest.indexOf(" | ", bar + 1) + 3);
        Integer renewed = permits.get(head[0]);
        if (renewed == null) {
            ran(commands.get(head[0]), head[1], List.of(head[2].split(" ")), before, StoredLock.of(text));
            return;
        }
        permitsOfRun.put(head[1], renewed);
        String[] replies = head[2].split(",");
        StoredLock all = StoredLock.of(text);
        List<String> later = new ArrayList<>();
        for (int i = 0; i < renewed; i++) {
            later.add(commands.get(head[0] + "." + i).words.get(2));
        }
        StoredLock first = stored;
        for (int i = 0; i < renewed; i++) {
            later.remove(0);
            List<String> reply = List.of(replies[i].split(" "));
            ran(commands.get(head[0] + "." + i), head[1] + "." + i, reply, before, renewedBut(later, first, all));
        }
    }

    /** The lock after that script, but for the permits that it renews later. */
    private static StoredLock renewedBut(List<String> later, StoredLock before, StoredLock after) {
        List<StoredLock.Holder> holders = after.holders().stream()
                .map(each -> before.holders().stream()
                        .filter(old -> old.id().equals(each.id()) && later.contains(each.id()))
                        .findFirst()
                        .orElse(each))
                .toList();
        return new StoredLock(
                after.format(), after.fence(), holders, after.token(), after.swept(), after.grace(), after.queue());
    }

    private void ran(Command command, String number, List<String> reply, String before, StoredLock after) {
        String replyTo = command.words.size() > 4 && command.script.equals("unlock")
                ? command.words.get(4)
                : command.words.get(2);
        Run run = new Run(command, reply, replyTo);
        runs.put(number, run);
        long now = micros / 1_000;
        if (before.isEmpty() && stored.format() > 0) {
            forget(now);
        }
        Set<Object> dropped = new LinkedHashSet<>();
        long unseen = Long.MAX_VALUE;
        for (StoredLock.Waiter waiter : stored.queue()) {
            boolean stays = after.queue().stream().anyMatch(each -> each.id().equals(waiter.id()))
                    || after.holders().stream().anyMatch(each -> each.id().equals(waiter.id()));
            boolean itself = command.words.get(2).equals(waiter.id())
                    && (command.leaves() || now - waiter.seen() < PATIENCE); // granted and released at once
            if (!stays && !itself) {
                dropped.add(ids.get(waiter.id()).value());
                unseen = Math.min(unseen, now - waiter.seen());
            }
        }
        Set<Object> passed = after.queue().stream()
                .filter(waiter -> waiter.passedOver() == StoredLock.PassedOver.SINCE_IT_ASKED)
                .map(waiter -> ids.get(waiter.id()))
                .filter(waiter -> listening.contains(command.session) && !listening.contains(waiter.client.session))
                .map(Id::value)
                .collect(Collectors.toSet());
        Map<String, Object> sent = new LinkedHashMap<>(command.fixed);
        sent.put("k", command.script);
        sent.put("id", command.id.value());
        sent.put("age", age(command));
        Map<String, Object> answer = reply(run);
        add(
                "run",
                "command",
                sent,
                "micros",
                fence(micros),
                "dropped",
                dropped,
                "passed",
                passed,
                "unseen",
                (int) Math.min(unseen, 1_000_000),
                "reply",
                answer == null ? Map.of("k", "none") : answer,
                "there",
                after.format() > 0,
                "holders",
                holders(after, now),
                "queue",
                after.queue().stream()
                        .map(each -> (Object) Map.of("id", ids.get(each.id()).value(), "kind", each.kind()))
                        .toList(),
                "fence",
                fence(after.fence()),
                "token",
                fence(after.token() == 0 ? after.fence() : after.token()));
        stored = after;
        if (after.format() == 0) {
            forget(now);
        }
    }

    private void listens(int session, boolean listens) {
        if (listens) {
            listening.add(session);
        } else {
            listening.remove(session);
        }
    }

    private void forget(long now) {
        long unseen = stored.queue().stream()
                .mapToLong(each -> now - each.seen())
                .min()
                .orElse(1_000_000);
        forget(unseen, false);
    }

    private void forget(long unseen, boolean deleted) {
        add("forget", "unseen", (int) unseen, "deleted", deleted);
        stored = StoredLock.of(null);
    }

    private Set<Object> holders(StoredLock lock, long now) {
        Set<Object> holders = new LinkedHashSet<>();
        for (StoredLock.Holder each : lock.holders()) {
            holders.add(Map.of(
                    "id",
                    ids.get(each.id()).value(),
                    "kind",
                    each.kind(),
                    "left",
                    (int) (each.until() - now),
                    "fence",
                    fence(each.fence() == 0 ? lock.fence() : each.fence())));
        }
        return holders;
    }

    /** The reply as a message of the model; null if no client of the model reads it. */
    private Map<String, Object> reply(Run run) {
        if (ids.get(run.id).number < 0) {
            return null;
        }
        Map<String, Object> message = new LinkedHashMap<>();
        message.put("id", ids.get(run.id).value());
        List<String> reply = run.reply;
        String script = run.command.script;
        switch (reply.get(0)) {
            case "GRANTED" -> {
                if (script.equals("downgrade")) {
                    return null;
                }
                message.put("k", "owner");
                message.put("fence", fence(reply.get(1)));
                message.put("token", fence(reply.get(reply.size() > 4 ? 4 : 1)));
                message.put("lease", Integer.parseInt(reply.get(2)));
                message.put("others", !reply.get(3).equals("0"));
                message.put("age", age(run.command));
            }
            case "QUEUED" -> {
                message.put("k", "queued");
                message.put("fence", fence(reply.get(2)));
                message.put("age", age(run.command));
            }
            case "BUSY" -> message.put("k", "busy");
            case "RENEWED" -> {
                message.put("k", "renewed");
                message.put("lease", Integer.parseInt(reply.get(1)));
                message.put("others", !reply.get(2).equals("0"));
                message.put("age", age(run.command));
            }
            case "NOT_HOLDER" -> {
                if (!List.of("renew", "downgrade", "transfer").contains(script)) {
                    return null;
                }
                message.put("k", script.equals("transfer") ? "gone" : "notowner");
            }
            default -> {
                return null;
            }
        }
        return message;
    }

    // --- what clients hear ------------------------------------------------------------------------------------

    private void answered(Run run) {
        Map<String, Object> message = reply(run);
        Id id = ids.get(run.id);
        boolean onlyHint = acknowledging.contains(run.command.session)
                && run.command.script.equals("unlock")
                && run.reply.get(0).equals("GRANTED");
        if (message == null || onlyHint) {
            return;
        }
        id.grant = add("receive", "m", message, "readers", 0);
        if (run.reply.get(0).equals("QUEUED") && !id.placed) {
            id.placed = true;
            if (!id.early.isEmpty()) {
                told(run.command.session, id.early);
            }
        }
    }

    private void told(int session, List<String> words) {
        Id id = ids.get(words.get(0));
        if (words.get(1).equals("0")) {
            add("hint", "id", id.value());
            return;
        }
        Map<String, Object> message = new LinkedHashMap<>();
        message.put("k", "push");
        message.put("id", id.value());
        message.put("fence", fence(words.get(1)));
        message.put("lease", Integer.parseInt(words.get(2)));
        message.put("others", !words.get(3).equals("0"));
        message.put("token", fence(words.get(4)));
        boolean ignores =
                acknowledging.contains(session) || words.get(words.size() - 1).equals("fixed");
        id.grant = add("push", "m", message, "ignores", ignores, "readers", 0);
        if (!id.placed) {
            id.early = words;
        }
    }

    private void owns(int session, List<String> words) {
        if (words.get(0).equals("no")) {
            Id id = ids.get(words.get(2));
            if (words.get(3).equals("ended") || lost.contains(words.get(2))) {
                lost(id, words.get(2));
            }
            return;
        }
        Id id = ids.get(words.get(0));
        String[] tokens = words.get(2).substring(1, words.get(2).length() - 1).split(",");
        long last = 0;
        int holds = 0;
        for (String token : tokens) {
            if (!token.isEmpty()) {
                last = Math.max(last, Long.parseLong(token));
                holds++;
            }
        }
        boolean downgraded = id.kind >= 0 && words.get(4).equals("true");
        boolean shared = id.kind < 0 || downgraded;
        boolean begins = !id.owned;
        id.owned = true;
        if (id.kind >= 0) {
            if (begins) {
                id.last = Long.parseLong(words.get(1));
            }
            passOn(id, last);
            if (downgraded) {
                downgraded(id, fence(words.get(1)), fence(last));
            }
        } else if (begins) {
            id.readers = Math.max(0, holds - 1);
            id.grant.put("readers", id.readers);
        } else {
            for (; id.readers < holds - 1; id.readers++) {
                add("join", "c", id.client.number);
            }
            for (; id.readers > Math.max(0, holds - 1); id.readers--) {
                add("part", "c", id.client.number);
            }
        }
        long left = Math.max(0, Math.floorDiv(Long.parseLong(words.get(3)) - nanos[session], MILLI));
        add(
                "owns",
                "id",
                id.value(),
                "tok",
                fence(words.get(1)),
                "last",
                fence(last),
                "left",
                (int) left,
                "shared",
                shared);
    }

    /** Its client is at rest once Redis is told, or the id is gone. */
    private void lost(Id id, String name) {
        add("lost", "id", id.value(), "released", !lost.remove(name));
        id.owned = false;
    }

    private void crashed(int session) {
        for (Client client : clients) {
            if (client.session == session && !client.crashed) {
                client.crashed = true;
                add("crash", "c", client.number);
            }
        }
    }

    private void endIdsAt(int line) {
        for (Map.Entry<String, Id> each : ids.entrySet()) {
            if (lastUses.get(each.getKey()) == line
                    && line < raw - 1
                    && !each.getValue().owned
                    && !each.getValue().client.crashed) {
                add("over", "id", each.getValue().value());
                rest(each.getValue());
            }
        }
    }
}
