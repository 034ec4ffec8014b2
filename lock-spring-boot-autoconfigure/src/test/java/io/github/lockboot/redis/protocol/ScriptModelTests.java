package io.github.lockboot.redis.protocol;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.lockboot.engine.LockStore;
import io.github.lockboot.fixture.RedisProbe;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.fixture.StoredLock;
import io.github.lockboot.fixture.StoredLock.PassedOver;
import io.github.lockboot.redis.protocol.ClockedScripts.Seen;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

/**
 * Random sequences of calls and mishaps, on Redis and on {@link LockModel} side by side: after every step both must
 * agree on the reply, on all that is stored and on the messages. A failure prints its seed and the shortest sequence
 * found that still fails. {@code -Dlock.model.seed} and {@code -Dlock.model.sequences} choose others than the usual
 * ones; more than a few run with {@code -Pfull}.
 */
class ScriptModelTests {

    private static final long FIRST_SEED = Long.getLong("lock.model.seed", 0);
    private static final int FEW = 200;
    private static final int SEQUENCES = Integer.getInteger("lock.model.sequences", 1_200);

    private static final String KEY = "lock:model";
    private static final String CHANNELS = "lock:client:";
    private static final String GIVEN = "transfer-";
    private static final int MOST_HOLDERS = 3;
    private static final long[] TTLS = {30_000, 1_000, 6_000, 6_001, 1_500, 3_600_000};
    private static final long START = 1_800_000_000_000_123L;
    private static final long CALL_MICROS = 25;
    private static final long TTL_SLACK = 3;
    private static final long FOREIGN_MILLIS = 10_000_000;

    /** A script call with all its arguments, and what the model makes of it. */
    private record Call(LuaScript script, List<String> arguments, Function<LockModel, LockModel.Outcome> modelled) {}

    private final Map<String, Integer> covered = new TreeMap<>();

    @ParameterizedTest
    @EnumSource
    void theScriptsDoWhatTheModelDoes(RedisProgram program) {
        compare(program, FIRST_SEED, Math.min(FEW, SEQUENCES));
    }

    @ParameterizedTest
    @EnumSource
    @Tag("full")
    @Timeout(value = 15, unit = TimeUnit.MINUTES) // several commands for each of some 50,000 steps
    void theScriptsDoWhatTheModelDoesInAThousandSequences(RedisProgram program) {
        compare(program, FIRST_SEED + FEW, SEQUENCES - FEW);
    }

    private void compare(RedisProgram program, long firstSeed, int sequences) {
        try (RedisServer server = program.start();
                RedisProbe redis = server.probe()) {
            ClockedScripts scripts = new ClockedScripts(redis);
            for (long seed = firstSeed; seed < firstSeed + sequences; seed++) {
                List<LockStep> steps = LockStep.sequence(new Random(seed));
                String failure = failure(server, redis, scripts, steps);
                if (failure != null) {
                    String shorter = failure(server, redis, scripts, shrunk(server, redis, scripts, steps));
                    fail("seed %d on %s:%n%s", seed, server.product(), shorter == null ? failure : shorter);
                }
            }
        }
        assertThat(covered)
                .as("what the sequences reach")
                .containsKeys("GRANTED", "BUSY", "QUEUED", "RELEASED", "GRANTED_NEXT", "NOT_HOLDER", "unlock GRANTED")
                .containsKeys("passed over by GRANTED", "passed over by RELEASED", "message to one passed over before")
                .containsKeys("RENEWED", "left", "left and admitted", "skipped", "grace")
                .containsKeys("expired", "message", "messages", "token", "downgrade GRANTED", "shared", "limited")
                .containsKeys(
                        "given",
                        "taken",
                        "taken again",
                        "taken by another",
                        "taken beside another",
                        "taken before waiters")
                .containsKeys("KEPT", "KEPT beside another", "keep NOT_HOLDER", "keep message")
                .containsKeys("GRANTED beside another", "unlock RELEASED beside another")
                .containsKeys("unlock unswept GRANTED_NEXT", "unlock unswept QUEUED")
                .containsKeys(
                        "as many as may hold",
                        "several RENEWED",
                        "several NOT_HOLDER",
                        "several RENEWED NOT_HOLDER",
                        "several NOT_HOLDER RENEWED");
    }

    /** Drops step after step as long as the rest still fails, until none can be spared. */
    private List<LockStep> shrunk(
            RedisServer server, RedisProbe redis, ClockedScripts scripts, List<LockStep> failing) {
        for (int i = 0; i < failing.size(); i++) {
            List<LockStep> shorter = new ArrayList<>(failing);
            shorter.remove(i);
            if (failure(server, redis, scripts, shorter) != null) {
                return shrunk(server, redis, scripts, shorter);
            }
        }
        return failing;
    }

