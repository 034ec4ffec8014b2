package io.github.lockboot.redis.protocol;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

import io.github.lockboot.engine.LockStore;
import io.github.lockboot.fixture.StoredLock;
import io.github.lockboot.fixture.StoredLock.PassedOver;
import org.jspecify.annotations.Nullable;

/**
 * What the protocol says about one lock key, in plain Java: the holders, the tokens, the queue, how long the key stays,
 * and what is answered and published. Its clock is turned from outside.
 */
public final class LockModel {

    public static final long POLL = 2_000;
    public static final long PATIENCE = 6_000;
    private static final int MOST_HOLDERS = 200;

    /** For so long a live waiter may be unseen and still ask in time. */
    public static final long SPARE = 3_500;

    private static final long CLAIM = 6_000;
    private static final long LOCAL_TOKENS = 65_536;
    private static final long PERMIT_TOKENS = 64;
    private static final long NEVER = Long.MAX_VALUE;
    private static final long NONE = 0;

    /** The settings of a registry, as scripts get them. */
    public static String settings(String channels, int mostWaiters) {
        return settings(channels, mostWaiters, MOST_HOLDERS);
    }

    public static String settings(String channels, int mostWaiters, int mostHolders) {
        return settings(channels, mostWaiters, mostHolders, true);
    }

    /** @param counts whether the server counts all that listen */
    static String settings(String channels, int mostWaiters, int mostHolders, boolean counts) {
        return POLL + " " + PATIENCE + " " + mostWaiters + " " + mostHolders + (counts ? " 1 " : " 0 ") + channels;
    }

    public record Holder(String id, Kind kind, long fence, long ttl, long until) {

        boolean isKept() {
            return id.startsWith("kept-");
        }

        Holder until(long when) {
            return new Holder(id, kind, fence, ttl, when);
        }

        StoredLock.Holder stored() {
            return new StoredLock.Holder(id, ttl, until, kind.permits(), kind.isExclusive() ? 0 : fence);
        }
    }

    public record Waiter(String id, Kind kind, long ttl, long seen, PassedOver passedOver) {

        public Waiter seenAt(long when) {
            return new Waiter(id, kind, ttl, when, passedOver);
        }

        Waiter askedAt(long when) {
            return new Waiter(
                    id, kind, ttl, when, passedOver == PassedOver.NEVER ? passedOver : PassedOver.BEFORE_IT_ASKED);
        }

        Waiter passed() {
            return new Waiter(id, kind, ttl, seen, PassedOver.SINCE_IT_ASKED);
        }

        StoredLock.Waiter stored() {
            return new StoredLock.Waiter(id, ttl, seen, kind.permits(), passedOver);
        }
    }

    /** The reply, and messages as {@code <channel> <text>}, at most one for each holder. */
    public record Outcome(List<Object> reply, List<String> messages) {}

    private final String key;
    private final String channelPrefix;

    private final int mostHolders;
    private long micros;
    private final List<Holder> holders = new ArrayList<>();
    private long fence;

    /** The newest token that an exclusive or limited holder may have used, which readers have as theirs. */
    private long token;

    private final List<Waiter> queue = new ArrayList<>();
    private long swept = NONE;
    private long grace = NONE;
    private long expiry = NEVER;

    /** The sessions that messages reach. */
    private Set<String> listening = new HashSet<>();

    private String caller = "";
    private String before = "";
    private final Set<String> granted = new HashSet<>();
    private int skipped;
    private int graces;
    private int unswept;
    private int passedOver;

    public LockModel(String key, String channelPrefix, long micros) {
        this(key, channelPrefix, micros, MOST_HOLDERS);
    }

    public LockModel(String key, String channelPrefix, long micros, int mostHolders) {
        this.key = key;
        this.channelPrefix = channelPrefix;
        this.micros = micros;
        this.mostHolders = mostHolders;
    }

    /** From now on messages reach the session, or do not. */
    public void listens(String session, boolean listens) {
        if (listens) {
            listening.add(session);
        } else {
            listening.remove(session);
        }
    }

