package io.github.lockboot.sample.live;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import io.github.lockboot.sample.NeedsLocks;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;

/**
 * Four times a second, publishes the state of this instance, starts and stops loads as ordered, and sends a snapshot to
 * every page that is open here.
 */
@RestController
@NeedsLocks
class Live {

    private static final Logger log = LoggerFactory.getLogger(Live.class);
    private static final Duration PULSE = Duration.ofMillis(250);
    private static final Duration WAITS_SHOWN = Duration.ofSeconds(2);

    private final Instances instances;
    private final Loads loads;
    private final LockReader locks;
    private final Waits waits;
    private final EventLog events;
    private final SecondInstance second;
    private final List<Scenario> scenarios;
    private final Set<LivePage> pages = ConcurrentHashMap.newKeySet();
    private final ScheduledExecutorService pulse = Executors.newSingleThreadScheduledExecutor();
    private final ExecutorService senders = Executors.newCachedThreadPool();
    private volatile boolean closed;

    Live(
            Instances instances,
            Loads loads,
            LockReader locks,
            Waits waits,
            EventLog events,
            SecondInstance second,
            List<Scenario> scenarios) {
        this.instances = instances;
        this.loads = loads;
        this.locks = locks;
        this.waits = waits;
        this.events = events;
        this.second = second;
        this.scenarios = scenarios;
    }

    /**
     * Server-sent events for one page, until it is closed there or the application stops: {@code snapshot}, four a
     * second, or {@code outage} while Redis is out of reach.
     */
    @GetMapping(path = "/live", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
    SseEmitter open() {
        LivePage page = new LivePage(senders);
        page.onEnd(() -> pages.remove(page));
        pages.add(page);
        if (closed) {
            page.close();
        }
        return page.emitter();
    }

    @EventListener(ApplicationReadyEvent.class)
    void start() {
        pulse.scheduleWithFixedDelay(this::beat, 0, PULSE.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Runs before the web server waits for its last requests, since an open page would be one of them. */
    @EventListener(ContextClosedEvent.class)
    void stop() {
        closed = true;
        pulse.shutdownNow();
        pages.forEach(LivePage::close);
        senders.shutdown();
    }

    private void beat() {
        try {
            instances.publish();
            loads.follow();
            waits.publish();
            if (!pages.isEmpty()) {
                Map<String, Object> snapshot = snapshot();
                pages.forEach(page -> page.send("snapshot", snapshot));
            }
        } catch (RuntimeException failure) {
            // Most likely Redis is out of reach: the next beat tries again.
            log.debug("No snapshot", failure);
            pages.forEach(page -> page.send("outage", Map.of()));
        }
    }

    /** All that the page shows at one moment. */
    private Map<String, Object> snapshot() {
        List<Instances.Instance> all = instances.all();
        Map<String, String> names =
                all.stream().collect(Collectors.toMap(Instances.Instance::session, Instances.Instance::name));
        List<LockReader.LockView> views = new ArrayList<>();
        Map<String, Object> states = new TreeMap<>();
        for (Scenario scenario : scenarios) {
            for (String lock : scenario.locks()) {
                views.add(locks.read(scenario.name(), lock, session -> names.getOrDefault(session, "?")));
            }
            states.put(scenario.name(), Map.of("running", loads.isRunning(scenario.name()), "state", scenario.state()));
        }
        return Map.of(
                "instance",
                instances.name(),
                "instances",
                all,
                "locks",
                views,
                "scenarios",
                states,
                "waits",
                waits.since(WAITS_SHOWN),
                "events",
                events.newest(),
                "second",
                second.command());
    }
}