    private @Nullable String failure(
            RedisServer server, RedisProbe redis, ClockedScripts scripts, List<LockStep> steps) {
        redis.command("FLUSHALL");
        Sequence sequence = new Sequence(server, redis, scripts);
        try {
            steps.forEach(sequence::take);
            return null;
        } catch (AssertionError | RedisProbe.ErrorReply e) {
            return String.join("\n", sequence.trace) + "\n" + e.getMessage();
        } finally {
            sequence.end();
        }
    }

    /** One sequence on its way, on Redis and in the model. */
    private final class Sequence {

        private final RedisServer server;
        private final RedisProbe redis;
        private final Map<String, RedisProbe> listeners = new HashMap<>();
        private final Map<String, String> listenerIds = new HashMap<>();
        private final ClockedScripts scripts;
        private final LockModel model = new LockModel(KEY, CHANNELS, START, MOST_HOLDERS);
        private final ScriptInvariants invariants = new ScriptInvariants(MOST_HOLDERS);
        private final List<Call> calls = new ArrayList<>();
        private final List<String> trace = new ArrayList<>();
        private @Nullable Call last;
        private boolean foreign;
        private long grantedFence;
        private long grantedAt;
        private long agedAt = System.nanoTime(); // the key's TTL was brought in step with the test's clock

        Sequence(RedisServer server, RedisProbe redis, ClockedScripts scripts) {
            this.server = server;
            this.redis = redis;
            this.scripts = scripts;
        }

        void take(LockStep step) {
            trace.add(step.toString());
            List<LockModel.Holder> holders = model.holders();
            String id = step.who() < 0 && !holders.isEmpty()
                    ? holders.get(-step.who() % holders.size()).id()
                    : id(Math.max(0, step.who()));
            LockModel.Holder holder = model.holder(id);
            switch (step.action()) {
                case LISTENS -> listens("s" + step.who(), step.amount() > 0);
                case ACQUIRE, TRY -> call(acquire(id, step.action() == LockStep.Action.ACQUIRE, (int) step.amount()));
                case UNLOCK -> call(unlock(id, used(holder, step.amount()), null));
                case UNLOCK_WITH_NEXT -> call(unlock(id, used(holder, step.amount()), otherThan(id, step.next())));
                case DOWNGRADE ->
                    call(downgrade(id, holder == null ? model.fence() : holder.fence(), used(holder, step.amount())));
                case RENEW -> call(renew(id, holder == null ? model.fence() : holder.fence(), ttl(id) - step.amount()));
                case KEEP -> call(keep(id, holder == null ? model.fence() : holder.fence(), step.amount()));
                case KEEP_WITH_WRONG_TOKEN -> call(keep(id, model.fence() + step.amount(), step.amount()));
                case TRANSFER -> {
                    LockModel.Holder from = step.who() < 0 ? givenOr(holder) : holder;
                    String fromId = from == null ? id : from.id();
                    long fence = from == null ? model.fence() : from.fence();
                    call(transfer(fromId, fence, taker(fromId, step.next()), TTLS[(int) step.amount()]));
                }
                case TRANSFER_WITH_WRONG_NUMBER ->
                    call(transfer(
                            id, model.fence() + step.amount() - 2, taker(id, step.next()), TTLS[(int) step.amount()]));
                case RENEW_WITH_WRONG_TOKEN ->
                    call(renew(id, step.amount() == 0 ? 0 : model.fence() + step.amount(), ttl(id)));
                case RENEW_SEVERAL -> call(renewSeveral(holders, id, (int) step.amount()));
                case LEAVE -> call(unlock(id, 0, null));
                case DUPLICATE -> {
                    if (last != null) {
                        duplicate(last);
                    }
                    return;
                }
                case LATE ->
                    call(calls.isEmpty() ? unlock(id, 0, null) : calls.get((int) step.amount() % calls.size()));
                case FORWARD -> turn(step.amount());
                case BACK -> turn(-step.amount());
                case CROWD_ARRIVES -> {
                    for (int i = 0; i < LockStep.CROWD; i++) {
                        call(acquire(id(LockStep.index(i, step.amount())), true, 1_000));
                    }
                }
                case ONE_KEEPS_POLLING -> {
                    for (long seen = 0; seen <= LockModel.PATIENCE; seen += LockModel.POLL) {
                        turn(1000 * LockModel.POLL - step.amount());
                        call(acquire(id, true, 1_000));
                    }
                }
                case PERSIST -> persist();
                case DELETE -> destroy(false, "DEL", KEY);
                case FLUSH -> destroy(false, "FLUSHALL");
                case REPLACE -> destroy(true, "SET", KEY, "stranger", "PX", Long.toString(FOREIGN_MILLIS));
            }
            last = step.action().isCall && !foreign ? calls.get(calls.size() - 1) : null;
        }

