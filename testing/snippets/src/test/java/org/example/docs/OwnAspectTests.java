package org.example.docs;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.HikariPoolMXBean;
import io.github.lockboot.DistributedLock;
import io.github.lockboot.LockContext;
import io.github.lockboot.LockLostException;
import io.github.lockboot.fixture.Await;
import org.aspectj.lang.ProceedingJoinPoint;
import org.aspectj.lang.annotation.Around;
import org.aspectj.lang.annotation.Aspect;
import org.aspectj.lang.reflect.MethodSignature;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.EnableAspectJAutoProxy;
import org.springframework.context.annotation.Import;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.StandardEvaluationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Component;
import org.springframework.stereotype.Service;
import org.springframework.test.context.TestPropertySource;
import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** What docs/migration/own-aspect.md says of an aspect that many applications have written, on Redisson, and shows. */
@Tag("own-aspect")
@TestPropertySource(
        properties = {
            "spring.datasource.url=jdbc:h2:mem:own-aspect;DB_CLOSE_DELAY=-1",
            "spring.datasource.hikari.maximum-pool-size=2",
            "spring.datasource.hikari.connection-timeout=5000" // ends the deadlock
        })
class OwnAspectTests extends OnRedis {

    @Autowired
    private Campaign campaign;

    @Autowired
    private OwnCoupons own;

    @Autowired
    private Coupons coupons;

    @Autowired
    private CouponsOfBoth both;

    @Autowired
    private JdbcTemplate jdbc;

    @Autowired
    private DataSource database;

    @BeforeEach
    void begin() {
        jdbc.execute("drop table if exists coupon");
        jdbc.execute("create table coupon (id varchar(9) primary key, amount int)");
        jdbc.update("insert into coupon values ('a', 10), ('b', 10)");
    }

    /** Two callers, two connections: each has one, and needs another one. */
    @Test
    void theOwnAspectInsideATransactionUsesUpThePoolAndWaitsForItself() throws Exception {
        expectDeadlock(campaign::own);
    }

    @Test
    void requiresNewBesideTheAnnotationHasTheSameDeadlock() throws Exception {
        expectDeadlock(campaign::anew);
    }

    private void expectDeadlock(Call call) throws Exception {
        List<CompletableFuture<?>> callers = List.of(begin(() -> call.of("a")), begin(() -> call.of("b")));
        HikariPoolMXBean pool = database.unwrap(HikariDataSource.class).getHikariPoolMXBean();
        Await.until(
                "both have a connection and wait for a second one",
                () -> pool.getActiveConnections() == 2 && pool.getThreadsAwaitingConnection() == 2);
        assertThat(callers).noneMatch(CompletableFuture::isDone);
        assertThat(callers)
                .map(caller -> caller.handle((result, failure) -> failure).get(60, TimeUnit.SECONDS))
                .as("the timeout of the pool ends it")
                .anyMatch(CannotCreateTransactionException.class::isInstance);
    }

    private interface Call {

        boolean of(String id) throws Exception;
    }

    @Test
    void theAnnotationInsideATransactionNeedsNoSecondConnection() throws Exception {
        List<CompletableFuture<?>> callers =
                List.of(begin(() -> campaign.locked("a")), begin(() -> campaign.locked("b")));
        for (CompletableFuture<?> caller : callers) {
            caller.get(60, TimeUnit.SECONDS);
        }
        assertThat(left("a") + left("b")).isEqualTo(18);
    }

    @Test
    void theAnnotationWithOneKeyReleasesAfterTheCommitOfTheOuterTransaction() throws Exception {
        List<CompletableFuture<?>> callers =
                List.of(begin(() -> campaign.locked("a")), begin(() -> campaign.locked("a")));
        for (CompletableFuture<?> caller : callers) {
            caller.get(60, TimeUnit.SECONDS);
        }
        assertThat(left("a")).as("nobody read what was not committed").isEqualTo(8);
    }

    @Test
    void theOwnAspectCommitsAfterItsLeaseHasEnded() {
        own.takeSlowly("a", () -> redis("DEL", "LOCK:a"));
        assertThat(left("a")).as("committed, without an exception").isEqualTo(9);
    }

    @Test
    void theAnnotationRollsBackAfterItsLeaseHasEnded() {
        assertThatExceptionOfType(LockLostException.class)
                .isThrownBy(() -> coupons.takeSlowly("a", () -> {
                    redis("DEL", "lock:coupon-slow:a");
                    Await.until("the loss", () -> !LockContext.current().isValid());
                }));
        assertThat(left("a")).isEqualTo(10);
    }

    @Test
    void theOwnParserMakesALockOfNull() {
        own.take(null);
        assertThat(OwnLockAspect.last).isEqualTo("LOCK:null");
        assertThatIllegalArgumentException().isThrownBy(() -> coupons.take(null));
    }

    @Test
    void aReleaseWithBothExcludesInstancesOfBothSides() throws Exception {
        CouponsOfBoth.meanwhile = () -> {
            assertThat(redis("EXISTS", "LOCK:a")).isEqualTo(1L);
            assertThat(redis("EXISTS", "lock:coupon:a")).isEqualTo(1L);
        };
        both.take("a");
        assertThat(left("a")).isEqualTo(9);
    }

    private static CompletableFuture<?> begin(Callable<?> call) {
        CompletableFuture<Object> result = new CompletableFuture<>();
        new Thread(() -> {
                    try {
                        result.complete(call.call());
                    } catch (Throwable failure) {
                        result.completeExceptionally(failure);
                    }
                })
                .start();
        return result;
    }

