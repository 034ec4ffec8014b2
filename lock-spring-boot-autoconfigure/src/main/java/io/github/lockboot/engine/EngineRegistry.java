package io.github.lockboot.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

import io.github.lockboot.DistributedLock.Mode;
import io.github.lockboot.DistributedLock.Release;
import io.github.lockboot.Lease;
import io.github.lockboot.LockListener;
import io.github.lockboot.LockLostException;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRuntime;
import io.github.lockboot.NamedLock;
import io.github.lockboot.engine.LockRequest.Transfer;
import io.github.lockboot.internal.Futures;
import io.github.lockboot.internal.LockNames;
import org.jspecify.annotations.Nullable;

/**
 * What every registry of this library does, whatever store its engine has.
 *
 * <p>A lock is held and waited for with what is configured for its group, then with what its caller asks for, then with
 * the registry's defaults, and then with 30 s ttl, 10 s wait time, renewal, and a release that is awaited.
 */
public abstract class EngineRegistry implements LockRuntime {

    private static final LockOptions BUILT_IN = LockOptions.defaults()
            .withTtl(Duration.ofSeconds(30))
            .withWaitTime(Duration.ofSeconds(10))
            .withRenewal()
            .withRelease(Release.AWAIT);

    /** How many may hold a lock at a time, unless the registry is made with another number. */
    protected static final int MAX_HOLDERS = 200;

    private final LockOptions defaults;
    private final Map<String, LockOptions> overrides;
    private final int maxHolders;
    private final List<LockListener> listeners = new ArrayList<>(0);
    private volatile @Nullable LockEngine engine;
    private boolean stopped;
    private boolean closed;

    /**
     * @param defaults for what the caller of a lock leaves open
     * @param overrides what takes precedence over the options of a caller, by {@link LockOptions#group()}
     * @param maxHolders how many may hold a lock at a time
     * @throws IllegalArgumentException if any of them has more permits
     */
    protected EngineRegistry(LockOptions defaults, Map<String, LockOptions> overrides, int maxHolders) {
        this.defaults = defaults.orElse(BUILT_IN);
        this.overrides = Map.copyOf(overrides);
        this.maxHolders = maxHolders;
        requireFewPermits("the defaults of the registry", defaults);
        for (Map.Entry<String, LockOptions> each :
                overrides.entrySet()) { // loads no class of its own at the start, unlike a lambda
            requireFewPermits("lock.locks.[" + each.getKey() + "]", each.getValue());
        }
    }

    /** Each command reads and writes all holders of its lock, so that many would keep the store from all other work. */
    private void requireFewPermits(String whose, LockOptions options) {
        Integer permits = options.permits();
        if (permits != null && permits > maxHolders) {
            throw new IllegalArgumentException("permits of " + whose + " is " + permits + ", and a lock has at most "
                    + maxHolders + " holders; request fewer, or raise lock.max-holders in all instances");
        }
    }

    // --- engine -----------------------------------------------------------------------------------------------

    /** Called once, at the first use: the start of an application can do without loading the engine. */
    protected abstract LockEngine makeEngine();

    /**
     * {@return a function from names to locks of this registry}
     *
     * @param options with nothing left open
     * @param unnamed a request with these options, without a name
     */
    protected abstract Function<String, NamedLock> handles(LockEngine engine, LockOptions options, LockRequest unnamed);

    /** Closes the engine, and what was made with it. Called once at most. */
    protected abstract void close(LockEngine made);

    protected final LockEngine engine() {
        LockEngine made = engine;
        return made != null ? made : makeEngineOnce();
    }

    private LockEngine makeEngineOnce() {
        synchronized (listeners) {
            LockEngine made = engine;
            if (made == null) {
                made = makeEngine();
                for (LockListener listener : listeners) {
                    made.addListener(this, listener);
                }
                engine = made;
                if (closed) {
                    close(made);
                } else if (stopped) {
                    made.stopGranting();
                }
            }
            return made;
        }
    }

    /** {@return the engine; null if nothing has used it yet} */
    protected final @Nullable LockEngine engineIfMade() {
        return engine;
    }

