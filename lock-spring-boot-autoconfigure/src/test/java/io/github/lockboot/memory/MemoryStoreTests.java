package io.github.lockboot.memory;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;

import io.github.lockboot.engine.LockRequest.Terms;
import io.github.lockboot.engine.LockStore;
import io.github.lockboot.engine.LockStore.Held;
import io.github.lockboot.engine.LockStore.Next;
import io.github.lockboot.engine.ManualTimer;
import io.github.lockboot.engine.Reply;
import io.github.lockboot.redis.protocol.Kind;
import io.github.lockboot.redis.protocol.LockModel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class MemoryStoreTests {

    private static final String NAME = "a";
    private static final long TTL = 10_000;
    private static final int STEPS = 3_000;
    private static final int MOST_HOLDERS = 3;
    private static final List<List<Kind>> KINDS = List.of(
            List.of(Kind.EXCLUSIVE),
            List.of(Kind.EXCLUSIVE, Kind.SHARED, Kind.SHARED),
            List.of(Kind.EXCLUSIVE, Kind.limitedTo(2), Kind.limitedTo(5), Kind.limitedTo(1)),
            List.of(Kind.SHARED, Kind.SHARED, Kind.limitedTo(4), Kind.EXCLUSIVE, Kind.limitedTo(2)));

    private static final String KEPT = "kept-";

    private final ManualTimer timer = new ManualTimer();
    private final MemoryStore store = new MemoryStore(timer, MOST_HOLDERS);
    private final LockModel model = new LockModel(NAME, "client:", 1_800_000_000_000_000L, MOST_HOLDERS);
    private final List<String> known = new ArrayList<>();
    /** By id, and by the fence of the same grant in the model. */
    private final Map<String, Map<Long, Long>> fences = new HashMap<>();

    private List<Kind> kinds = List.of(Kind.EXCLUSIVE);
    private int ids;

    /** Random questions to the store and to the model of the scripts, beside each other. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void itAnswersAsTheScriptsDo(long seed) {
        Random random = new Random(seed);
        kinds = KINDS.get((int) seed % KINDS.size());
        for (int step = 0; step < STEPS; step++) {
            while (known.size() < 4) {
                known.add(newId());
            }
            List<LockModel.Holder> holders = usedHolders();
            String any = known.get(random.nextInt(known.size()));
            String id = !holders.isEmpty() && random.nextInt(4) > 0
                    ? holders.get(random.nextInt(holders.size())).id()
                    : any;
            long fence = fence(id);
            long modelFence = modelFence(id);
            long used = random.nextInt(10);
            switch (random.nextInt(14)) {
                case 0 -> {
                    for (int seconds = random.nextInt(15); seconds > 0; seconds--) {
                        passASecond();
                        known.stream()
                                .filter(each -> model.holder(each) == null)
                                .forEach(each -> acquire(each, false));
                    }
                }
                case 1 -> acquire(any, false);
                case 2, 3, 4 -> acquire(any, true);
                case 5 ->
                    same(
                            model.renew(List.of(new LockStore.Grant(id, modelFence, TTL))),
                            store.renew(NAME, List.of(new LockStore.Grant(id, fence, TTL)), late -> {}));
                case 6 -> {
                    long last = modelFence(any) == 0 ? 0 : used;
                    same(
                            model.unlock(any, modelFence(any) + last, null, Kind.EXCLUSIVE, 0),
                            store.release(NAME, any, fence(any) + last, null));
                    known.remove(any);
                }
                case 7, 8 -> {
                    if (same(
                            model.unlock(id, modelFence + used, null, Kind.EXCLUSIVE, 0),
                            store.release(NAME, id, fence + used, null))) {
                        known.remove(id);
                    }
                }
                case 9 -> renewSeveral(random);
                case 11 -> transfer(id, random);
                case 12 -> {
                    long stay = 1 + random.nextInt(2 * (int) TTL);
                    if (same(
                            model.keep(id, modelFence, stay), store.release(NAME, id, 0, new Next.Kept(fence, stay)))) {
                        known.remove(id);
                        fences.put(KEPT + id, Map.of(modelFence, fence));
                    }
                }
                case 10 -> same(model.downgrade(id, modelFence, modelFence + used), downgrade(id, fence, fence + used));
                default -> {
                    String next = newId();
                    Next queued = new Next.Queued(next, kind(next).terms(TTL, true));
                    if (same(
                            model.unlock(id, modelFence + used, next, kind(next), TTL),
                            store.release(NAME, id, fence + used, queued))) {
                        known.remove(id);
                        known.add(next);
                    }
                }
            }
        }
        assertThat(model.skipped()).isZero();
    }

    /** Nobody uses the ids of those that keep the lock. */
    private List<LockModel.Holder> usedHolders() {
        return model.holders().stream()
                .filter(holder -> !holder.id().startsWith(KEPT))
                .toList();
    }

    /** Of all holders and of one more id, each with its fence or another. */
    private void renewSeveral(Random random) {
        List<LockStore.Grant> modelled = new ArrayList<>();
        List<LockStore.Grant> stored = new ArrayList<>();
        List<String> ids = new ArrayList<>(
                model.holders().stream().map(LockModel.Holder::id).toList());
        ids.add(known.get(random.nextInt(known.size())));
        for (String id : ids) {
            long fence = fence(id);
            int off = random.nextInt(5) == 0 ? 1 : 0;
            modelled.add(new LockStore.Grant(id, modelFence(id) + off, TTL));
            stored.add(new LockStore.Grant(id, fence + off, TTL));
        }
        same(model.renew(modelled), store.renew(NAME, stored, late -> {}));
    }

    /** To an id that is new, or has another hold; perhaps twice, or with another number, or for longer. */
    private void transfer(String id, Random random) {
        List<String> others = usedHolders().stream()
                .map(LockModel.Holder::id)
                .filter(each -> !each.equals(id))
                .toList();
        int off = random.nextInt(5) == 0 ? 1 : 0; // might be the number of another's grant in the store
        String to = model.holder(id) == null || others.isEmpty() || off > 0 || random.nextInt(4) > 0
                ? newId()
                : others.get(random.nextInt(others.size()));
        long ttl = random.nextBoolean() ? TTL : TTL + random.nextInt((int) TTL);
        long fence = fence(id);
        long modelFence = modelFence(id);
        for (int times = 1 + random.nextInt(2); times > 0; times--) {
            boolean transferred = same(
                    model.transfer(id, modelFence + off, to, ttl),
                    store.acquire(NAME, to, Terms.exclusive(ttl, true), false, new Held(id, fence + off, fence)));
            if (transferred) {
                known.remove(id);
                known.remove(to);
                known.add(to);
                fences.put(to, Map.of(modelFence, fence));
            }
        }
    }

    private CompletableFuture<Reply> downgrade(String id, long fence, long lastToken) {
        return store.acquire(NAME, id, Terms.shared(TTL, true), false, new Held(id, fence, lastToken));
    }

    private String newId() {
        return "session-" + ids++;
    }

    private void acquire(String id, boolean enqueue) {
        CompletableFuture<Reply> answer = store.acquire(NAME, id, kind(id).terms(TTL, true), enqueue, null);
        same(model.acquire(id, kind(id), TTL, enqueue, 100), answer);
        if (answer.join() instanceof Reply.Granted owner) {
            fences.put(id, Map.of(modelFence(id), owner.grantNumber()));
        }
    }

    private void passASecond() {
        timer.stopFor(Duration.ofSeconds(1));
        model.turn(1_000_000);
    }

    private long modelFence(String id) {
        LockModel.Holder holder = model.holder(id);
        return holder == null ? model.fence() : holder.fence();
    }

    /** Fences of the model are times; those of the store are not. */
    private long fence(String id) {
        if (model.holder(id) != null && !fences.getOrDefault(id, Map.of()).containsKey(modelFence(id))) {
            acquire(id, true);
        }
        return fences.getOrDefault(id, Map.of()).values().stream().findFirst().orElse(0L);
    }

    private Kind kind(String id) {
        return kinds.get(Integer.parseInt(id.substring(id.indexOf('-') + 1)) % kinds.size());
    }

    /** @return whether the question was not in vain */
    private boolean same(LockModel.Outcome expected, CompletableFuture<Reply> answer) {
        List<Object> reply = new ArrayList<>(expected.reply());
        Object status = reply.get(0);
        if (status.equals("GRANTED")) {
            reply.subList(4, reply.size()).clear();
            reply.remove(1);
        } else if (status.equals("QUEUED")) {
            reply.remove(2);
        }
        assertThat(words(answer.join())).isEqualTo(reply);
        return !status.equals("NOT_HOLDER");
    }

    /** As the model answers, without tokens. */
    private static List<Object> words(Reply reply) {
        if (reply instanceof Reply.Granted owner) {
            return List.of("GRANTED", owner.leaseMillis(), owner.waiters());
        } else if (reply instanceof Reply.Queued queued) {
            return List.of("QUEUED", queued.position(), queued.leftMillis(), queued.holderId());
        } else if (reply instanceof Reply.Busy busy) {
            return busy.holderId() == null
                    ? List.of("BUSY", busy.leftMillis())
                    : List.of("BUSY", busy.leftMillis(), busy.holderId());
        } else if (reply instanceof Reply.Renewed renewed) {
            return List.of("RENEWED", renewed.leaseMillis(), renewed.waiters());
        } else if (reply instanceof Reply.All all) {
            return List.of(all.replies().stream().map(MemoryStoreTests::line).collect(Collectors.joining(",")));
        }
        return List.of(((Reply.Plain) reply).name());
    }

    private static String line(Reply reply) {
        return words(reply).stream().map(Object::toString).collect(Collectors.joining(" "));
    }

    @Test
    void tokensGrowAlsoAfterAnOwnerThatDidNotTellWhatItUsed() {
        Reply.Granted first = (Reply.Granted) store.acquire(NAME, "session-1", Terms.exclusive(TTL, true), true, null)
                .join();
        timer.stopFor(Duration.ofMillis(TTL));
        Reply.Granted second = (Reply.Granted) store.acquire(NAME, "session-2", Terms.exclusive(TTL, true), true, null)
                .join();
        assertThat(second.grantNumber()).isGreaterThanOrEqualTo(first.grantNumber() + 65_536);
        store.release(NAME, "session-2", second.grantNumber() + 7, null);
        Reply.Granted third = (Reply.Granted) store.acquire(NAME, "session-3", Terms.exclusive(TTL, true), true, null)
                .join();
        assertThat(third.grantNumber()).isGreaterThan(second.grantNumber() + 7);
    }

    @Test
    void aReaderHasTheLastTokenOfThoseBeforeTheReadersAndAPermitHas64() {
        Reply.Granted writer = acquired("session-1", Kind.EXCLUSIVE);
        acquired("session-2", Kind.SHARED);
        downgrade("session-1", writer.grantNumber(), writer.grantNumber() + 7);
        Reply.Granted reader = acquired("session-3", Kind.SHARED);
        assertThat(reader.token()).isEqualTo(writer.grantNumber() + 7).isLessThan(reader.grantNumber());
        assertThat(acquired("session-1", Kind.SHARED).token()).isEqualTo(reader.token());
        for (int id = 1; id <= 3; id++) {
            store.release(NAME, "session-" + id, 0, null);
        }
        Reply.Granted permit = acquired("session-4", Kind.limitedTo(2));
        Reply.Granted other = acquired("session-5", Kind.limitedTo(2));
        assertThat(permit.token()).isEqualTo(permit.grantNumber()).isGreaterThan(reader.grantNumber());
        assertThat(other.token()).isEqualTo(permit.token() + 64);
    }

    @Test
    void readersAfterADowngradeHaveItsTokenWhateverElseWasLockedMeanwhile() {
        Reply.Granted writer = acquired("session-1", Kind.EXCLUSIVE);
        acquired("session-2", Kind.SHARED);
        store.acquire("another", "session-3", Terms.exclusive(TTL, true), true, null);
        downgrade("session-1", writer.grantNumber(), writer.grantNumber());
        assertThat(acquired("session-2", Kind.SHARED).token()).isEqualTo(writer.grantNumber());
    }

    private Reply.Granted acquired(String id, Kind kind) {
        return store.acquire(NAME, id, kind.terms(TTL, true), true, null).join() instanceof Reply.Granted owner
                ? owner
                : null;
    }

    @Test
    void aNameThatIsNotUsedIsForgotten() {
        for (int i = 0; i < 1_000; i++) {
            store.acquire("released " + i, "session-1", Terms.exclusive(TTL, true), true, null);
            store.release("released " + i, "session-1", 0, null);
            store.acquire("expired " + i, "session-2", Terms.exclusive(TTL, true), true, null);
            store.show("free " + i);
        }
        assertThat(store.inUse()).isEqualTo(1_000);
        timer.tick(Duration.ofMillis(TTL));
        assertThat(store.inUse()).isZero();
    }
}