        /** It does so at once: Redis frees a client that it kills before it answers. */
        private void listens(String session, boolean listens) {
            RedisProbe listener = listeners.remove(session);
            if (listener != null) {
                redis.command("CLIENT", "KILL", "ID", listenerIds.remove(session));
                listener.close();
            }
            if (listens) {
                listeners.put(session, server.probe());
                listenerIds.put(session, "" + listeners.get(session).command("CLIENT", "ID"));
                listeners.get(session).command("SUBSCRIBE", CHANNELS + session);
            }
            model.listens(session, listens);
        }

        void end() {
            for (int session = 0; session < 3; session++) {
                listens("s" + session, false);
            }
        }

        private void call(Call call) {
            turn(CALL_MICROS);
            int skippedBefore = model.skipped();
            int gracesBefore = model.graces();
            int unsweptBefore = model.unswept();
            int passedOverBefore = model.passedOver();
            boolean had = model.holder(call.arguments().get(0)) != null;
            StoredLock before = StoredLock.of(model.text());
            Seen seen = foreign ? runOnStrangersKey(call) : run(call);
            invariants.called(call.script(), call.arguments(), seen);
            calls.add(call);
            List<LockModel.Holder> holders = model.holders();
            if (!holders.isEmpty() && holders.get(0).fence() != grantedFence) {
                grantedFence = holders.get(0).fence();
                grantedAt = model.micros();
            }
            String status = (String) seen.reply().get(0);
            cover(status, 1);
            cover("unlock " + status, call.script() == LuaScript.UNLOCK ? 1 : 0);
            boolean takes =
                    call.script() == LuaScript.ACQUIRE && call.arguments().size() > 5;
            boolean downgrades =
                    takes && call.arguments().get(5).equals(call.arguments().get(0));
            if (takes && !downgrades) {
                coverTransfer(call, status, had);
            }
            boolean keeps = call.script() == LuaScript.UNLOCK
                    && call.arguments().size() > 3
                    && call.arguments().get(3).isEmpty();
            cover("keep " + status, keeps ? 1 : 0);
            cover("keep message", keeps ? seen.messages().size() : 0);
            boolean left = call.script() == LuaScript.UNLOCK
                    && status.equals("NOT_HOLDER")
                    && before.queue().stream()
                            .anyMatch(waiter ->
                                    waiter.id().equals(call.arguments().get(0)));
            cover("left", left ? 1 : 0);
            cover("left and admitted", left ? seen.messages().size() : 0);
            cover("downgrade " + status, downgrades ? 1 : 0);
            cover("unlock " + status + " beside another", call.script() == LuaScript.UNLOCK ? holders.size() : 0);
            cover(status + " beside another", holders.size() - 1);
            cover("several " + replies(status), status.contains(",") ? 1 : 0);
            cover("token", status.equals("GRANTED") && seen.reply().size() > 4 ? 1 : 0);
            cover("as many as may hold", holders.size() == MOST_HOLDERS ? 1 : 0);
            cover("shared", holders.stream().anyMatch(holder -> holder.kind().isShared()) ? 1 : 0);
            cover("limited", holders.stream().anyMatch(holder -> holder.kind().permits() > 1) ? 1 : 0);
            cover("message", seen.messages().size());
            before.queue().stream()
                    .filter(waiter -> waiter.passedOver() == PassedOver.BEFORE_IT_ASKED)
                    .filter(waiter -> seen.messages().stream().anyMatch(text -> text.contains(" " + waiter.id() + " ")))
                    .forEach(waiter -> cover("message to one passed over before", 1));
            cover("messages", seen.messages().size() - 1);
            cover("skipped", model.skipped() - skippedBefore);
            cover("passed over by " + status, model.passedOver() - passedOverBefore);
            cover("grace", model.graces() - gracesBefore);
            cover("unlock unswept " + status, call.script() == LuaScript.UNLOCK ? model.unswept() - unsweptBefore : 0);
        }

