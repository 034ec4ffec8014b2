package io.github.lockboot.memory;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;

import io.github.lockboot.redis.engine.ManualTimer;
import io.github.lockboot.redis.protocol.Kind;
import io.github.lockboot.redis.protocol.LockModel;
import io.github.lockboot.redis.protocol.Reply;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class MemoryStoreTests {

    private static final String NAME = "a";
    private static final long TTL = 10_000;
    private static final int STEPS = 3_000;

    private final ManualTimer timer = new ManualTimer();
    private final MemoryStore store = new MemoryStore(new MemoryTimer(timer));
    private final LockModel model = new LockModel(NAME, "client:", "completed", 1_800_000_000_000_000L);
    private final List<String> known = new ArrayList<>();
    private long token;
    private int ids;

    /** Random questions to the store and to the model of the scripts, beside each other. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void itAnswersAsTheScriptsDo(long seed) {
        Random random = new Random(seed);
        for (int step = 0; step < STEPS; step++) {
            while (known.size() < 4) {
                known.add(newId());
            }
            LockModel.Owner owner = model.owner();
            String any = known.get(random.nextInt(known.size()));
            String id = owner != null && random.nextInt(4) > 0 ? owner.id() : any;
            long used = random.nextInt(10);
            switch (random.nextInt(10)) {
                case 0 -> {
                    for (int seconds = random.nextInt(15); seconds > 0; seconds--) {
                        passASecond();
                        known.stream().filter(each -> !isOwner(each)).forEach(each -> acquire(each, false));
                    }
                }
                case 1 -> acquire(any, false);
                case 2, 3, 4 -> acquire(any, true);
                case 5 -> same(model.renew(id, modelToken(), TTL), store.renew(NAME, id, token(), TTL));
                case 6 -> {
                    same(model.cancel(any), store.cancel(NAME, any));
                    known.remove(any);
                }
                case 7 -> {
                    if (same(model.complete(id, modelToken() + used), store.complete(NAME, id, token() + used))) {
                        known.clear();
                    }
                }
                case 8 -> {
                    if (same(model.unlock(id, modelToken() + used, null, 0), store.unlock(NAME, id, token() + used))) {
                        known.remove(id);
                    }
                }
                default -> {
                    String next = newId();
                    if (same(
                            model.unlock(id, modelToken() + used, next, TTL),
                            store.unlock(NAME, id, token() + used, next, Kind.EXCLUSIVE, TTL))) {
                        known.remove(id);
                        known.add(next);
                    }
                }
            }
        }
        assertThat(model.skipped()).isZero();
    }

    private String newId() {
        return "session-" + ids++;
    }

    private void acquire(String id, boolean enqueue) {
        same(model.acquire(id, TTL, enqueue, 100), store.acquire(NAME, id, Kind.EXCLUSIVE, TTL, enqueue));
    }

    private void passASecond() {
        timer.stopFor(Duration.ofSeconds(1));
        model.turn(1_000_000);
    }

    private boolean isOwner(String id) {
        LockModel.Owner owner = model.owner();
        return owner != null && owner.id().equals(id);
    }

    private long modelToken() {
        return model.fence();
    }

    /** Tokens of the model are times; those of the store are not. */
    private long token() {
        if (store.inspect(NAME).join() instanceof Reply.Held held) {
            token = held.fence();
        }
        return token;
    }

    /** @return whether the question was not in vain */
    private boolean same(LockModel.Outcome expected, CompletableFuture<Reply> answer) {
        List<Object> reply = new ArrayList<>(expected.reply());
        Object status = reply.get(0);
        if (status.equals("OWNER")) {
            reply.remove(1);
        } else if (status.equals("QUEUED")) {
            reply.remove(2);
        }
        assertThat(words(answer.join())).isEqualTo(reply);
        return !status.equals("NOT_OWNER");
    }

    /** As the model answers, without tokens. */
    private static List<Object> words(Reply reply) {
        if (reply instanceof Reply.Owner owner) {
            return List.of("OWNER", owner.leaseMillis(), owner.waiters());
        } else if (reply instanceof Reply.Queued queued) {
            return List.of("QUEUED", queued.position(), queued.leftMillis());
        } else if (reply instanceof Reply.Busy busy) {
            return List.of("BUSY", busy.leftMillis());
        } else if (reply instanceof Reply.Renewed renewed) {
            return List.of("RENEWED", renewed.leaseMillis(), renewed.waiters());
        }
        return List.of(((Reply.Plain) reply).name());
    }

    @Test
    void tokensGrowAlsoAfterAnOwnerThatDidNotTellWhatItUsed() {
        Reply.Owner first = (Reply.Owner)
                store.acquire(NAME, "session-1", Kind.EXCLUSIVE, TTL, true).join();
        timer.stopFor(Duration.ofMillis(TTL));
        Reply.Owner second = (Reply.Owner)
                store.acquire(NAME, "session-2", Kind.EXCLUSIVE, TTL, true).join();
        assertThat(second.fence()).isGreaterThanOrEqualTo(first.fence() + 65_536);
        store.unlock(NAME, "session-2", second.fence() + 7);
        Reply.Owner third = (Reply.Owner)
                store.acquire(NAME, "session-3", Kind.EXCLUSIVE, TTL, true).join();
        assertThat(third.fence()).isGreaterThan(second.fence() + 7);
    }

    @Test
    void aNameThatIsNotUsedIsForgotten() {
        for (int i = 0; i < 1_000; i++) {
            store.acquire("released " + i, "session-1", Kind.EXCLUSIVE, TTL, true);
            store.unlock("released " + i, "session-1", 0);
            store.acquire("expired " + i, "session-2", Kind.EXCLUSIVE, TTL, true);
            store.inspect("free " + i);
        }
        assertThat(store.inUse()).isEqualTo(1_000);
        timer.tick(Duration.ofMillis(TTL));
        assertThat(store.inUse()).isZero();
    }
}
