package io.github.lockboot.aop;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

import io.github.lockboot.LockLostException;
import io.github.lockboot.internal.HeldByThread;
import io.github.lockboot.internal.Logs;
import io.github.lockboot.internal.Mocks;
import io.github.lockboot.internal.Troubleshooting;
import org.apache.commons.logging.Log;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.target.AbstractBeanFactoryBasedTargetSource;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.AbstractBeanFactory;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.util.ClassUtils;

/**
 * Makes every transaction manager of a context, its ancestors and its descendants check the current thread's locks
 * before it commits. If a lock may have been lost, the transaction is rolled back, and its caller gets the
 * {@link LockLostException}. Spring Boot would add a listener only to the managers that it creates itself.
 *
 * <p>Spring does not pass to a {@link BeanPostProcessor} bean the beans that other post-processors and advisors need,
 * nor those of a parent context. So this class adds a post-processor to each bean factory before the first one is
 * created, and checks the singletons that exist by then.
 */
public final class CommitCheck
        implements BeanFactoryPostProcessor,
                SmartInitializingSingleton,
                ApplicationListener<ContextRefreshedEvent>,
                DisposableBean {

    static final String REASON = "detected before commit; the transaction is rolled back";

    private static final Log log = Logs.of(CommitCheck.class);

    /**
     * The checks that are not closed. All of them use the same listener, which is removed when the last one is closed.
     */
    private static final Set<CommitCheck> OPEN = Collections.newSetFromMap(new WeakHashMap<>());

    /** The managers that would keep the class loader of this library, because theirs lives longer. */
    private static final Set<ConfigurableTransactionManager> OUTSIDE = Collections.newSetFromMap(new WeakHashMap<>());

    private final List<Managers> all = new ArrayList<>();

    @Override
    public void postProcessBeanFactory(ConfigurableListableBeanFactory own) {
        opened(this);
        for (AbstractBeanFactory each = factoryOf(own); each != null; each = factoryOf(each.getParentBeanFactory())) {
            all.add(new Managers(each));
        }
        afterSingletonsInstantiated();
    }

    private static @Nullable AbstractBeanFactory factoryOf(@Nullable BeanFactory beans) {
        BeanFactory factory =
                beans instanceof ConfigurableApplicationContext context ? context.getBeanFactory() : beans;
        return factory instanceof AbstractBeanFactory made ? made : null;
    }

    /** No post-processor sees a singleton that the application registers. */
    @Override
    public void afterSingletonsInstantiated() {
        for (Managers each : all) {
            each.checkThoseMade();
        }
    }

    /** A context also publishes its events to its ancestors. A context with a check of its own needs nothing here. */
    @Override
    public void onApplicationEvent(ContextRefreshedEvent event) {
        AbstractBeanFactory factory = factoryOf(event.getApplicationContext());
        if (factory != null && !isChecked(factory)) {
            new Managers(factory).checkThoseMade();
        }
    }

    private static boolean isChecked(AbstractBeanFactory factory) {
        return factory.getBeanPostProcessors().stream().anyMatch(Managers.class::isInstance);
    }

    @Override
    public void destroy() {
        all.forEach(each -> each.factory.getBeanPostProcessors().remove(each));
        closed(this);
    }

    private static synchronized void opened(CommitCheck check) {
        OPEN.add(check);
    }

    private static synchronized void closed(CommitCheck check) {
        OPEN.remove(check);
        if (OPEN.isEmpty()) {
            for (ConfigurableTransactionManager manager : OUTSIDE) {
                List<TransactionExecutionListener> others =
                        new CopyOnWriteArrayList<>(manager.getTransactionExecutionListeners());
                others.remove(Listener.ONLY);
                manager.setTransactionExecutionListeners(others);
            }
            OUTSIDE.clear();
        }
    }

    /** Returns false if the manager accepts no listeners. */
    private static synchronized boolean listenTo(ConfigurableTransactionManager manager) {
        Collection<TransactionExecutionListener> listeners = manager.getTransactionExecutionListeners();
        if (listeners == null) {
            return false; // of a proxy that extends the class of the manager, and has none of its fields
        }
        if (!listeners.contains(Listener.ONLY)) {
            // A transaction may be using that list, or it cannot be modified.
            List<TransactionExecutionListener> more = new CopyOnWriteArrayList<>(listeners);
            more.add(Listener.ONLY);
            manager.setTransactionExecutionListeners(more);
        }
        if (!ClassUtils.isCacheSafe(Listener.class, manager.getClass().getClassLoader())) {
            OUTSIDE.add(manager);
        }
        return manager.getTransactionExecutionListeners().contains(Listener.ONLY);
    }

    /** The transaction managers of one bean factory. It does not refer to the context that needs the check. */
    private static final class Managers implements BeanPostProcessor {

        private final AbstractBeanFactory factory;
        private final Set<String> seen = ConcurrentHashMap.newKeySet();

        /** From now on it checks each manager that is created. */
        Managers(AbstractBeanFactory factory) {
            this.factory = factory;
            factory.addBeanPostProcessor(this);
        }

        @Override
        public Object postProcessAfterInitialization(Object bean, String name) {
            if (bean instanceof PlatformTransactionManager) {
                check(bean, name);
            }
            return bean;
        }

        /** Creates no manager, except one that an existing factory bean returns. */
        void checkThoseMade() {
            for (String name : factory.getSingletonNames()) {
                // A manager that was checked may have been wrapped since.
                if (!seen.contains(name)
                        && factory.isTypeMatch(name, PlatformTransactionManager.class)
                        && factory.isSingleton(name)) {
                    check(factory.getBean(name), name);
                }
            }
        }

        private void check(Object bean, String name) {
            boolean first = seen.add(name);
            if (!isChecked(bean) && first && !Mocks.isMock(bean)) {
                log.warn("Transaction manager '" + name + "' may commit after its thread has lost a lock, because "
                        + bean.getClass().getName() + " does not let a TransactionExecutionListener be added. Let it"
                        + " extend AbstractPlatformTransactionManager, or delegate to transaction managers that are beans,"
                        + " or check the fencing token in its transactions; see "
                        + Troubleshooting.PAGE + "a-transaction-manager-does-not-check-locks");
            }
        }

        private static boolean isChecked(Object bean) {
            Object manager = bean;
            while (manager instanceof Advised proxy) {
                if (proxy.getTargetSource() instanceof AbstractBeanFactoryBasedTargetSource) {
                    return true; // its targets are beans, which are checked when they are created
                }
                manager = AopProxyUtils.getSingletonTarget(proxy);
            }
            return manager instanceof ConfigurableTransactionManager target && listenTo(target);
        }
    }

    /** Loaded with the first manager. */
    private static final class Listener implements TransactionExecutionListener {

        /** One for all managers and contexts. It refers to nothing, and so may stay when a context is closed. */
        static final Listener ONLY = new Listener();

        /**
         * The transaction of the thread that began first. Locks that the thread gives up before its end still count for
         * it.
         */
        private static final ThreadLocal<@Nullable TransactionExecution> OUTERMOST = new ThreadLocal<>();

        @Override
        public void beforeBegin(TransactionExecution transaction) {
            TransactionExecution outermost = OUTERMOST.get();
            if (outermost == null || outermost.isCompleted()) { // not every end is reported
                HeldByThread.ignoreThoseGivenUp();
                OUTERMOST.set(transaction);
            }
        }

        @Override
        public void afterBegin(TransactionExecution transaction, @Nullable Throwable failure) {
            if (failure != null) {
                ended(transaction);
            }
        }

        @Override
        public void beforeCommit(TransactionExecution transaction) {
            RuntimeException lost = HeldByThread.findAnyLoss(REASON);
            if (lost != null) {
                throw lost;
            }
        }

        @Override
        public void afterCommit(TransactionExecution transaction, @Nullable Throwable failure) {
            ended(transaction);
        }

        @Override
        public void afterRollback(TransactionExecution transaction, @Nullable Throwable failure) {
            ended(transaction);
        }

        private static void ended(TransactionExecution transaction) {
            if (OUTERMOST.get() == transaction) {
                OUTERMOST.remove();
            }
        }
    }
}
