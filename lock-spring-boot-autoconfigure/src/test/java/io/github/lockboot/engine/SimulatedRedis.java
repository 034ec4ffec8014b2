package io.github.lockboot.engine;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

import io.github.lockboot.engine.ScriptedEngine.Call;
import io.github.lockboot.redis.protocol.Kind;
import io.github.lockboot.redis.protocol.LockModel;
import io.github.lockboot.redis.protocol.LuaScript;
import org.jspecify.annotations.Nullable;

/** Redis as {@link LockModel} tells it: runs a script at once and publishes what it has to tell. */
final class SimulatedRedis {

    private static final String CHANNELS = "lock:client:";
    private static final long START_MICROS = 1_800_000_000_000_000L;

    private final SimulatedTime time;
    private final @Nullable Flaw flaw;
    private final Publisher publisher;
    private final Map<String, LockModel> locks = new TreeMap<>();
    private final Map<String, Long> strangers = new TreeMap<>();
    private final Map<String, Set<String>> tracking = new TreeMap<>();
    private final Set<String> listening = new TreeSet<>();
    private @Nullable SimulationTrace trace;
    private @Nullable RealScripts scripts;
    private int traced;
    private long stepMicros;
    private long runs;

    interface Publisher {

        void toSession(String session, String message);

        /** Announces that another has changed the key. */
        void changed(String session, String key);
    }

    /** @param flaw what it does wrong, so that the checks can be checked */
    SimulatedRedis(SimulatedTime time, @Nullable Flaw flaw, Publisher publisher) {
        this.time = time;
        this.flaw = flaw;
        this.publisher = publisher;
    }

    void traceTo(@Nullable SimulationTrace traced) {
        trace = traced;
    }

    /** From now on the scripts run in place of the model. */
    void runOn(@Nullable RealScripts real) {
        scripts = real;
    }

    /** The number of the last run in the trace. */
    int lastRun() {
        return traced;
    }

    Reply run(Call call) {
        String key = call.key();
        LockModel lock = lock(key);
        runs++;
        if (flaw == Flaw.REDIS_FORGETS && runs % 20 == 0) {
            lock.delete();
        }
        String before = text(key);
        LockModel.Outcome outcome = isStrangers(key) ? refused(call, strangers.get(key)) : run(lock, call);
        String after = text(key);
        if (!before.equals(after)) {
            changed(key, sessionOf(call));
        }
        if (call.script() == LuaScript.RENEW
                && lock.holders().stream().noneMatch(each -> each.kind().permits() > 0)) {
            tracking.computeIfAbsent(key, k -> new TreeSet<>()).add(sessionOf(call));
        }
        if (flaw == Flaw.KEYS_STAY) {
            lock.persist();
        }
        String line = outcome.reply().stream().map(Object::toString).collect(Collectors.joining(" "));
        if (trace != null) {
            traced = trace.ran(sessionOf(call), call, line, before, after);
        }
        time.trace(() -> "redis: " + describe(call) + " -> " + line + " " + outcome.messages());
        for (String message : outcome.messages()) {
            publish(message.substring(0, message.indexOf(' ')), message.substring(message.indexOf(' ') + 1));
        }
        return flaw == Flaw.TOKENS_REPEAT ? withOldToken(Reply.parse(line)) : Reply.parse(line);
    }

    private String text(String key) {
        return scripts == null ? lock(key).text() : scripts.text(key, micros());
    }

    private LockModel lock(String key) {
        LockModel lock = locks.computeIfAbsent(key, this::newLock);
        lock.turn(micros() - lock.micros());
        return lock;
    }

    private LockModel newLock(String key) {
        LockModel lock = new LockModel(key, CHANNELS, micros());
        lock.shareListeners(listening);
        return lock;
    }

    /** Messages reach the session from now on, or do not. */
    void listens(String session, boolean listens) {
        boolean changes = listens ? listening.add(session) : listening.remove(session);
        if (changes && trace != null) {
            trace.listens(session, listens);
        }
    }

    /** How many waiters were passed over. */
    int passedOver() {
        return locks.values().stream().mapToInt(LockModel::passedOver).sum();
    }

    private void publish(String channel, String message) {
        publisher.toSession(channel.substring(CHANNELS.length()), message);
    }

    private static String sessionOf(Call call) {
        String id = argument(call, 0);
        return id.substring(0, id.lastIndexOf('-'));
    }

    /** Announces it to those who have renewed the lock since its last change, but not to the one who changed it. */
    private void changed(String key, @Nullable String by) {
        Set<String> tracked = tracking.remove(key);
        if (tracked != null) {
            tracked.stream().filter(session -> !session.equals(by)).forEach(session -> publisher.changed(session, key));
        }
    }

    /** Somebody deletes the key. */
    void delete(String key) {
        lock(key).delete();
        if (scripts != null) {
            scripts.delete(key);
        }
        if (trace != null) {
            trace.deleted();
        }
        changed(key, null);
    }