    private int left(String id) {
        return jdbc.queryForObject("select amount from coupon where id = ?", Integer.class, id);
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @EnableAspectJAutoProxy(proxyTargetClass = true)
    @Import({
        Campaign.class,
        OwnCoupons.class,
        Coupons.class,
        CouponsOfBoth.class,
        OwnLockAspect.class,
        NewTransaction.class
    })
    static class Application {

        @Bean(destroyMethod = "shutdown")
        RedissonClient redisson(
                @Value("${spring.data.redis.host}") String host, @Value("${spring.data.redis.port}") int port) {
            Config config = new Config();
            config.useSingleServer().setAddress("redis://" + host + ":" + port);
            return Redisson.create(config);
        }
    }
}

// tag::own
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@interface OwnLock {

    String key();

    long waitTime() default 5;

    long leaseTime() default 3;
}

@Aspect
@Component
class OwnLockAspect {

    // end::own
    static volatile String last;

    // tag::own
    private final RedissonClient redisson;
    private final NewTransaction transaction;

    OwnLockAspect(RedissonClient redisson, NewTransaction transaction) {
        this.redisson = redisson;
        this.transaction = transaction;
    }

    @Around("@annotation(own)")
    public Object lock(ProceedingJoinPoint call, OwnLock own) throws Throwable {
        String name = "LOCK:" + OwnSpel.value(call, own.key());
        // end::own
        last = name;
        // tag::own
        RLock lock = redisson.getLock(name);
        if (!lock.tryLock(own.waitTime(), own.leaseTime(), TimeUnit.SECONDS)) {
            return false;
        }
        try {
            return transaction.proceed(call);
        } finally {
            try {
                lock.unlock();
            } catch (IllegalMonitorStateException ended) {
                // the lease had ended
            }
        }
    }
}

@Component
class NewTransaction {

    @Transactional(propagation = Propagation.REQUIRES_NEW) // committed before the lock is released
    public Object proceed(ProceedingJoinPoint call) throws Throwable {
        return call.proceed();
    }
}

final class OwnSpel {

    static Object value(ProceedingJoinPoint call, String key) {
        StandardEvaluationContext context = new StandardEvaluationContext();
        String[] names = ((MethodSignature) call.getSignature()).getParameterNames();
        for (int i = 0; i < names.length; i++) {
            context.setVariable(names[i], call.getArgs()[i]);
        }
        return new SpelExpressionParser().parseExpression(key).getValue(context);
    }
}
// end::own

class OwnCoupons {

    private final JdbcTemplate jdbc;

    OwnCoupons(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
    }

    // tag::own-use
    @OwnLock(key = "#id")
    public void take(String id) {
        jdbc.update("update coupon set amount = amount - 1 where id = ?", id);
    }
    // end::own-use

    @OwnLock(key = "#id", leaseTime = 60)
    public void takeSlowly(String id, Runnable meanwhile) {
        jdbc.update("update coupon set amount = amount - 1 where id = ?", id);
        meanwhile.run();
    }
}

class Coupons {

    private final JdbcTemplate jdbc;

    Coupons(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
    }

    // tag::new-use
    @DistributedLock(name = "coupon", key = "#id", waitTime = "5s")
    @Transactional
    public void take(String id) {
        jdbc.update("update coupon set amount = amount - 1 where id = ?", id);
    }
    // end::new-use

    @DistributedLock(name = "coupon-slow", key = "#id", ttl = "1s")
    @Transactional
    public void takeSlowly(String id, Runnable meanwhile) {
        jdbc.update("update coupon set amount = amount - 1 where id = ?", id);
        meanwhile.run();
    }

    @DistributedLock(name = "coupon", key = "#id")
    @Transactional(propagation = Propagation.REQUIRES_NEW)
    public void takeAnew(String id) {
        jdbc.update("update coupon set amount = amount - 1 where id = ?", id);
    }

    @DistributedLock(name = "coupon", key = "#id")
    @Transactional
    public void readAndWrite(String id) {
        int amount = jdbc.queryForObject("select amount from coupon where id = ?", Integer.class, id);
        jdbc.update("update coupon set amount = ? where id = ?", amount - 1, id);
    }
}

class CouponsOfBoth {

    static Runnable meanwhile = () -> {};

    private final JdbcTemplate jdbc;

    CouponsOfBoth(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
    }

    // tag::both
    @DistributedLock(name = "coupon", key = "#id", waitTime = "5s")
    @OwnLock(key = "#id")
    public void take(String id) {
        // end::both
        meanwhile.run();
        // tag::both
        jdbc.update("update coupon set amount = amount - 1 where id = ?", id);
    }
    // end::both
}

/** Calls them inside a transaction, two callers at the same time. */
@Service
class Campaign {

    private static final CyclicBarrier both = new CyclicBarrier(2);

    private final OwnCoupons own;
    private final Coupons coupons;
    private final JdbcTemplate jdbc;

    Campaign(OwnCoupons own, Coupons coupons, JdbcTemplate jdbc) {
        this.own = own;
        this.coupons = coupons;
        this.jdbc = jdbc;
    }

    // tag::outer
    @Transactional
    public boolean own(String id) throws Exception {
        log(id); // has a connection from here on
        // end::outer
        both.await(60, TimeUnit.SECONDS);
        // tag::outer
        own.take(id); // needs a second one, for REQUIRES_NEW
        return true;
    }
    // end::outer

    @Transactional
    public boolean locked(String id) throws Exception {
        log(id);
        both.await(60, TimeUnit.SECONDS);
        coupons.readAndWrite(id);
        return true;
    }

    @Transactional
    public boolean anew(String id) throws Exception {
        log(id);
        both.await(60, TimeUnit.SECONDS);
        coupons.takeAnew(id);
        return true;
    }

    private void log(String id) {
        jdbc.queryForObject("select count(*) from coupon where id = ?", Integer.class, id);
    }
}
