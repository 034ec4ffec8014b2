package io.github.lockboot.autoconfigure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Lock;
import java.util.function.Consumer;
import javax.sql.DataSource;

import io.github.lockboot.Actor;
import io.github.lockboot.DistributedLock;
import io.github.lockboot.DistributedLock.Mode;
import io.github.lockboot.Lease;
import io.github.lockboot.LockContext;
import io.github.lockboot.LockListener;
import io.github.lockboot.LockLostException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockTemplate;
import io.github.lockboot.LockUse;
import io.github.lockboot.NamedLock;
import io.github.lockboot.NamedReadWriteLock;
import io.github.lockboot.OwnThread;
import io.github.lockboot.aop.CommitCheck;
import io.github.lockboot.internal.HeldByThread;
import io.github.lockboot.memory.MemoryLockRegistry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.reactive.AbstractReactiveTransactionManager;
import org.springframework.transaction.reactive.GenericReactiveTransaction;
import org.springframework.transaction.reactive.TransactionalOperator;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

/** A thread that has lost a lock commits nothing, however it holds the lock, until it has released it. */
@OwnThread
class CommitCheckTests {

    private static final String NAME = "stock";
    private static final String ROLLED_BACK = "detected before commit; the transaction is rolled back";

    private static final LockOptions BRIEF =
            LockOptions.defaults().withTtl(Duration.ofSeconds(1)).withoutRenewal();
    private static final Duration LONGER_THAN_BRIEF = Duration.ofMillis(1_100);

