package io.github.lockboot.redis.protocol;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import io.github.lockboot.engine.LockStore;
import io.github.lockboot.engine.Reply;
import io.github.lockboot.internal.Futures;
import io.github.lockboot.redis.protocol.RedisFailure.SeveralSlotsException;
import org.jspecify.annotations.Nullable;

/**
 * What one thread asks about several locks, sent by one command for each script. If Redis refuses such a command, each question is sent for
 * itself. If one command cannot be for all of them, each unlock is sent for itself, and the locks are reported as taken: their caller asks
 * again, one after the other.
 */
final class QuestionsTogether {

    /** @param number the ttl to acquire with, or the last token of an unlock */
    record Question(String name, String id, long number, CompletableFuture<Reply> reply) {}

    /** The most locks of one script. Redis serves no other client meanwhile, which is some milliseconds for so many. */
    private static final int MOST = 1_000;

    private final ScriptStore store;
    private final Map<LuaScript, List<Question>> asked = new HashMap<>();

    QuestionsTogether(ScriptStore store) {
        this.store = store;
    }

    CompletableFuture<Reply> add(LuaScript script, String name, String id, long number) {
        CompletableFuture<Reply> reply = new CompletableFuture<>();
        asked.computeIfAbsent(script, s -> new ArrayList<>()).add(new Question(name, id, number, reply));
        return reply;
    }

    /** Never throws: each question has an end. */
    void send() {
        asked.forEach((script, questions) -> {
            try {
                send(script, questions);
            } catch (Throwable notSent) {
                questions.forEach(each -> each.reply.completeExceptionally(notSent));
            }
        });
    }

    private void send(LuaScript script, List<Question> questions) {
        int count = questions.size();
        if (count == 1) {
            sendAlone(questions.get(0), script);
            return;
        }
        CompletableFuture<Reply> sent = count > MOST
                ? CompletableFuture.failedFuture(new SeveralSlotsException())
                : store.run(script, questions);
        sent.whenComplete((all, failure) -> {
            for (int i = 0; i < count; i++) {
                Reply reply = all instanceof Reply.All each && each.replies().size() == count
                        ? each.replies().get(i)
                        : null;
                answer(questions.get(i), script, reply, failure);
            }
        });
    }

    private void answer(Question asked, LuaScript script, @Nullable Reply reply, @Nullable Throwable failure) {
        boolean notSent = failure instanceof SeveralSlotsException;
        if (notSent && script == LuaScript.ACQUIRE_ALL) {
            asked.reply.complete(new Reply.Busy(0));
        } else if (notSent || reply == Reply.Plain.SKIPPED || RedisFailure.isOfSeveralKeys(failure)) {
            sendAlone(asked, script);
        } else {
            Futures.complete(asked.reply, reply, failure);
        }
    }

    private void sendAlone(Question asked, LuaScript script) {
        CompletableFuture<Reply> sent = script == LuaScript.UNLOCK_ALL
                ? store.unlock(asked.name, asked.id, asked.number)
                : store.acquire(asked.name, asked.id, LockStore.EXCLUSIVE, asked.number, false);
        sent.whenComplete((reply, failure) -> Futures.complete(asked.reply, reply, failure));
    }
}