        private void coverTransfer(Call call, String status, boolean had) {
            boolean granted = status.equals("GRANTED");
            boolean given = call.arguments().get(0).startsWith(GIVEN);
            cover("given", granted && given && !had ? 1 : 0);
            cover("taken", granted && !given && !had ? 1 : 0);
            cover("taken again", granted && !given && had ? 1 : 0);
            cover(
                    "taken by another",
                    !granted && !given && !had && call.arguments().get(5).startsWith(GIVEN) ? 1 : 0);
            cover("taken beside another", granted && !given ? model.holders().size() - 1 : 0);
            cover("taken before waiters", granted && !given && model.hasWaiters() ? 1 : 0);
        }

        /** Which replies are in one for several ids. */
        private static String replies(String all) {
            return Stream.of(all.split(","))
                    .map(reply -> reply.split(" ")[0])
                    .distinct()
                    .collect(Collectors.joining(" "));
        }

        private void duplicate(Call call) {
            int skippedBefore = model.skipped();
            Seen seen = run(call);
            if (model.skipped() == skippedBefore) {
                invariants.calledAgain(call.script(), seen);
            }
            invariants.called(call.script(), call.arguments(), seen);
        }

        private Seen observed(Call call) {
            trace.add("  " + call.arguments());
            Seen seen = scripts.run(call.script(), KEY, call.arguments(), model.micros());
            trace.add("  -> " + seen);
            return seen;
        }

        private Seen runOnStrangersKey(Call call) {
            Seen seen = observed(call);
            ClockedScripts.Stored stored = seen.stored();
            if (seen.reply().get(0).equals("BUSY")) {
                long left = Math.max(stored.ttl(), 0); // looked at later
                assertThat((Long) seen.reply().get(1)).as("reply").isBetween(left, left == 0 ? 0 : FOREIGN_MILLIS);
            } else {
                assertThat(seen.reply().get(seen.reply().size() - 1).toString())
                        .as("reply")
                        .matches("NOT_HOLDER(,NOT_HOLDER)*");
            }
            assertThat(stored.text()).as("a stranger's key").isEqualTo("stranger");
            assertThat(stored.ttl()).as("its TTL").matches(ttl -> ttl == -1 || ttl > FOREIGN_MILLIS / 2);
            assertThat(seen.messages()).as("messages").isEmpty();
            return seen;
        }

        private Seen run(Call call) {
            LockModel.Outcome expected = call.modelled().apply(model);
            Seen seen = observed(call);
            assertThat(seen.reply()).as("reply").isEqualTo(expected.reply());
            assertThat(seen.stored().text()).as("text").isEqualTo(model.text());
            assertThat(seen.messages()).as("messages").isEqualTo(expected.messages());
            if (model.exists() && model.keyTtl() < 0) {
                assertThat(seen.stored().ttl()).as("key TTL").isEqualTo(-1);
            } else if (model.exists()) {
                long passed = (System.nanoTime() - agedAt) / 1_000_000;
                assertThat(seen.stored().ttl())
                        .as("key TTL, %d ms after it was %d at most", passed, model.keyTtl())
                        .isBetween(model.keyTtl() - passed - TTL_SLACK, model.keyTtl() + TTL_SLACK);
            }
            return seen;
        }

        private void turn(long micros) {
            boolean existed = model.exists();
            model.turn(micros);
            if (micros < 0) {
                invariants.clockWentBack();
            }
            if (existed && !model.exists()) {
                redis.command("DEL", KEY);
                invariants.expired();
                cover("expired", 1);
            } else if (existed && model.keyTtl() >= 0 && Math.abs(micros) > CALL_MICROS) {
                agedAt = System.nanoTime();
                scripts.expireIn(KEY, model.keyTtl());
            }
        }

        private void persist() {
            redis.command("PERSIST", KEY);
            model.persist();
            invariants.persisted();
        }

        private void destroy(boolean byStranger, String... command) {
            redis.command(command);
            model.delete();
            invariants.destroyed(model.micros());
            foreign = byStranger;
        }

        /**
         * An exclusive holder hands over at most once in a microsecond; a permit has 64 tokens, and readers have one.
         */
        private long used(LockModel.@Nullable Holder holder, long tokens) {
            if (holder != null && !holder.kind().isExclusive()) {
                return model.tokenOf(holder) + (holder.kind().isShared() ? 0 : tokens % 64);
            }
            return model.fence() + Math.max(0, Math.min(tokens, model.micros() - grantedAt));
        }

        private Call acquire(String id, boolean enqueue, int most) {
            long ttl = ttl(id);
            Kind kind = kind(id);
            List<String> arguments = arguments(id, most, ttl, kind, enqueue ? 1 : 0);
            return new Call(LuaScript.ACQUIRE, arguments, lock -> lock.acquire(id, kind, ttl, enqueue, most));
        }

