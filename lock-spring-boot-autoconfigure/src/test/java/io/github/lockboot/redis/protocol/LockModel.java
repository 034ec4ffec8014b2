package io.github.lockboot.redis.protocol;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

import org.jspecify.annotations.Nullable;

/**
 * What the protocol says about one lock key, in plain Java: the owner, the tokens, the queue, how long the key stays, and what
 * is answered and published. Its clock is turned from outside.
 */
public final class LockModel {

    public static final long POLL = 2_000;
    public static final long PATIENCE = 6_000;

    /** For so long a live waiter may be unseen and still ask in time. */
    public static final long SPARE = 3_500;

    private static final long CLAIM = 6_000;
    private static final long LOCAL_TOKENS = 65_536;
    private static final long LEAST_STAY = 1_000;
    private static final long NEVER = Long.MAX_VALUE;
    private static final long NONE = -2;

    private static final Set<String> REFUSALS = Set.of("NOT_OWNER", "UNKNOWN", "BUSY");

    public record Owner(String id, long ttl, long until) {}

    public record Waiter(String id, long ttl, long seen) {

        public Waiter seenAt(long when) {
            return new Waiter(id, ttl, when);
        }

        public String packed() {
            return "[\"%s\",%d,%d]".formatted(id, ttl, seen);
        }
    }

    /** The reply, and at most one message as {@code <channel> <text>}. */
    public record Outcome(List<Object> reply, List<String> messages) {}

    private final String key;
    private final String channelPrefix;
    private final String completions;

    private long micros;
    private @Nullable Owner owner;
    private long fence;
    private final List<Waiter> queue = new ArrayList<>();
    private long looked = NONE;
    private long excused = NONE;
    private long expiry = NEVER;

    private Map<String, String> before = Map.of();
    private @Nullable String granted;
    private int skipped;
    private int excuses;
    private int unlooked;

    public LockModel(String key, String channelPrefix, String completions, long micros) {
        this.key = key;
        this.channelPrefix = channelPrefix;
        this.completions = completions;
        this.micros = micros;
    }

    public Outcome acquire(String id, long ttl, boolean enqueue, int most) {
        if (isSettledFor(id)) {
            if (position(id) > 1 && enqueue) {
                unlooked++;
                before = fields();
                granted = null;
                see(id);
                return end("QUEUED", (long) position(id), fence, left());
            } else if (position(id) == 0 && (!enqueue || queue.size() >= most)) {
                return new Outcome(List.of("BUSY", left()), List.of());
            }
        }
        begin(id);
        if (owner == null && queue.isEmpty()) {
            grant(id, ttl, ttl);
        }
        if (isOwner(id)) {
            prolong(ttl);
            return end("OWNER", fence, left(), (long) queue.size());
        }
        int position = position(id);
        if (!enqueue || (position == 0 && queue.size() >= most)) {
            return end("BUSY", left());
        }
        if (position == 0) {
            queue.add(new Waiter(id, ttl, now()));
        }
        return end("QUEUED", (long) position(id), fence, left());
    }

    public Outcome unlock(String id, long lastToken, @Nullable String next, long nextTtl) {
        if (next == null && isOwner(id) && queue.isEmpty() && Math.max(fence, lastToken) < micros) {
            delete(); // even after its lease: no other id has had the lock since
            return new Outcome(List.of("RELEASED"), List.of());
        }
        begin(null);
        if (!isOwner(id)) {
            return end("NOT_OWNER");
        }
        fence = Math.max(fence, lastToken);
        if (next != null && position(next) == 0) {
            queue.add(new Waiter(next, nextTtl, now()));
        } else if (next != null) {
            see(next);
        }
        giveAway(next);
        if (next == null) {
            return end(owner == null ? "RELEASED" : "HANDED_OVER");
        }
        return isOwner(next)
                ? end("OWNER", fence, left(), (long) queue.size())
                : end("QUEUED", (long) position(next), fence, left());
    }

    public Outcome renew(String id, long token, long ttl) {
        begin(null);
        if (!isOwner(id) || token != fence) {
            return end("NOT_OWNER");
        }
        prolong(ttl);
        return end("RENEWED", left(), (long) queue.size());
    }

    public Outcome cancel(String id) {
        begin(null);
        if (isOwner(id)) {
            giveAway(null);
            return end("GIVEN_AWAY");
        }
        return end(queue.removeIf(waiter -> waiter.id().equals(id)) ? "LEFT" : "UNKNOWN");
    }

    public Outcome complete(String id, long lastToken) {
        begin(null);
        if (!isOwner(id)) {
            return end("NOT_OWNER");
        }
        fence = Math.max(fence, lastToken);
        boolean waited = !queue.isEmpty();
        owner = null;
        granted = null;
        queue.clear();
        String message = "%s %s %d 0 0 %d %s".formatted(completions, id, fence, fence, key);
        Outcome outcome = end("COMPLETED");
        return waited ? new Outcome(outcome.reply(), List.of(message)) : outcome;
    }

    /** Turns the clock, back too; the key may expire on the way. */
    public void turn(long byMicros) {
        micros += byMicros;
        if (expiry <= now()) {
            delete();
        }
    }

    public void delete() {
        owner = null;
        fence = 0;
        queue.clear();
        looked = NONE;
        excused = NONE;
        expiry = NEVER;
    }

    public void persist() {
        expiry = NEVER;
    }

    public long micros() {
        return micros;
    }

    @Nullable
    public Owner owner() {
        return owner;
    }

    public long fence() {
        return fence;
    }

    public boolean exists() {
        return fence > 0;
    }

    /** How long the key stays if nothing happens, in ms; -1 if for ever. */
    public long keyTtl() {
        return expiry == NEVER ? -1 : expiry - now();
    }

