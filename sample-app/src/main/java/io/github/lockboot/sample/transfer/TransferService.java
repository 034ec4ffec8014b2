package io.github.lockboot.sample.transfer;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockTemplate;
import io.github.lockboot.MultiLock;
import io.github.lockboot.sample.Money;
import io.github.lockboot.sample.NeedsLocks;
import org.springframework.data.redis.core.HashOperations;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.stereotype.Service;

import static java.util.Objects.requireNonNull;

/** Moves money between two accounts, each with a lock of its own. A transfer needs both. */
@Service
@NeedsLocks
class TransferService {

    /** In the order in which they are shown. */
    static final List<String> MODES = List.of("nested", "all-of");

    private static final String BALANCES = "sample:balances";
    private static final Duration WAIT = Duration.ofSeconds(2);
    private static final Duration WORK = Duration.ofMillis(500);

    private final LockRegistry locks;
    private final LockTemplate template;
    private final StringRedisTemplate redis;
    private final HashOperations<String, String, String> balances;

    TransferService(LockRegistry locks, StringRedisTemplate redis) {
        this.locks = locks;
        this.template = new LockTemplate(locks, WAIT);
        this.redis = redis;
        this.balances = redis.opsForHash();
    }

    /** Opens an account, again if it exists. */
    void open(String account, Money balance) {
        write(account, balance.cents());
        redis.expire(BALANCES, Duration.ofDays(1));
    }

    /** @throws LockNotAcquiredException if one of both locks is taken for too long; nothing has been moved then */
    void transfer(String mode, String from, String to, Money money) throws InterruptedException {
        if (mode.equals("nested")) {
            transferNested(from, to, money);
        } else {
            transferWithBoth(from, to, money);
        }
    }

    /**
     * What not to do: the call decides which lock comes first. One that goes the other way round has the other lock by
     * now.
     */
    private void transferNested(String from, String to, Money money) throws InterruptedException {
        template.execute(lock(from), () -> {
            Thread.sleep(WORK.toMillis());
            return template.execute(lock(to), () -> move(from, to, money));
        });
    }

    /** What to do: whoever needs both takes them in the same order, whatever the call. */
    private void transferWithBoth(String from, String to, Money money) throws InterruptedException {
        MultiLock both = locks.allOf(List.of(lock(from), lock(to)));
        if (!both.tryLock(WAIT.toMillis(), TimeUnit.MILLISECONDS)) {
            throw new LockNotAcquiredException(String.join(", ", both.getNames()), WAIT);
        }
        try {
            Thread.sleep(WORK.toMillis());
            move(from, to, money);
        } finally {
            both.unlock();
        }
    }

    private boolean move(String from, String to, Money money) {
        write(from, read(from) - money.cents());
        write(to, read(to) + money.cents());
        return true;
    }

    /** By account, in the order of their names. */
    Map<String, Money> balances(List<String> accounts) {
        Map<String, Money> all = new LinkedHashMap<>();
        accounts.stream()
                .filter(account -> balances.hasKey(BALANCES, account))
                .forEach(account -> all.put(account, new Money(read(account))));
        return all;
    }

    private long read(String account) {
        return Long.parseLong(requireNonNull(balances.get(BALANCES, account)));
    }

    private void write(String account, long cents) {
        balances.put(BALANCES, account, String.valueOf(cents));
    }

    static String lock(String account) {
        return "transfer:" + account;
    }
}