    /** Messages reach these sessions, and no others. */
    public void shareListeners(Set<String> sessions) {
        listening = sessions;
    }

    public Outcome acquire(String id, Kind kind, long ttl, boolean enqueue, int most) {
        begin(id, id);
        if (!isHolder(id) && makesWayFor(kind)) {
            grant(id, kind, ttl, ttl);
        }
        if (isHolder(id)) {
            extend(id, ttl);
            return endOwned(id);
        }
        int position = position(id);
        if (!enqueue || (position == 0 && queue.size() >= most)) {
            return endTaken("BUSY");
        }
        join(id, kind, ttl);
        return endTaken("QUEUED", (long) position(id), fence);
    }

    public Outcome unlock(String id, long lastToken, @Nullable String next, Kind nextKind, long nextTtl) {
        if (next == null && isExclusive(id) && queue.isEmpty() && Math.max(fence, lastToken) < micros) {
            delete(); // even after its lease: no other id has had the lock since
            return new Outcome(List.of("RELEASED"), List.of());
        }
        caller = id;
        if (isUpToDateFor(id, lastToken, next)) {
            unswept++;
            before = text();
            granted.clear();
        } else {
            begin(id, null);
        }
        leaveQueue(id);
        if (!isHolder(id)) {
            return end("NOT_HOLDER");
        }
        if (!holder(id).kind().isShared()) {
            used(lastToken);
        }
        if (next != null && !isHolder(next)) {
            join(next, nextKind, nextTtl);
        }
        int waiters = queue.size();
        giveAway(id, next);
        if (next == null) {
            return end(queue.size() == waiters ? "RELEASED" : "GRANTED_NEXT");
        }
        return isHolder(next) ? endOwned(next) : endTaken("QUEUED", (long) position(next), fence);
    }

    private void leaveQueue(String id) {
        if (queue.removeIf(waiter -> waiter.id().equals(id))) {
            admit(null);
        }
    }

    public Outcome downgrade(String id, long downgraded, long lastToken) {
        begin(id, null);
        Holder holder = holder(id);
        if (holder == null || downgraded != holder.fence() || holder.kind().permits() > 0) {
            return end("NOT_HOLDER");
        }
        if (holder.kind().isExclusive()) {
            holders.set(0, new Holder(id, Kind.SHARED, holder.fence(), holder.ttl(), holder.until()));
            used(lastToken);
            admit(null);
        }
        return endOwned(id);
    }

    public Outcome renew(List<LockStore.Grant> grants) {
        begin(grants.get(0).id(), null);
        List<List<Object>> replies = new ArrayList<>();
        for (LockStore.Grant grant : grants) {
            Holder holder = holder(grant.id());
            if (holder == null || grant.grantNumber() != holder.fence()) {
                replies.add(List.of("NOT_HOLDER"));
            } else {
                extend(grant.id(), grant.ttlMillis());
                replies.add(List.of("RENEWED", holder(grant.id()).until() - now(), (long) queue.size()));
            }
        }
        return end(
                replies.size() == 1
                        ? replies.get(0).toArray()
                        : new Object[] {
                            replies.stream()
                                    .map(words ->
                                            words.stream().map(Object::toString).collect(Collectors.joining(" ")))
                                    .collect(Collectors.joining(","))
                        });
    }

    public Outcome keep(String id, long kept, long stay) {
        begin(id, null);
        leaveQueue(id);
        Holder holder = holder(id);
        if (holder == null || kept != holder.fence()) {
            return end("NOT_HOLDER");
        }
        Holder readers = holders.stream()
                .filter(each -> each.isKept() && each.kind().isShared())
                .findFirst()
                .orElse(null);
        if (readers == null) {
            Holder nobody = new Holder("kept-" + id, holder.kind(), holder.fence(), stay, now() + stay);
            holders.set(holders.indexOf(holder), nobody);
        } else {
            extend(readers.id(), stay);
            giveAway(id, null);
        }
        List<String> messages = new ArrayList<>();
        for (Waiter waiter : now() + stay < holder.until() ? queue : List.<Waiter>of()) {
            messages.add(message(waiter.id(), 0, 0, 0));
            if (!isDeaf(waiter)) {
                break;
            }
        }
        Outcome outcome = end("KEPT");
        messages.addAll(outcome.messages());
        return new Outcome(outcome.reply(), messages);
    }