    /** A connection has gone. */
    void forget(String session) {
        tracking.values().forEach(sessions -> sessions.remove(session));
    }

    /** Somebody who does not know this library sets the key, if there is none. */
    boolean setByStranger(String key, long ttlMicros) {
        if (lock(key).exists() || isStrangers(key)) {
            return false;
        }
        strangers.put(key, micros() + ttlMicros);
        changed(key, null);
        return true;
    }

    private boolean isStrangers(String key) {
        Long until = strangers.get(key);
        return until != null && micros() < until;
    }

    private LockModel.Outcome refused(Call call, long until) {
        LuaScript script = call.script();
        List<Object> reply = script == LuaScript.ACQUIRE && call.arguments().length < 6
                ? List.of("BUSY", (until - micros()) / 1_000)
                : List.of("NOT_HOLDER");
        return new LockModel.Outcome(reply, List.of());
    }

    private LockModel.Outcome run(LockModel lock, Call call) {
        if (scripts != null) {
            return scripts.run(call, micros());
        }
        String id = argument(call, 0);
        LuaScript script = call.script();
        if (script == LuaScript.ACQUIRE && call.arguments().length > 5) {
            String from = argument(call, 5);
            return from.equals(id)
                    ? lock.downgrade(id, number(call, 6), number(call, 7))
                    : lock.transfer(from, number(call, 6), id, number(call, 2));
        } else if (script == LuaScript.ACQUIRE) {
            return lock.acquire(
                    id, kind(call, 3), number(call, 2), argument(call, 4).equals("1"), most(call));
        } else if (script == LuaScript.UNLOCK) {
            List<LockModel.Holder> holders = lock.holders();
            String whose = flaw == Flaw.ANYBODY_UNLOCKS && !holders.isEmpty()
                    ? holders.get(0).id()
                    : id;
            if (call.arguments().length < 4) {
                return lock.unlock(whose, number(call, 2), null, Kind.EXCLUSIVE, 0);
            }
            return argument(call, 3).isEmpty()
                    ? lock.keep(id, number(call, 5), number(call, 4))
                    : lock.unlock(whose, number(call, 2), argument(call, 3), kind(call, 5), number(call, 4));
        } else if (script == LuaScript.RENEW) {
            return lock.renew(grants(call));
        }
        throw new IllegalArgumentException("no model of " + describe(call));
    }

    /** The id comes before the settings; those of others come after the first ttl. */
    private static List<LockStore.Grant> grants(Call call) {
        List<LockStore.Grant> grants = new ArrayList<>();
        for (int i = 2; i < call.arguments().length; i += 3) {
            String id = argument(call, i > 2 ? i - 1 : 0);
            grants.add(new LockStore.Grant(id, number(call, i), number(call, i + 1)));
        }
        return grants;
    }

    private static Reply withOldToken(Reply reply) {
        return reply instanceof Reply.Granted owner
                ? new Reply.Granted(1, owner.leaseMillis(), owner.waiters())
                : reply;
    }

    /** Its clock is set, forward or back. */
    void stepClock(long micros) {
        stepMicros += micros;
    }

    /** Whether an id holds the lock or waits for it. */
    boolean isInUse(String key) {
        LockModel lock = lock(key);
        return lock.hasWaiters() || lock.holders().stream().anyMatch(holder -> holder.until() > micros() / 1_000);
    }

    /** Keys that lie there. */
    Map<String, String> keys() {
        Map<String, String> keys = new TreeMap<>();
        for (String key : locks.keySet()) {
            String text = text(key);
            if (!text.isEmpty()) {
                keys.put(key, text);
            }
        }
        return keys;
    }

    long micros() {
        return START_MICROS + stepMicros + time.now() / 1_000;
    }

    static String describe(Call call) {
        StringBuilder text = new StringBuilder(ScriptedEngine.SCRIPTS.get(call.script()))
                .append(' ')
                .append(call.key());
        text.append(' ').append(argument(call, 0));
        for (int i = 2; i < call.arguments().length; i++) {
            text.append(' ').append(argument(call, i));
        }
        return text.toString();
    }

    private static Kind kind(Call call, int index) {
        return new Kind((int) number(call, index));
    }

    private static int most(Call call) {
        return Integer.parseInt(argument(call, 1).split(" ")[2]);
    }

    private static long number(Call call, int index) {
        return Long.parseLong(argument(call, index));
    }

    private static String argument(Call call, int index) {
        return text(call.arguments()[index]);
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    /** Ways to be wrong that a simulation must notice. */
    enum Flaw {
        REDIS_FORGETS,
        ANYBODY_UNLOCKS,
        TOKENS_REPEAT,
        KEYS_STAY,
        COMMANDS_NEVER_TIME_OUT,
        CLOCKS_RUN_SLOW,
        SLEEP_IS_NOT_NOTICED
    }
}
