package io.github.lockboot.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.github.lockboot.redis.RedisLockRegistry.Finding;
import io.github.lockboot.redis.protocol.LockStore;
import io.github.lockboot.redis.protocol.LuaScript;
import io.github.lockboot.redis.protocol.Reply;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.Message;
import org.springframework.data.redis.connection.MessageListener;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.ReturnType;
import org.springframework.data.redis.connection.Subscription;
import org.springframework.data.redis.connection.SubscriptionListener;

/**
 * Whether the user of the connection may do what locks do: first every command by itself, which tells what is missing, then
 * every script, then the subscription. The session is one that no registry has, so nobody hears of it.
 */
final class PermissionCheck {

    private static final Pattern DENIED_COMMAND = Pattern.compile("run the '([^']+)' command");
    private static final Pattern DENIED = Pattern.compile("permission|can't (run|access|publish)");

    /** What Redis 6.2 puts before an error of a command in a script. */
    private static final Pattern IN_SCRIPT = Pattern.compile("^@user_script: \\d+: -?");

    private static final String GRANT = "ACL SETUSER <the user of spring.data.redis.username> ";
    private static final long SCRATCH_TTL_MILLIS = 1_000;

    private final Supplier<? extends RedisConnectionFactory> factory;
    private final LockStore store;
    private final Executor workers;
    private final Duration timeout;
    private final String session;

    PermissionCheck(
            Supplier<? extends RedisConnectionFactory> factory,
            LockStore store,
            Executor workers,
            Duration timeout,
            String session) {
        this.factory = factory;
        this.store = store;
        this.workers = workers;
        this.timeout = timeout;
        this.session = session;
    }

    String session() {
        return session;
    }

    /** @param name of a lock that nobody has, and that lies on the server in question */
    void check(String title, RedisConnection connection, String name, List<Finding> findings) {
        Denials denials = new Denials();
        byte[] key = bytes(store.keyOf(name));
        byte[] channel = bytes(store.channelOf(session));
        String sha1 = LuaScript.PROBE.getSha1();
        denials.collect("eval", () -> {
            List<?> failed = connection
                    .scriptingCommands()
                    .eval(bytes(LuaScript.PROBE.getScriptAsString()), ReturnType.MULTI, 1, key, channel);
            for (int i = 0; failed != null && i + 1 < failed.size(); i += 2) {
                denials.add(text(failed.get(i)), text(failed.get(i + 1)));
            }
        });
        denials.collect(
                "evalsha", () -> connection.scriptingCommands().evalSha(sha1, ReturnType.MULTI, 1, key, channel));
        if (denials.isEmpty()) {
            denials.collect("a lock script", () -> runScripts(name));
            connection.keyCommands().del(key);
        }
        denials.report(title, findings);
    }

    /** One lock taken, waited for, renewed, looked at, handed over and given up. */
    private void runScripts(String name) {
        String one = session + "-1";
        String other = session + "-2";
        Reply taken = store.acquire(name, one, SCRATCH_TTL_MILLIS, true).join();
        store.acquire(name, other, SCRATCH_TTL_MILLIS, true).join();
        long token = taken instanceof Reply.Owner owner ? owner.fence() : 0;
        store.renew(name, one, token, SCRATCH_TTL_MILLIS).join();
        store.inspect(name).join();
        store.unlock(name, one, token).join();
        store.cancel(name, other).join();
    }

    void checkSubscription(List<Finding> findings) {
        Denials denials = new Denials();
        denials.collect("subscribe", this::subscribe);
        denials.report("Redis", findings);
    }

    /** Some clients block for as long as they are subscribed. */
    private void subscribe() {
        CompletableFuture<Void> subscribed = new CompletableFuture<>();
        try (RedisConnection connection = factory.get().getConnection()) {
            CompletableFuture.runAsync(
                            () -> connection.subscribe(new Told(subscribed), bytes(store.channelOf(session))), workers)
                    .whenComplete((none, failure) -> {
                        if (failure != null) {
                            subscribed.completeExceptionally(failure);
                        }
                    });
            subscribed.orTimeout(timeout.toNanos(), TimeUnit.NANOSECONDS).join();
            Subscription subscription = connection.getSubscription();
            if (subscription != null) {
                subscription.unsubscribe();
            }
        }
    }

    private record Told(CompletableFuture<Void> subscribed) implements MessageListener, SubscriptionListener {

        @Override
        public void onMessage(Message message, byte @Nullable [] pattern) {}

        @Override
        public void onChannelSubscribed(byte[] channel, long count) {
            subscribed.complete(null);
        }
    }

    /** What was refused on one server, told together. */
    private final class Denials {

        private final Set<String> commands = new LinkedHashSet<>();
        private final Map<String, List<String>> others = new LinkedHashMap<>();
        private boolean keys;
        private boolean channels;

        void collect(String command, Runnable attempt) {
            try {
                attempt.run();
            } catch (RuntimeException failure) {
                add(command, SelfCheck.reasonOf(failure));
            }
        }

        /** Redis words it differently in a script and outside, and in each version. */
        void add(String command, String failure) {
            Matcher named = DENIED_COMMAND.matcher(failure);
            if (failure.startsWith("NOSCRIPT")) {
                return; // EVAL was refused before
            }
            if (!DENIED.matcher(failure).find()) {
                String reason = IN_SCRIPT.matcher(failure).replaceFirst("").strip();
                others.computeIfAbsent(reason, none -> new ArrayList<>()).add(command);
            } else if (failure.contains("channel")) {
                channels = true;
            } else if (failure.contains(" key")) {
                keys = true;
            } else {
                commands.add(named.find() ? named.group(1) : command);
            }
        }

        boolean isEmpty() {
            return commands.isEmpty() && others.isEmpty() && !keys && !channels;
        }

        void report(String title, List<Finding> findings) {
            if (!commands.isEmpty()) {
                findings.add(new Finding(
                        true,
                        title + " does not let us run " + String.join(", ", commands),
                        GRANT + "+" + String.join(" +", commands)));
            }
            if (keys) {
                findings.add(new Finding(
                        true,
                        title + " does not let us use keys that begin with " + store.keyOf(""),
                        GRANT + "~" + store.keyOf("*")));
            }
            if (channels) {
                findings.add(new Finding(
                        true,
                        title + " does not let us use channels that begin with " + store.channelOf("")
                                + ", so waiters only poll",
                        GRANT + "&" + store.channelOf("*")));
            }
            others.forEach((failure, failed) -> findings.add(new Finding(
                    true,
                    title + " did not run " + String.join(", ", failed) + " (" + failure + ")",
                    "see the reason; locks need a master that takes writes")));
        }
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String text(Object word) {
        return word instanceof byte[] bytes ? new String(bytes, StandardCharsets.UTF_8) : String.valueOf(word);
    }
}