    /** The hold of that grant is from now on that of another id. */
    public Outcome transfer(String id, long transferred, String toId, long ttl) {
        begin(toId, null);
        Holder holder = isHolder(toId) ? holder(toId) : holder(id);
        if (holder == null || transferred != holder.fence()) {
            return end("NOT_HOLDER");
        }
        if (holder.id().equals(toId)) {
            extend(toId, ttl);
        } else {
            holders.set(holders.indexOf(holder), new Holder(toId, holder.kind(), holder.fence(), ttl, now() + ttl));
        }
        return endOwned(toId);
    }

    /** Turns the clock, back too; the key may expire on the way. */
    public void turn(long byMicros) {
        micros += byMicros;
        if (expiry <= now()) {
            delete();
        }
    }

    public void delete() {
        holders.clear();
        fence = 0;
        token = 0;
        queue.clear();
        swept = NONE;
        grace = NONE;
        expiry = NEVER;
    }

    public void persist() {
        expiry = NEVER;
    }

    public long micros() {
        return micros;
    }

    /** In order of their grants. */
    public List<Holder> holders() {
        return List.copyOf(holders);
    }

    public @Nullable Holder holder(String id) {
        return holders.stream()
                .filter(holder -> holder.id().equals(id))
                .findFirst()
                .orElse(null);
    }

    /** The newest of all grants. */
    public boolean hasWaiters() {
        return !queue.isEmpty();
    }

    public long fence() {
        return fence;
    }

