package io.github.lockboot.sample.live;

import java.io.IOException;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;

import org.springframework.http.MediaType;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;

/** One open page. A slow page misses snapshots and does not delay others. */
final class LivePage {

    private final SseEmitter emitter = new SseEmitter(0L);
    private final AtomicBoolean sending = new AtomicBoolean();
    private final Executor sender;
    private volatile Runnable onEnd = () -> {};

    LivePage(Executor sender) {
        this.sender = sender;
    }

    SseEmitter emitter() {
        // The browser reports the stream as open only after it has received something.
        send(SseEmitter.event().comment("open"));
        return emitter;
    }

    void onEnd(Runnable action) {
        onEnd = action;
        emitter.onCompletion(action);
    }

    void send(String event, Object data) {
        if (sending.compareAndSet(false, true)) {
            sender.execute(() -> {
                try {
                    send(SseEmitter.event().name(event).data(data, MediaType.APPLICATION_JSON));
                } finally {
                    sending.set(false);
                }
            });
        }
    }

    void close() {
        emitter.complete();
    }

    private void send(SseEmitter.SseEventBuilder event) {
        try {
            emitter.send(event);
        } catch (IOException | IllegalStateException gone) {
            onEnd.run();
        }
    }
}