    /** How many waiters were dropped because they were not seen. */
    public int skipped() {
        return skipped;
    }

    /** How often all waiters were excused because no script had looked at the queue. */
    public int excuses() {
        return excuses;
    }

    /** How often a waiter was answered without a look at the queue. */
    public int unlooked() {
        return unlooked;
    }

    /** The hash as it should lie in Redis; empty if there is none. */
    public Map<String, String> fields() {
        Map<String, String> fields = new TreeMap<>();
        if (fence > 0) {
            fields.put("fence", Long.toString(fence));
        }
        if (owner != null) {
            fields.put("owner", owner.id());
            fields.put("ttl", Long.toString(owner.ttl()));
            fields.put("until", Long.toString(owner.until()));
        }
        if (!queue.isEmpty()) {
            fields.put("queue", queue.stream().map(Waiter::packed).collect(Collectors.joining(",", "[", "]")));
            fields.put("looked", Long.toString(looked));
            if (excused != NONE) {
                fields.put("excused", Long.toString(excused));
            }
        }
        return fields;
    }

    /** Settles: the past is brought up to now before anything is decided. The caller learns of a grant from its reply. */
    private void begin(@Nullable String caller) {
        before = fields();
        granted = null;
        look(caller);
        if (owner != null) {
            owner = new Owner(owner.id(), owner.ttl(), Math.min(owner.until(), now() + owner.ttl()));
            if (owner.until() <= now()) {
                fence = mayHaveBeenUsed();
                owner = null;
            }
        }
        if (owner == null) {
            grantFirst(caller);
        }
    }

    /** Whether a poll or a try of this id may be answered without a look at the queue. */
    private boolean isSettledFor(String id) {
        return owner != null
                && !isOwner(id)
                && !queue.isEmpty()
                && left() > 0
                && left() <= owner.ttl()
                && fence < micros
                && !isLookDue();
    }

    private boolean isLookDue() {
        return looked == NONE || looked > now() || looked + POLL / 4 <= now();
    }

    private void look(@Nullable String caller) {
        queue.replaceAll(waiter -> waiter.seen() > now() ? waiter.seenAt(now() - POLL) : waiter);
        excused = excused > now() ? NONE : excused;
        long newest = queue.stream().mapToLong(Waiter::seen).max().orElse(NONE);
        if (looked != NONE && now() - looked > SPARE && newest > excused) {
            long oldest = now() - SPARE;
            queue.replaceAll(waiter -> waiter.seenAt(Math.max(waiter.seen(), oldest)));
            excused = Math.max(newest, oldest);
            excuses++;
        }
        if (caller != null) {
            see(caller);
        }
        int all = queue.size();
        queue.removeIf(waiter -> now() - waiter.seen() >= PATIENCE);
        skipped += all - queue.size();
        looked = isLookDue() ? now() : looked;
    }

    private void see(String id) {
        queue.replaceAll(waiter -> waiter.id().equals(id) ? waiter.seenAt(now()) : waiter);
    }

    private Outcome end(Object... reply) {
        if (queue.isEmpty()) {
            looked = NONE;
            excused = NONE;
        }
        boolean touched = !REFUSALS.contains(reply[0]) || !fields().equals(before);
        if (touched && owner == null && queue.isEmpty() && fence < micros) {
            delete();
        } else if (touched) {
            long fenceStays = Math.floorDiv(mayHaveBeenUsed() - micros + 999, 1000) + 1;
            long waitersStay = queue.isEmpty() ? 0 : PATIENCE;
            expiry = now()
                    + LongStream.of(LEAST_STAY, left(), waitersStay, fenceStays)
                            .max()
                            .orElseThrow();
        }
        List<String> messages = new ArrayList<>();
        if (granted != null) {
            messages.add(message(granted, fence, left()));
        } else if (reply[0].equals("QUEUED") && reply[1].equals(1L) && owner != null) {
            messages.add(message(owner.id(), 0, 0));
        }
        return new Outcome(List.of(reply), messages);
    }

    private void giveAway(@Nullable String caller) {
        owner = null;
        granted = null;
        grantFirst(caller);
    }

    private void grantFirst(@Nullable String caller) {
        if (!queue.isEmpty()) {
            Waiter first = queue.remove(0);
            boolean reads = first.id().equals(caller);
            granted = reads ? null : first.id();
            grant(first.id(), first.ttl(), reads ? first.ttl() : Math.min(first.ttl(), CLAIM));
        }
    }

    private void grant(String id, long ttl, long lease) {
        owner = new Owner(id, ttl, now() + lease);
        fence = Math.max(fence + 1, micros);
    }

    private void prolong(long ttl) {
        Owner holder = Objects.requireNonNull(owner);
        owner = new Owner(holder.id(), holder.ttl(), Math.max(holder.until(), now() + ttl));
    }

    /** The newest token that may have been used: an owner counts on from its grant's by itself. */
    private long mayHaveBeenUsed() {
        return owner == null ? fence : fence + LOCAL_TOKENS - 1;
    }

    private boolean isOwner(String id) {
        return owner != null && owner.id().equals(id);
    }

    /** From 1; 0 if not queued. */
    private int position(String id) {
        return queue.stream().map(Waiter::id).toList().indexOf(id) + 1;
    }

    private long left() {
        return owner == null ? 0 : owner.until() - now();
    }

    private long now() {
        return Math.floorDiv(micros, 1000);
    }

    private String message(String id, long token, long lease) {
        String session = id.substring(0, id.lastIndexOf('-'));
        return "%s%s %s %d %d %d %d %s".formatted(channelPrefix, session, id, token, lease, queue.size(), token, key);
    }
}