    /** The fencing token of a holder. */
    public long tokenOf(Holder holder) {
        return holder.kind().isShared() ? token : holder.fence();
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

    /** How often all waiters got a grace period because no script had swept the queue. */
    public int graces() {
        return graces;
    }

    /** How many waiters were passed over. */
    public int passedOver() {
        return passedOver;
    }

    /** How often a holder handed over without a sweep of the queue. */
    public int unswept() {
        return unswept;
    }

    /** The text as it should lie in Redis; empty if there is none. */
    public String text() {
        return exists() ? stored().toString() : "";
    }

    private StoredLock stored() {
        boolean waited = !queue.isEmpty();
        return new StoredLock(
                LockStore.FORMAT,
                fence,
                holders.stream().map(Holder::stored).toList(),
                token == fence ? 0 : token,
                waited ? swept : 0,
                waited ? grace : 0,
                queue.stream().map(Waiter::stored).toList());
    }

    /**
     * Updates: the past is brought up to now before anything is decided. The caller learns of a grant from its reply.
     */
    private void begin(String caller, @Nullable String asker) {
        this.caller = caller;
        before = text();
        granted.clear();
        sweep(asker);
        holders.replaceAll(holder -> holder.until(Math.min(holder.until(), now() + holder.ttl())));
        Holder owner = exclusive();
        if (owner != null && owner.until() <= now()) {
            used(mayHaveBeenUsed());
        }
        holders.removeIf(holder -> holder.until() <= now());
        admit(asker);
    }

    /** Whether the holder may hand over to the first waiter without a sweep of the queue. */
    private boolean isUpToDateFor(String id, long lastToken, @Nullable String next) {
        Holder holder = exclusive();
        return holder != null
                && holder.id().equals(id)
                && !queue.isEmpty()
                && left() > 0
                && left() <= holder.ttl()
                && Math.max(fence, lastToken) < micros
                && !isSweepDue()
                && queue.get(0).kind().isExclusive()
                && queue.get(0).passedOver() == PassedOver.NEVER
                && !isDeaf(queue.get(0))
                && queue.get(0).seen() <= now()
                && queue.get(0).seen() > now() - PATIENCE
                && (next == null || position(next) == 0);
    }

    private boolean isSweepDue() {
        return swept == NONE || swept > now() || swept + POLL / 4 <= now();
    }

    private void sweep(@Nullable String asker) {
        queue.replaceAll(waiter -> waiter.seen() > now() ? waiter.seenAt(now() - POLL) : waiter);
        grace = grace > now() ? NONE : grace;
        long newest = queue.stream().mapToLong(Waiter::seen).max().orElse(NONE);
        if (swept != NONE && now() - swept > SPARE && newest > grace) {
            long oldest = now() - SPARE;
            queue.replaceAll(waiter -> waiter.seenAt(Math.max(waiter.seen(), oldest)));
            grace = Math.max(newest, oldest);
            graces++;
        }
        if (asker != null) {
            queue.replaceAll(waiter -> waiter.id().equals(asker) ? waiter.seenAt(now()) : waiter);
        }
        int all = queue.size();
        queue.removeIf(waiter -> now() - waiter.seen() >= PATIENCE);
        skipped += all - queue.size();
        swept = isSweepDue() ? now() : swept;
    }

    private void join(String id, Kind kind, long ttl) {
        if (position(id) == 0) {
            queue.add(new Waiter(id, kind, ttl, now(), PassedOver.NEVER));
        }
        queue.replaceAll(waiter -> waiter.id().equals(id) ? waiter.askedAt(now()) : waiter);
    }

    /** It is only known where the caller is reached. */
    private boolean isDeaf(Waiter waiter) {
        return listening.contains(sessionOf(caller)) && !listening.contains(sessionOf(waiter.id()));
    }

    /** A deaf waiter is passed over until it has asked again. */
    private boolean passesOver(int place) {
        Waiter waiter = queue.get(place);
        boolean passes = waiter.passedOver() != PassedOver.BEFORE_IT_ASKED && isDeaf(waiter);
        if (passes) {
            passedOver += waiter.passedOver() == PassedOver.NEVER ? 1 : 0;
            queue.set(place, waiter.passed());
        }
        return passes;
    }

    private boolean makesWayFor(Kind newcomer) {
        boolean free = admits(newcomer);
        for (int place = 0; free && place < queue.size(); place++) {
            free = passesOver(place);
        }
        return free;
    }

    private Outcome endOwned(String id) {
        Holder holder = holder(id);
        List<Object> reply =
                new ArrayList<>(List.of("GRANTED", holder.fence(), holder.until() - now(), (long) queue.size()));
        if (tokenOf(holder) != holder.fence()) {
            reply.add(tokenOf(holder));
        }
        return end(reply.toArray());
    }

    /** With what is left of the first lease, and whose it is. */
    private Outcome endTaken(Object... reply) {
        List<Object> words = new ArrayList<>(List.of(reply));
        words.add(left());
        holders.stream().min(Comparator.comparingLong(Holder::until)).ifPresent(first -> words.add(first.id()));
        return end(words.toArray());
    }

    private Outcome end(Object... reply) {
        return write(!reply[0].equals("BUSY"), reply);
    }

    private Outcome write(boolean changes, Object... reply) {
        if (queue.isEmpty()) {
            swept = NONE;
            grace = NONE;
        }
        boolean touched = changes || !text().equals(before);
        if (touched && holders.isEmpty() && queue.isEmpty() && fence < micros) {
            delete();
        } else if (touched) {
            long stay = Math.floorDiv(mayHaveBeenUsed() - micros + 999, 1000) + 1;
            for (Holder holder : holders) {
                stay = Math.max(stay, holder.until() - now());
            }
            expiry = now() + (queue.isEmpty() ? stay : Math.max(stay, PATIENCE));
        }
        boolean hint = reply[0].equals("QUEUED") && reply[1].equals(1L);
        List<String> messages = new ArrayList<>();
        for (Holder holder : holders) {
            if (granted.contains(holder.id())) {
                messages.add(message(holder.id(), holder.fence(), holder.until() - now(), tokenOf(holder)));
            } else if (hint) {
                messages.add(message(holder.id(), 0, 0, 0));
            }
        }
        return new Outcome(List.of(reply), messages);
    }

    private void giveAway(String id, @Nullable String asker) {
        holders.remove(holder(id));
        admit(asker);
    }

    /** Grants the lock to the first waiters that are not passed over, for as long as the holders admit them. */
    private void admit(@Nullable String asker) {
        int place = 0;
        while (place < queue.size()) {
            Waiter next = queue.get(place);
            boolean admitted = admits(next.kind());
            boolean reads = next.id().equals(asker);
            if (!admitted && !isBeforeReaders(next)) {
                return;
            }
            if (!reads && passesOver(place)) {
                place++;
            } else if (admitted) {
                queue.remove(place);
                grant(next.id(), next.kind(), next.ttl(), reads ? next.ttl() : Math.min(next.ttl(), CLAIM));
                if (!reads) {
                    granted.add(next.id());
                }
            } else {
                return;
            }
        }
    }

    private boolean isBeforeReaders(Waiter waiter) {
        return waiter.kind().isExclusive() && holders.get(0).kind().isShared();
    }

    private boolean admits(Kind kind) {
        if (kind.isExclusive()) {
            return holders.isEmpty();
        }
        if (kind.isShared()) {
            return holders.stream().allMatch(holder -> holder.kind().isShared()) && holders.size() < mostHolders;
        }
        int most = Math.min(kind.permits(), mostHolders);
        for (Holder holder : holders) {
            most = Math.min(most, holder.kind().permits());
        }
        return holders.size() < most;
    }

    private void grant(String id, Kind kind, long ttl, long lease) {
        long granted = Math.max(fence + 1, micros);
        holders.add(new Holder(id, kind, granted, ttl, now() + lease));
        fence = granted + (kind.permits() > 0 ? PERMIT_TOKENS - 1 : 0);
        token = kind.isShared() && token > 0 ? token : fence;
    }

    /** Also beyond the ttl that it had. */
    private void extend(String id, long ttl) {
        holders.replaceAll(holder -> holder.id().equals(id)
                ? new Holder(id, holder.kind(), holder.fence(), Math.max(holder.ttl(), ttl), holder.until())
                : holder);
        prolong(id, ttl);
    }

    private void prolong(String id, long ttl) {
        holders.replaceAll(
                holder -> holder.id().equals(id) ? holder.until(Math.max(holder.until(), now() + ttl)) : holder);
    }

    /** A holder that ends, or is exclusive no more, has used tokens up to this one. */
    private void used(long lastToken) {
        long newest = Math.max(fence, lastToken);
        token = token == fence ? newest : token;
        fence = newest;
    }

    /** The newest token that may have been used: an exclusive holder counts on from its grant's by itself. */
    private long mayHaveBeenUsed() {
        return exclusive() == null ? fence : fence + LOCAL_TOKENS - 1;
    }

    private @Nullable Holder exclusive() {
        return !holders.isEmpty() && holders.get(0).kind().isExclusive() ? holders.get(0) : null;
    }

    private boolean isHolder(String id) {
        return holder(id) != null;
    }

    private boolean isExclusive(String id) {
        Holder owner = exclusive();
        return owner != null && owner.id().equals(id);
    }

    /** From 1; 0 if not queued. */
    private int position(String id) {
        return queue.stream().map(Waiter::id).toList().indexOf(id) + 1;
    }

    /** How long until the first lease ends. */
    private long left() {
        return holders.stream().mapToLong(Holder::until).min().orElse(now()) - now();
    }

    private long now() {
        return Math.floorDiv(micros, 1000);
    }

    private String message(String id, long granted, long lease, long fencingToken) {
        long others = queue.stream().filter(waiter -> !waiter.id().equals(id)).count();
        return "%s%s %s %d %d %d %d %s"
                .formatted(channelPrefix, sessionOf(id), id, granted, lease, others, fencingToken, key);
    }

    private static String sessionOf(String id) {
        return id.substring(0, Math.max(0, id.lastIndexOf('-')));
    }
}
