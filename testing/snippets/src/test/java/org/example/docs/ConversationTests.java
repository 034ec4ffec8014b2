package org.example.docs;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.Lease;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.fixture.Await;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.stereotype.Service;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** What docs/recipes.md shows of the turns of a conversation. */
class ConversationTests extends OnRedis {

    private static final Duration LONG = Duration.ofSeconds(60);

    @Autowired
    private Conversations conversations;

    @Autowired
    private Model model;

    @Autowired
    private History history;

    @Test
    void eachTurnSeesTheTurnsBeforeIt() {
        List<Mono<List<String>>> turns = new ArrayList<>();
        for (String message : List.of("a", "b", "c")) {
            turns.add(conversations.answer("1", message).collectList());
        }
        Flux.merge(turns).collectList().block(LONG); // subscribes in this order
        assertThat(history.of("1")).containsExactly("a: after 0", "b: after 1", "c: after 2");
        assertThat(model.most).hasValue(1);
    }

    @Test
    void aUserWhoLeavesEndsTheTurn() throws Exception {
        Disposable reading = conversations.answer("2", "never ends").subscribe();
        assertThat(model.endless.await(60, TimeUnit.SECONDS)).isTrue();
        reading.dispose();
        Await.until("the lock is free", () -> !registry.get("conversation:2").isLocked());
        assertThat(history.of("2")).isEmpty();
        assertThat(conversations.answer("2", "hello").collectList().block(LONG)).containsExactly("after ", "0");
    }

    @Test
    void whoSendsMoreThanMayWaitIsRefused() throws Exception {
        try (Lease turn = anotherInstance().acquire("conversation:3", ONCE)) {
            List<Disposable> waiting = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                waiting.add(conversations.answer("3", "m" + i).subscribe());
            }
            assertThatExceptionOfType(LockNotAcquiredException.class)
                    .isThrownBy(() -> conversations.answer("3", "one more").blockLast(LONG));
            assertThat(turn.isValid()).isTrue();
            waiting.forEach(Disposable::dispose);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import({Conversations.class, Model.class, History.class})
    static class Application {}
}

class Model {

    final AtomicInteger most = new AtomicInteger();
    final CountDownLatch endless = new CountDownLatch(1);
    private final AtomicInteger running = new AtomicInteger();

    Flux<String> stream(List<String> before, String message) {
        if (message.equals("never ends")) {
            return Flux.<String>never().doOnSubscribe(subscribed -> endless.countDown());
        }
        return Flux.just("after ", String.valueOf(before.size()))
                .delayElements(Duration.ofMillis(20))
                .doOnSubscribe(begins -> most.accumulateAndGet(running.incrementAndGet(), Math::max))
                .doOnTerminate(running::decrementAndGet);
    }
}

class History {

    private final Map<String, List<String>> turns = new ConcurrentHashMap<>();

    List<String> of(String conversation) {
        return List.copyOf(turns.getOrDefault(conversation, List.of()));
    }

    void add(String conversation, String message, String answer) {
        turns.computeIfAbsent(conversation, first -> Collections.synchronizedList(new ArrayList<>()))
                .add(message + ": " + answer);
    }
}

// tag::conversation
@Service
class Conversations {

    private final Model model;
    private final History history;

    Conversations(Model model, History history) {
        this.model = model;
        this.history = history;
    }

    @DistributedLock(name = "conversation", key = "#id", waitTime = "2m", maxWaiting = "3")
    public Flux<String> answer(String id, String message) { // locked until the stream ends or the client leaves
        return Flux.defer(() -> {
                    StringBuilder answer = new StringBuilder();
                    return model.stream(history.of(id), message)
                            .publishOn(Schedulers.boundedElastic())
                            .doOnNext(answer::append)
                            .doOnComplete(() -> history.add(id, message, answer.toString())); // under the lock
                })
                .subscribeOn(Schedulers.boundedElastic()); // the history may block
    }
}
// end::conversation
