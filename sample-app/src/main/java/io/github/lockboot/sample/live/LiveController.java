package io.github.lockboot.sample.live;

import io.github.lockboot.sample.NeedsLocks;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;

@RestController
@NeedsLocks
class LiveController {

    private final Live live;

    LiveController(Live live) {
        this.live = live;
    }

    /** Server-sent events: {@code snapshot}, four a second, or {@code outage} while Redis is out of reach. */
    @GetMapping(path = "/live", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
    SseEmitter live() {
        return live.open();
    }
}
