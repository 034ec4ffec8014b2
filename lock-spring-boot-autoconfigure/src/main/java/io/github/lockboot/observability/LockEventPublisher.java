package io.github.lockboot.observability;

import java.time.Duration;
import java.util.Collection;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.lockboot.LockListener;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockUse;
import org.jspecify.annotations.Nullable;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.PayloadApplicationEvent;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.context.event.GenericApplicationListener;
import org.springframework.context.event.GenericApplicationListenerAdapter;
import org.springframework.context.support.AbstractApplicationContext;
import org.springframework.core.ResolvableType;

/**
 * Publishes {@link LockEvent}s. When the context has been refreshed, it determines for which of them there are listeners, and
 * listens to the registries only if there are any.
 */
public final class LockEventPublisher implements ApplicationListener<ContextRefreshedEvent> {

    private final ApplicationContext context;
    private final Supplier<Collection<LockRegistry>> registries;
    private final AtomicBoolean refreshed = new AtomicBoolean();
    private volatile Set<Class<?>> wanted = Set.of();

    /**
     * @param context where events are published
     * @param registries called once, if there are listeners
     */
    public LockEventPublisher(ApplicationContext context, Supplier<Collection<LockRegistry>> registries) {
        this.context = context;
        this.registries = registries;
    }

    @Override
    public void onApplicationEvent(ContextRefreshedEvent event) {
        if (event.getApplicationContext() != context || refreshed.getAndSet(true)) {
            return; // of a child context, or repeated
        }
        wanted = Stream.of(LockEvent.class.getPermittedSubclasses())
                .filter(this::isWanted)
                .collect(Collectors.toUnmodifiableSet());
        if (!wanted.isEmpty()) {
            registries.get().forEach(registry -> registry.addListener(new Publishing()));
        }
    }

    /** A listener for every event does not count. */
    private boolean isWanted(Class<?> kind) {
        ResolvableType event = ResolvableType.forClassWithGenerics(PayloadApplicationEvent.class, kind);
        ResolvableType any = ResolvableType.forClassWithGenerics(PayloadApplicationEvent.class, Object.class);
        return listeners(context)
                .anyMatch(listener -> listener.supportsEventType(event) && !listener.supportsEventType(any));
    }

    private static Stream<GenericApplicationListener> listeners(@Nullable ApplicationContext context) {
        return context instanceof AbstractApplicationContext known
                ? Stream.concat(
                        known.getApplicationListeners().stream().map(LockEventPublisher::generic),
                        listeners(known.getParent()))
                : Stream.empty();
    }

    private static GenericApplicationListener generic(ApplicationListener<?> listener) {
        return listener instanceof GenericApplicationListener generic
                ? generic
                : new GenericApplicationListenerAdapter(listener);
    }

    private final class Publishing implements LockListener {

        private void publish(LockEvent event) {
            if (wanted.contains(event.getClass())) {
                context.publishEvent(event);
            }
        }

        @Override
        public void acquired(LockUse use, Origin origin, Duration waited) {
            publish(new LockEvent.Acquired(use, origin, waited));
        }

        @Override
        public void notAcquired(LockUse use, Duration waited) {
            publish(new LockEvent.NotAcquired(use, waited));
        }

        @Override
        public void released(LockUse use, Duration held, boolean known) {
            publish(new LockEvent.Released(use, held));
        }

        @Override
        public void lost(LockUse use, Duration held, String reason) {
            publish(new LockEvent.Lost(use, held, reason));
        }

        @Override
        public void stuck(LockUse use, Duration held) {
            publish(new LockEvent.Stuck(use, held));
        }
    }
}
