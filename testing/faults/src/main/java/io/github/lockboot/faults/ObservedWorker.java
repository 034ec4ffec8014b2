package io.github.lockboot.faults;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;

import io.github.lockboot.faults.Event.Kind;
import io.github.lockboot.fixture.Await;
import io.github.lockboot.harness.WorkerProcess;

/** The process of a {@link FaultWorker}, whose events are written down and whose log is counted here. */
final class ObservedWorker extends WorkerProcess {

    private static final Path JDK = Path.of(System.getProperty("java.home"));
    private static final List<String> OPTIONS = List.of("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1");

    /** That of this library's processes. The peers', which would say ten thousand times what they find, is off. */
    private static final String LOGGING = "-Dlogback.configurationFile=worker-log.xml";

    private final FaultWorker.Setup setup;
    private final EventLog log;
    private final LoggedBytes logged;
    private volatile boolean closing;

    private ObservedWorker(FaultWorker.Setup setup, EventLog log, LoggedBytes logged) {
        super(
                JDK,
                options(setup.contestant()),
                FaultWorker.class,
                setup.toArgs(),
                line -> log.takes(line) || logged.takes(line));
        this.setup = setup;
        this.log = log;
        this.logged = logged;
    }

    private static List<String> options(Contestant contestant) {
        List<String> options = new ArrayList<>(OPTIONS);
        if (contestant.isOurs()) {
            options.add(LOGGING);
        }
        return options;
    }

    /** Starts one; {@link #awaitReady()} before it is told anything is not needed. */
    static ObservedWorker start(FaultWorker.Setup setup) {
        return new ObservedWorker(setup, new EventLog(), new LoggedBytes(FaultWorker.ANSWERS));
    }

    String name() {
        return setup.name();
    }

    EventLog log() {
        return log;
    }

    /** The first event that matches, once it is there. */
    Event await(Duration atMost, Kind kind, Predicate<Event> which) {
        Await.until(atMost, () -> log.find(kind, which) != null, () -> "no " + kind + " by " + this);
        Event found = log.find(kind, which);
        if (found == null) {
            throw new IllegalStateException("the log was forgotten meanwhile");
        }
        return found;
    }

    /** How much it has logged since it was last told to forget. */
    long loggedBytes() {
        return logged.count();
    }

    /** Forgets what it did and logged, too. */
    @Override
    public void forget() {
        super.forget();
        log.forget();
        logged.forget();
    }

    /** Whether it lives and has not been told to close. */
    boolean isUsable() {
        return !closing && isAlive();
    }

    /** Has it shut down its locks in order; the process stays. */
    void beginClosing() {
        closing = true;
        tell(FaultWorker.AT_ONCE + " close");
    }

    /** With the last thing each of its threads did, for a failure to show. */
    @Override
    public String toString() {
        Map<String, Event> last = new TreeMap<>();
        log.events().forEach(event -> last.put(event.actor(), event));
        return "worker " + name() + " of " + setup.contestant().id() + " (" + super.toString() + ", did last "
                + last.values() + ")";
    }
}
