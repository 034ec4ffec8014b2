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
 * Publishes what becomes of locks as {@link LockEvent}s. It looks once, when the context has been refreshed, which of them
 * anybody asked for, and listens to the registries only if there are any.
 */
public final class LockEventPublisher implements ApplicationListener<ContextRefreshedEvent> {

    private final ApplicationContext context;
    private final Supplier<Collection<LockRegistry>> registries;
    private final AtomicBoolean refreshed = new AtomicBoolean();
    private volatile Set<Class<?>> wanted = Set.of();

    /**
     * @param context where events go
     * @param registries asked once, when somebody wants to know
     */
    public LockEventPublisher(ApplicationContext context, Supplier<Collection<LockRegistry>> registries) {
        this.context = context;
        this.registries = registries;
    }

    @Override
    public void onApplicationEvent(ContextRefreshedEvent event) {
        if (event.getApplicationContext() != context || refreshed.getAndSet(true)) {
            return; // a child's, or again
        }
        wanted = Stream.of(LockEvent.class.getPermittedSubclasses())
                .filter(this::isWanted)
                .collect(Collectors.toUnmodifiableSet());
        if (!wanted.isEmpty()) {
            registries.get().forEach(registry -> registry.addListener(new Publishing()));
        }
    }

    /** Whoever listens to every event has not asked for this one. */
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

        @Override
        public void acquired(LockUse use, Origin origin, Duration waited) {
            if (wanted.contains(LockEvent.Acquired.class)) {
                context.publishEvent(new LockEvent.Acquired(use, origin, waited));
            }
        }

        @Override
        public void notAcquired(LockUse use, Duration waited) {
            if (wanted.contains(LockEvent.NotAcquired.class)) {
                context.publishEvent(new LockEvent.NotAcquired(use, waited));
            }
        }

        @Override
        public void released(LockUse use, Duration held, boolean known) {
            if (wanted.contains(LockEvent.Released.class)) {
                context.publishEvent(new LockEvent.Released(use, held));
            }
        }

        @Override
        public void lost(LockUse use, Duration held, String reason) {
            if (wanted.contains(LockEvent.Lost.class)) {
                context.publishEvent(new LockEvent.Lost(use, held, reason));
            }
        }

        @Override
        public void stuck(LockUse use, Duration held) {
            if (wanted.contains(LockEvent.Stuck.class)) {
                context.publishEvent(new LockEvent.Stuck(use, held));
            }
        }
    }
}