    /** Stops granting locks. {@return as {@link #engineIfMade}} */
    protected final @Nullable LockEngine stop() {
        LockEngine made;
        synchronized (listeners) {
            stopped = true;
            made = engine;
        }
        if (made != null) {
            made.stopGranting();
        }
        return made;
    }

    /** Closes the engine, or has it closed as soon as it is made. */
    protected final void closeOnce() {
        LockEngine made;
        synchronized (listeners) {
            made = closed ? null : engine;
            closed = true;
        }
        if (made != null) {
            close(made);
        }
    }

    @Override
    public void addListener(LockListener listener) {
        synchronized (listeners) {
            if (listeners.stream().anyMatch(known -> known == listener)) {
                return;
            }
            listeners.add(listener);
            LockEngine made = engine;
            if (made != null) {
                made.addListener(this, listener);
            }
        }
    }

    // --- locks ------------------------------------------------------------------------------------------------

    @Override
    public NamedLock get(String name, LockOptions options) {
        return handles("lock '" + LockNames.printable(name) + "'", options).apply(name);
    }

    @Override
    public Function<String, NamedLock> handles(LockOptions options) {
        return handles(whose(options), options);
    }

    private Function<String, NamedLock> handles(String whose, LockOptions options) {
        LockOptions resolved = resolve(whose, options);
        return handles(engine(), resolved, LockRequest.of("", resolved));
    }

    @Override
    public void check(LockOptions options) {
        resolve(whose(options), options);
    }

    private static String whose(LockOptions options) {
        return options.group() == null ? "a lock" : "group '" + options.group() + "'";
    }

    @Override
    public CompletableFuture<Lease> acquireAsync(String name, LockOptions options) {
        return engine().acquireAsync(((EngineLock) get(name, options)).request);
    }

    @Override
    public CompletableFuture<Lease> acquireAsync(NamedLock lock, Duration wait) {
        return engine().acquireAsync(((EngineLock) lock).request.waiting(LockRequest.nanosOf(wait)));
    }

    @Override
    public Lease takeOver(String handedOver, LockOptions options) throws InterruptedException {
        Transfer transfer = Transfer.parse(handedOver);
        LockRequest request = ((EngineLock) get(transfer.name(), options)).request;
        if (request.terms().kind() != transfer.kind()) {
            throw new IllegalArgumentException("the lease of lock '" + LockNames.printable(transfer.name())
                    + "' is held " + transfer.kind().how() + ", and cannot be taken over "
                    + request.terms().kind().how() + ": pass the options it was acquired with");
        }
        try {
            return Futures.await(() -> engine().takeOver(request, transfer));
        } catch (LockNotAcquiredException gone) {
            throw new LockLostException(
                    transfer.name(), transfer.token(), "another call has taken it over, or its lease ran out");
        }
    }

    @Override
    public List<String> holders(String name) {
        return engine().show(LockNames.valid(name)).holders().stream()
                .map(Reply.Holder::id)
                .toList();
    }

    // --- options ----------------------------------------------------------------------------------------------

    /** {@return how many may hold a lock at a time} */
    protected final int maxHolders() {
        return maxHolders;
    }

    /** {@return the options of a lock whose caller asks for nothing} */
    protected final LockOptions defaults() {
        return defaults;
    }

    /** {@return what takes precedence over the options of a caller, by group} */
    protected final Map<String, LockOptions> overrides() {
        return overrides;
    }

    /**
     * Nothing is left open but the group, the longest hold, the mode, the permits, the linger time and the number that
     * may wait.
     */
    private LockOptions resolve(String whose, LockOptions asked) {
        String group = either(asked.group(), defaults.group());
        LockOptions configured = group == null ? null : overrides.get(group);
        if (configured != null
                && configured.permits() != null
                && either(asked.mode(), defaults.mode()) == Mode.SHARED) {
            throw new IllegalArgumentException("lock.locks.[" + group + "].permits is " + configured.permits()
                    + ", and the caller requests mode SHARED; remove the property, or do not request a shared lock");
        }
        LockOptions resolved = (configured == null ? asked : configured.orElse(asked)).orElse(defaults);
        requireFewPermits(whose, resolved);
        return resolved;
    }

    private static <T> @Nullable T either(@Nullable T first, @Nullable T other) {
        return first != null ? first : other;
    }
}