    private final MemoryLockRegistry registry = new MemoryLockRegistry();
    private final DataSource database = new DriverManagerDataSource("jdbc:h2:mem:commits;DB_CLOSE_DELAY=-1");
    private final JdbcTemplate jdbc = new JdbcTemplate(database);
    private final SlowManager manager = new SlowManager(database);
    private final TransactionTemplate transaction = new TransactionTemplate(manager);
    private final List<Integer> completions = new ArrayList<>();

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(LockAutoConfiguration.class))
            .withBean(MemoryLockRegistry.class, () -> registry)
            .withBean(SlowManager.class, () -> manager)
            .withBean(Ledger.class);

    @BeforeEach
    void createTable() {
        jdbc.execute("create table entry (text varchar(20))");
    }

    @AfterEach
    void shutDown() {
        jdbc.execute("shutdown");
    }

    /** Runs it with the check. */
    private void run(Consumer<Application> test) {
        runner.run(context -> test.accept(
                new Application(registry, context.getBean(LockTemplate.class), context.getBean(Ledger.class))));
    }

    private record Application(MemoryLockRegistry registry, LockTemplate template, Ledger ledger) {

        void locked(Lock lock, Runnable body) {
            lock.lock();
            try {
                body.run();
            } finally {
                lock.unlock();
            }
        }
    }

    /** How the thread holds the lock of that name. */
    enum Held {
        ANNOTATION {
            @Override
            void run(Application application, Runnable body) {
                application.ledger.exclusive(body);
            }
        },
        ANNOTATION_SHARED {
            @Override
            void run(Application application, Runnable body) {
                application.ledger.shared(body);
            }
        },
        ANNOTATION_WITH_PERMITS {
            @Override
            void run(Application application, Runnable body) {
                application.ledger.limited(body);
            }
        },
        ANNOTATION_KEPT {
            @Override
            void run(Application application, Runnable body) {
                application.ledger.kept(body);
            }
        },
        ANNOTATION_OF_A_STAGE {
            @Override
            void run(Application application, Runnable body) {
                application.ledger.stage(body).join();
            }
        },
        ANNOTATION_OF_A_CALL_WITHIN {
            @Override
            void run(Application application, Runnable body) {
                application.locked(
                        application.registry.get("another"),
                        () -> application.ledger.exclusive(() -> {
                            application.locked(application.registry.get(NAME), () -> {});
                            body.run();
                        }));
            }
        },
        TEMPLATE {
            @Override
            void run(Application application, Runnable body) {
                application.template.executeWithoutResult(NAME, body);
            }
        },
        TEMPLATE_OF_A_STAGE {
            @Override
            void run(Application application, Runnable body) {
                application
                        .template
                        .executeAsync(NAME, () -> {
                            body.run();
                            return CompletableFuture.completedFuture(null);
                        })
                        .join();
            }
        },
        FLIGHT {
            @Override
            void run(Application application, Runnable body) {
                application.template.singleFlight(NAME, () -> null, () -> {
                    body.run();
                    return "value";
                });
            }
        },
        LOCK {
            @Override
            void run(Application application, Runnable body) {
                application.locked(application.registry.get(NAME), body);
            }
        },
        REENTRANT_LOCK {
            @Override
            void run(Application application, Runnable body) {
                NamedLock lock = application.registry.get(NAME);
                application.locked(lock, () -> {
                    application.locked(lock, () -> {});
                    body.run();
                });
            }
        },
        ALL_OF_SEVERAL {
            @Override
            void run(Application application, Runnable body) {
                application.locked(application.registry.allOf(List.of("another", NAME, "third")), body);
            }
        },
        READ_SIDE {
            @Override
            void run(Application application, Runnable body) {
                application.locked(application.registry.readWrite(NAME).readLock(), body);
            }
        },
        WRITE_SIDE_THAT_BECAME_A_READ_SIDE {
            @Override
            void run(Application application, Runnable body) {
                NamedReadWriteLock lock = application.registry.readWrite(NAME);
                lock.writeLock().lock();
                lock.readLock().lock();
                lock.writeLock().unlock();
                try {
                    body.run();
                } finally {
                    lock.readLock().unlock();
                }
            }
        };

        abstract void run(Application application, Runnable body);
    }

    private void write(String text) {
        TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
            @Override
            public void afterCompletion(int status) {
                completions.add(status);
            }
        });
        jdbc.update("insert into entry values (?)", text);
    }

    private void commit(String text) {
        transaction.executeWithoutResult(status -> write(text));
    }

    private void lose(String name) {
        assertThat(registry.expire(name)).isTrue();
    }

    private List<String> entries() {
        return new JdbcTemplate(database).queryForList("select text from entry order by text", String.class);
    }

    private static void assertLost(Throwable thrown) {
        assertThat(thrown).isInstanceOf(LockLostException.class).hasMessageContaining(ROLLED_BACK);
    }

    // --- the lock outside, the transaction inside -------------------------------------------------------------

    @ParameterizedTest
    @EnumSource
    void aCommitUnderTheLockIsOne(Held held) {
        run(application -> {
            held.run(application, () -> commit("a"));
            commit("b");
        });
        assertThat(entries()).containsExactly("a", "b");
    }

    @ParameterizedTest
    @EnumSource
    void aCommitAfterTheLossIsRolledBack(Held held) {
        run(application -> {
            Throwable end = catchThrowable(() -> held.run(application, () -> {
                assertLost(catchThrowable(() -> transaction.executeWithoutResult(status -> {
                    write("a");
                    lose(NAME);
                })));
                assertThat(completions).containsExactly(TransactionSynchronization.STATUS_ROLLED_BACK);
            }));
            assertThat(end)
                    .satisfiesAnyOf(
                            thrown -> assertThat(thrown).isInstanceOf(LockLostException.class),
                            thrown -> assertThat(thrown).hasCauseInstanceOf(LockLostException.class));
            commit("b");
        });
        assertThat(entries()).containsExactly("b");
    }

    @ParameterizedTest
    @EnumSource
    void aTransactionThatBeganAfterTheLossIsRolledBack(Held held) {
        run(application -> {
            catchThrowable(() -> held.run(application, () -> {
                lose(NAME);
                assertLost(catchThrowable(() -> commit("a")));
                assertLost(catchThrowable(() -> commit("a")));
            }));
            commit("b");
        });
        assertThat(entries()).containsExactly("b");
    }

    @Test
    void aTransactionOfItsOwnInsideAnotherIsNotCommittedEither() {
        TransactionTemplate anew = new TransactionTemplate(manager);
        anew.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
        run(application -> catchThrowable(() -> Held.LOCK.run(application, () -> {
            assertLost(catchThrowable(() -> transaction.executeWithoutResult(status -> {
                write("a");
                lose(NAME);
                assertLost(catchThrowable(() -> anew.executeWithoutResult(inner -> write("b"))));
            })));
        })));
        assertThat(completions)
                .containsExactly(
                        TransactionSynchronization.STATUS_ROLLED_BACK, TransactionSynchronization.STATUS_ROLLED_BACK);
        assertThat(entries()).isEmpty();
    }

    @Test
    void theEndOfANestedTransactionRollsAllOfItBack() {
        TransactionTemplate nested = new TransactionTemplate(manager);
        nested.setPropagationBehavior(TransactionDefinition.PROPAGATION_NESTED);
        run(application -> assertThatExceptionOfType(UnexpectedRollbackException.class)
                .isThrownBy(() -> transaction.executeWithoutResult(status -> {
                    write("a");
                    NamedLock lock = registry.get(NAME);
                    lock.lock();
                    assertLost(catchThrowable(() -> nested.executeWithoutResult(inner -> {
                        write("b");
                        lose(NAME);
                    })));
                    assertThat(catchThrowable(lock::unlock)).isInstanceOf(LockLostException.class);
                })));
        assertThat(entries()).isEmpty();
    }

    @Test
    void aTransactionThatOnlyReadsFailsToo() {
        TransactionTemplate reading = new TransactionTemplate(manager);
        reading.setReadOnly(true);
        run(application -> catchThrowable(() -> Held.LOCK.run(application, () -> {
            lose(NAME);
            assertLost(catchThrowable(() -> reading.executeWithoutResult(status -> entries())));
        })));
    }

    @Test
    void aTransactionThatIsRolledBackAnywayThrowsNothing() {
        run(application -> catchThrowable(() -> Held.LOCK.run(application, () -> {
            lose(NAME);
            transaction.executeWithoutResult(TransactionStatus::setRollbackOnly);
        })));
    }

    @Test
    void theTransactionsOfOtherThreadsAreCommitted() {
        run(application -> catchThrowable(() -> Held.LOCK.run(application, () -> {
            lose(NAME);
            try (Actor another = new Actor()) {
                another.run(() -> commit("a"));
            } catch (Exception failure) {
                throw new AssertionError(failure);
            }
        })));
        assertThat(entries()).containsExactly("a");
    }

    /** Only a fence refuses that. */
    @Test
    void aLossBetweenTheCheckAndTheCommitIsCommitted() {
        manager.beforeCommit = () -> lose(NAME);
        run(application -> assertThatExceptionOfType(LockLostException.class)
                .isThrownBy(() -> Held.LOCK.run(application, () -> {
                    commit("a");
                    manager.beforeCommit = () -> {};
                })));
        assertThat(entries()).containsExactly("a");
    }

    // --- the transaction outside, the lock inside -------------------------------------------------------------

    @ParameterizedTest
    @EnumSource(names = {"ANNOTATION", "ANNOTATION_SHARED", "ANNOTATION_WITH_PERMITS", "ANNOTATION_KEPT"})
    void aLossAfterTheMethodAndBeforeTheCommitRollsBack(Held held) {
        run(application -> assertLost(catchThrowable(() -> transaction.executeWithoutResult(status -> {
            held.run(application, () -> write("a"));
            lose(NAME);
        }))));
        assertThat(completions).containsExactly(TransactionSynchronization.STATUS_ROLLED_BACK);
        assertThat(entries()).isEmpty();
    }

    @Test
    void aLockThatIsNotReleasedBeforeTheCommitRollsBackIfItWasLost() {
        NamedLock lock = registry.get(NAME);
        run(application -> {
            assertLost(catchThrowable(() -> transaction.executeWithoutResult(status -> {
                lock.lock();
                write("a");
                lose(NAME);
            })));
            assertThat(catchThrowable(lock::unlock)).isInstanceOf(LockLostException.class);
        });
        assertThat(entries()).isEmpty();
    }

    @Test
    void aLockThatWasReleasedBeforeTheCommitIsNoneOfIts() {
        run(application -> transaction.executeWithoutResult(status -> {
            application.template.executeWithoutResult(NAME, () -> write("a"));
            application.locked(registry.get(NAME), () -> write("b"));
            try (Actor another = new Actor()) {
                another.run(() -> {
                    NamedLock lock = registry.get(NAME);
                    lock.lock();
                    lose(NAME);
                });
            } catch (Exception failure) {
                throw new AssertionError(failure);
            }
        }));
        assertThat(entries()).containsExactly("a", "b");
    }

    // --- which holds count ------------------------------------------------------------------------------------

    @Test
    void aHoldThatAnotherThreadReleasedIsNone() throws Exception {
        try (Actor another = new Actor()) {
            run(application -> {
                NamedLock lock = registry.get(NAME);
                lock.lock();
                Lease lease = lock.asLease();
                lose(NAME);
                assertLost(catchThrowable(() -> commit("a")));
                assertThat(catchThrowable(() -> another.run(lease::close))).isInstanceOf(LockLostException.class);
                commit("b");
            });
        }
        assertThat(entries()).containsExactly("b");
    }

    /** How a listener ends the hold of which it is just told. */
    enum EndingListener {
        UNLOCKS {
            @Override
            void end(NamedLock lock, Actor another) {
                lock.unlock();
            }
        },
        HAS_ANOTHER_THREAD_CLOSE_IT {
            @Override
            void end(NamedLock lock, Actor another) throws Exception {
                another.run(lock.asLease()::close);
            }
        };

        abstract void end(NamedLock lock, Actor another) throws Exception;
    }

    @ParameterizedTest
    @EnumSource
    void aHoldThatAListenerEndsAsSoonAsItIsToldOfItIsNone(EndingListener ending) {
        NamedLock lock = registry.get(NAME);
        try (Actor another = new Actor()) {
            registry.addListener(new LockListener() {

                @Override
                public void acquired(LockUse use, Origin origin, Duration waited) {
                    try {
                        ending.end(lock, another);
                    } catch (Exception failure) {
                        throw new AssertionError(failure);
                    }
                }
            });
            run(application -> {
                for (int i = 0; i < 1_000; i++) {
                    lock.lock();
                }
                assertThat(HeldByThread.all()).isEmpty();
                commit("a");
            });
        }
        assertThat(entries()).containsExactly("a");
    }

    @Test
    void locksAreReleasedInAnyOrder() {
        run(application -> {
            List<NamedLock> locks = new ArrayList<>();
            for (String name : List.of("1", "2", "3", "4")) {
                locks.add(registry.get(name));
                registry.get(name).lock();
            }
            locks.get(1).unlock();
            locks.get(3).unlock();
            commit("a");
            lose("1");
            assertLost(catchThrowable(() -> commit("b")));
            assertThat(catchThrowable(locks.get(0)::unlock)).isInstanceOf(LockLostException.class);
            commit("c");
            lose("3");
            assertLost(catchThrowable(() -> commit("d")));
            assertThat(catchThrowable(locks.get(2)::unlock)).isInstanceOf(LockLostException.class);
            commit("e");
        });
        assertThat(entries()).containsExactly("a", "c", "e");
    }

    /** Many release a lock only if they still hold it. */
    @Test
    void aThreadThatAskedAndKnowsOfTheLossCommitsInItsNextTransactionOnly() {
        NamedLock lock = registry.get(NAME);
        run(application -> {
            assertLost(catchThrowable(() -> transaction.executeWithoutResult(status -> {
                lock.lock();
                write("a");
                lose(NAME);
                assertThat(lock.isHeldByCurrentThread()).isFalse();
            })));
            commit("b");
        });
        assertThat(entries()).containsExactly("b");
    }

    /** It worked under the lock, whatever begins and ends inside it. */
    @ParameterizedTest
    @CsvSource({
        "PROPAGATION_REQUIRES_NEW, true, false",
        "PROPAGATION_NESTED, true, false",
        "PROPAGATION_REQUIRED, true, true",
        "PROPAGATION_REQUIRES_NEW, false, false",
        "PROPAGATION_NESTED, false, false",
        "PROPAGATION_REQUIRED, false, true",
    })
    void noTransactionInsideAnotherMakesThatOneForgetTheLoss(String propagation, boolean renewed, boolean another) {
        DataSourceTransactionManager second =
                new DataSourceTransactionManager(new DriverManagerDataSource("jdbc:h2:mem:another"));
        TransactionTemplate inside = new TransactionTemplate(another ? second : manager);
        inside.setPropagationBehaviorName(propagation);
        NamedLock lock = renewed ? registry.get(NAME) : registry.get(NAME, BRIEF);
        runner.withBean("second", DataSourceTransactionManager.class, () -> second)
                .run(context -> {
                    assertThat(catchThrowable(() -> transaction.executeWithoutResult(status -> {
                                lock.lock();
                                write("a");
                                if (renewed) {
                                    lose(NAME);
                                    assertThat(lock.isHeldByCurrentThread()).isFalse();
                                } else {
                                    Actor.pass(LONGER_THAN_BRIEF);
                                }
                                assertLost(catchThrowable(() -> inside.executeWithoutResult(inner -> {})));
                            })))
                            .isInstanceOfAny(LockLostException.class, UnexpectedRollbackException.class);
                    commit("b");
                });
        assertThat(entries()).containsExactly("b");
    }

    /** Spring reports neither the begin nor the end of each. */
    @Test
    void aTransactionThatDidNotBeginOrEndAsItShouldIsOver() {
        NamedLock lock = registry.get(NAME);
        run(application -> {
            manager.beforeBegin = () -> {
                throw new CannotCreateTransactionException("no connection");
            };
            assertThatExceptionOfType(CannotCreateTransactionException.class).isThrownBy(() -> commit("a"));
            manager.beforeBegin = () -> {};
            giveUp(lock);
            commit("b");
            assertThatExceptionOfType(IllegalTransactionStateException.class)
                    .isThrownBy(() -> transaction.executeWithoutResult(status ->
                            TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                                @Override
                                public void beforeCommit(boolean readOnly) {
                                    throw new IllegalTransactionStateException("another resource refuses");
                                }
                            })));
            giveUp(lock);
            commit("c");
        });
        assertThat(entries()).containsExactly("b", "c");
    }

    private void giveUp(NamedLock lock) {
        lock.lock();
        lose(NAME);
        assertThat(lock.isHeldByCurrentThread()).isFalse();
    }

    @ParameterizedTest
    @EnumSource(names = {"ANNOTATION", "TEMPLATE"})
    void whatRunsUnderTheLockCommitsNothingAlsoIfItAsked(Held held) {
        run(application -> catchThrowable(() -> held.run(application, () -> {
            lose(NAME);
            assertThat(registry.get(NAME).isHeldByCurrentThread()).isFalse();
            assertLost(catchThrowable(() -> commit("a")));
        })));
        assertThat(entries()).isEmpty();
    }

    /** Some never release a lock that is not renewed. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aLockThatIsNotRenewedCountsForTheTransactionsThatBeganBeforeItsEnd(boolean before) {
        NamedLock lock = registry.get(NAME, before ? BRIEF : BRIEF.withTtl(Duration.ofSeconds(4)));
        run(application -> {
            lock.lock();
            assertThat(catchThrowable(() -> transaction.executeWithoutResult(status -> {
                        write("a");
                        Actor.pass(before ? LONGER_THAN_BRIEF : Duration.ZERO);
                    })))
                    .satisfies(thrown -> assertThat(thrown != null).isEqualTo(before));
            Actor.await("it is over", () -> !lock.isHeldByCurrentThread());
            commit("b");
        });
        assertThat(entries()).containsExactlyElementsOf(before ? List.of("b") : List.of("a", "b"));
    }

    // --- which transaction managers ---------------------------------------------------------------------------

    @Test
    void withoutTheCheckTheTransactionWouldBeCommitted() {
        DataSourceTransactionManager noBean = new DataSourceTransactionManager(database);
        run(application -> catchThrowable(() -> Held.LOCK.run(application, () -> {
            lose(NAME);
            new TransactionTemplate(noBean).executeWithoutResult(status -> write("a"));
        })));
        assertThat(entries()).containsExactly("a");
    }

    @Test
    void itIsAddedBesideTheListenersOfTheApplicationAndOnlyOnce() {
        TransactionExecutionListener own = new TransactionExecutionListener() {};
        manager.addListener(own);
        run(application -> assertThat(manager.getTransactionExecutionListeners())
                .hasSize(2)
                .startsWith(own));
    }

    /** Its transactions belong to no thread. */
    @Test
    void aReactiveTransactionManagerGetsNone() {
        ReactiveManager reactive = new ReactiveManager();
        runner.withBean(ReactiveManager.class, () -> reactive)
                .run(context ->
                        assertThat(reactive.getTransactionExecutionListeners()).isEmpty());
    }

    /** Neither the lock of a reactive method nor that of a thread is there where it is committed. */
    @Test
    void aReactiveTransactionIsCommittedAfterTheLoss() {
        ReactiveManager reactive = new ReactiveManager();
        Mono<Void> losing =
                Mono.<Void>fromRunnable(() -> lose(NAME)).as(TransactionalOperator.create(reactive)::transactional);
        runner.withBean(ReactiveManager.class, () -> reactive).run(context -> {
            Mono<Void> locked = context.getBean(Ledger.class).reactive(losing);
            assertThat(catchThrowable(locked::block)).isInstanceOf(LockLostException.class);
            assertThat(reactive.commits).isEqualTo(1);
            NamedLock lock = registry.get(NAME);
            lock.lock();
            losing.block();
            assertThat(catchThrowable(lock::unlock)).isInstanceOf(LockLostException.class);
            assertThat(reactive.commits).isEqualTo(2);
        });
    }

    @Test
    void aReactiveTransactionCanAskForItsLockBeforeTheCommit() {
        ReactiveManager reactive = new ReactiveManager();
        Mono<Void> asking = Mono.<Void>fromRunnable(() -> lose(NAME))
                .then(Mono.<Void>deferContextual(
                        locks -> locks.get(LockContext.class).isValid()
                                ? Mono.empty()
                                : Mono.error(new IllegalStateException("rolled back"))))
                .as(TransactionalOperator.create(reactive)::transactional);
        run(application -> assertThat(
                        catchThrowable(() -> application.ledger.reactive(asking).block()))
                .hasMessage("rolled back"));
        assertThat(reactive.commits).isZero();
    }

    @Test
    void aLockThatIsTakenInAReactiveTransactionIsReleasedBeforeTheCommit() {
        ReactiveManager reactive = new ReactiveManager();
        run(application -> application
                .ledger
                .reactive(Mono.fromRunnable(
                        () -> assertThat(registry.get(NAME).isLocked()).isTrue()))
                .then(Mono.fromRunnable(() -> {
                    assertThat(registry.get(NAME).isLocked()).isFalse();
                    assertThat(reactive.commits).isZero();
                }))
                .as(TransactionalOperator.create(reactive)::transactional)
                .block());
        assertThat(reactive.commits).isEqualTo(1);
    }

    @Test
    void whereTransactionsAreAbsentThereIsNone() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(LockAutoConfiguration.class))
                .withBean(MemoryLockRegistry.class)
                .withClassLoader(new FilteredClassLoader(TransactionExecutionListener.class))
                .run(context -> assertThat(context).doesNotHaveBean(CommitCheck.class));
    }

    /** Takes its time between the check and the commit. */
    private static final class SlowManager extends DataSourceTransactionManager {

        private static final long serialVersionUID = 1L;

        private transient Runnable beforeBegin = () -> {};
        private transient Runnable beforeCommit = () -> {};

        SlowManager(DataSource database) {
            super(database);
        }

        @Override
        protected void doBegin(Object begun, TransactionDefinition definition) {
            beforeBegin.run();
            super.doBegin(begun, definition);
        }

        @Override
        protected void doCommit(DefaultTransactionStatus status) {
            beforeCommit.run();
            super.doCommit(status);
        }
    }

    private static final class ReactiveManager extends AbstractReactiveTransactionManager {

        private static final long serialVersionUID = 1L;

        private int commits;

        @Override
        protected Object doGetTransaction(
                org.springframework.transaction.reactive.TransactionSynchronizationManager now) {
            return now;
        }

        @Override
        protected Mono<Void> doBegin(
                org.springframework.transaction.reactive.TransactionSynchronizationManager now,
                Object transaction,
                TransactionDefinition definition) {
            return Mono.empty();
        }

        @Override
        protected Mono<Void> doCommit(
                org.springframework.transaction.reactive.TransactionSynchronizationManager now,
                GenericReactiveTransaction status) {
            return Mono.fromRunnable(() -> commits++);
        }

        @Override
        protected Mono<Void> doRollback(
                org.springframework.transaction.reactive.TransactionSynchronizationManager now,
                GenericReactiveTransaction status) {
            return Mono.empty();
        }
    }

    static class Ledger {

        @DistributedLock(name = NAME)
        public void exclusive(Runnable body) {
            body.run();
        }

        @DistributedLock(name = NAME, mode = Mode.SHARED)
        public void shared(Runnable body) {
            body.run();
        }

        @DistributedLock(name = NAME, permits = "3")
        public void limited(Runnable body) {
            body.run();
        }

        @DistributedLock(name = NAME, keepFor = "1s")
        public void kept(Runnable body) {
            body.run();
        }

        @DistributedLock(name = NAME)
        public Mono<Void> reactive(Mono<Void> body) {
            return body;
        }

        @DistributedLock(name = NAME)
        public CompletableFuture<Void> stage(Runnable body) {
            body.run();
            return CompletableFuture.completedFuture(null);
        }
    }
}