        private Call unlock(String id, long lastToken, @Nullable String next) {
            long ttl = next == null ? 0 : ttl(next);
            Kind kind = next == null ? Kind.EXCLUSIVE : kind(next);
            List<String> arguments =
                    next == null ? arguments(id, 0, lastToken) : arguments(id, 0, lastToken, next, ttl, kind);
            return new Call(LuaScript.UNLOCK, arguments, lock -> lock.unlock(id, lastToken, next, kind, ttl));
        }

        private Call downgrade(String id, long fence, long lastToken) {
            return new Call(
                    LuaScript.ACQUIRE,
                    arguments(id, 0, 0, Kind.SHARED, 0, id, fence, lastToken),
                    lock -> lock.downgrade(id, fence, lastToken));
        }

        private Call keep(String id, long fence, long stay) {
            List<String> arguments = arguments(id, 0, 0, "", stay, fence);
            return new Call(LuaScript.UNLOCK, arguments, lock -> lock.keep(id, fence, stay));
        }

        /**
         * A hold is given up to an id of nobody, from which three may take it over; or who has another hold asks for
         * it.
         */
        private String taker(String id, int index) {
            boolean holds = model.holder(id(index)) != null && !id(index).equals(id);
            return holds ? id(index) : id.startsWith(GIVEN) ? "taker%d-%d".formatted(index % 3, index(id)) : GIVEN + id;
        }

        private LockModel.@Nullable Holder givenOr(LockModel.@Nullable Holder other) {
            return model.holders().stream()
                    .filter(holder -> holder.id().startsWith(GIVEN))
                    .findFirst()
                    .orElse(other);
        }

        private Call transfer(String id, long fence, String to, long ttl) {
            return new Call(
                    LuaScript.ACQUIRE,
                    arguments(to, 0, ttl, Kind.EXCLUSIVE, 0, id, fence, 0),
                    lock -> lock.transfer(id, fence, to, ttl));
        }

        private Call renew(String id, long token, long ttl) {
            return new Call(
                    LuaScript.RENEW,
                    arguments(id, 0, token, ttl),
                    lock -> lock.renew(List.of(new LockStore.Grant(id, token, ttl))));
        }

        /**
         * Of all holders and one more id.
         *
         * @param wrong bits: the first has another fence; all ask for less than before; another id is asked for, too
         */
        private Call renewSeveral(List<LockModel.Holder> holders, String other, int wrong) {
            List<LockStore.Grant> grants = new ArrayList<>();
            for (LockModel.Holder holder : holders) {
                if (isKeptTwice(holder.id())) {
                    continue;
                }
                grants.add(new LockStore.Grant(
                        holder.id(),
                        holder.fence() + (grants.isEmpty() ? wrong & 1 : 0),
                        ttl(holder.id()) - (wrong & 2) * 250));
            }
            if ((wrong & 4) != 0 || grants.isEmpty()) {
                String id = isKeptTwice(other) ? id(0) : other;
                grants.add(new LockStore.Grant(id, model.fence(), ttl(id)));
            }
            List<String> arguments = arguments(grants.get(0).id(), 0);
            grants.forEach(
                    each -> arguments.addAll(List.of(each.id(), "" + each.grantNumber(), "" + each.ttlMillis())));
            arguments.remove(2);
            return new Call(LuaScript.RENEW, arguments, lock -> lock.renew(grants));
        }

        /** No registry uses an id again, so scripts need not tell such holders apart. */
        private boolean isKeptTwice(String id) {
            return model.holders().stream()
                            .filter(holder -> holder.id().equals(id))
                            .count()
                    > 1;
        }

        private List<String> arguments(String id, int most, Object... more) {
            List<String> arguments = new ArrayList<>(List.of(id, LockModel.settings(CHANNELS, most, MOST_HOLDERS)));
            for (Object argument : more) {
                arguments.add(argument.toString());
            }
            return arguments;
        }

        private String otherThan(String id, int index) {
            return id.equals(id(index)) ? id(index + 1) : id(index);
        }
    }

    /** Three sessions, each with several ids. */
    private static String id(int index) {
        return "s%d-%d".formatted(index % 3, index);
    }

    private static int index(String id) {
        return Integer.parseInt(id.substring(id.lastIndexOf('-') + 1));
    }

    private static long ttl(String id) {
        return TTLS[index(id) % TTLS.length];
    }

    private static Kind kind(String id) {
        return LockStep.kindOf(index(id));
    }

    private void cover(String what, int times) {
        if (times > 0) {
            covered.merge(what, times, Integer::sum);
        }
    }
}
