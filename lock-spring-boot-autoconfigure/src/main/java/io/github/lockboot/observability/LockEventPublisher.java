package io.github.lockboot.observability;

import java.time.Duration;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.lockboot.LockListener;
import io.github.lockboot.LockUse;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.PayloadApplicationEvent;
import org.springframework.context.event.GenericApplicationListenerAdapter;
import org.springframework.context.support.AbstractApplicationContext;
import org.springframework.core.ResolvableType;

/** Publishes those {@link LockEvent}s for which the context has listeners. */
public final class LockEventPublisher implements LockListener {

    private final ApplicationContext context;
    private final Set<Class<?>> wanted;

    /** @param context where events are published; its listeners are known by now */
    public LockEventPublisher(ApplicationContext context) {
        this.context = context;
        this.wanted = Stream.of(LockEvent.class.getPermittedSubclasses())
                .filter(event -> hasListener(context, event))
                .collect(Collectors.toSet());
    }

    /** {@return whether the context has a listener for any of these events} */
    public boolean isWanted() {
        return !wanted.isEmpty();
    }

    /** A listener for every event does not count. */
    private static boolean hasListener(@Nullable ApplicationContext context, Class<?> event) {
        if (!(context instanceof AbstractApplicationContext known)) {
            return false;
        }
        for (ApplicationListener<?> made : known.getApplicationListeners()) {
            GenericApplicationListenerAdapter listener = new GenericApplicationListenerAdapter(made);
            if (listener.supportsEventType(payload(event)) && !listener.supportsEventType(payload(Object.class))) {
                return true;
            }
        }
        ConfigurableListableBeanFactory beans = known.getBeanFactory();
        for (String name : beans.getBeanNamesForType(ApplicationListener.class, true, false)) {
            if (!beans.containsSingleton(name)) {
                ResolvableType lazy = beans.getMergedBeanDefinition(name).getResolvableType();
                ResolvableType heard = lazy.as(ApplicationListener.class).getGeneric();
                if (heard.isAssignableFrom(payload(event)) && !heard.isAssignableFrom(payload(Object.class))) {
                    return true;
                }
            }
        }
        return hasListener(known.getParent(), event);
    }

    private static ResolvableType payload(Class<?> type) {
        return ResolvableType.forClassWithGenerics(PayloadApplicationEvent.class, type);
    }

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
