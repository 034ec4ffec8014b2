package io.github.lockboot.faults;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

import io.github.lockboot.harness.Contender.Client;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Locks that admit one too many: what those who use them see and do is judged as a run is. */
class PlantedErrorTests {

    private final Witness witness = new Witness();
    private final List<Event> history = new ArrayList<>();
    private int participants;

    @AfterEach
    void stop() {
        witness.close();
    }

    @Test
    void aClientThatCountsOnePermitTooManyIsFound() throws Exception {
        Semaphore oneTooMany = new Semaphore(3);
        Client client = admitting(oneTooMany);
        Participant first = participant(client, 2);
        first.lock();
        Participant second = participant(client, 2);
        second.lock();
        first.work(1);
        assertThat(overlaps()).isEmpty();
        participant(client, 2).lock();
        first.work(1);
        second.work(1);
        assertThat(overlaps())
                .singleElement()
                .asString()
                .contains("overlaps hold " + history.get(0).hold());
    }

    @Test
    void aReaderBesideAWriterIsFoundByTheJudgeAndByTheWitness() throws Exception {
        Client client = admitting(new Semaphore(2));
        Participant writer = participant(client, 1);
        Participant reader = participant(client, Client.UNLIMITED);
        writer.lock();
        reader.lock();
        writer.work(1);
        reader.work(1);
        writer.unlock();
        assertThat(overlaps()).hasSize(1);
        assertThat(witness.account("x").complaints()).hasSize(1);
    }

    private Participant participant(Client client, int limit) {
        return new Participant(
                client, new WitnessClient(witness.port()), "actor-" + participants++, "x", limit, history::add);
    }

    private List<String> overlaps() {
        return HistoryChecker.of(history).overlaps().stream()
                .map(HistoryChecker.Overlap::description)
                .toList();
    }

    /** Whatever the limit, it admits as many as there are permits in the semaphore. */
    private static Client admitting(Semaphore semaphore) {
        return new Client() {

            @Override
            public Lock lock(String name) {
                return new SemaphoreLock(semaphore);
            }

            @Override
            public Lock lock(String name, int limit) {
                return lock(name);
            }
        };
    }

    private record SemaphoreLock(Semaphore semaphore) implements Lock {

        @Override
        public void lock() {
            semaphore.acquireUninterruptibly();
        }

        @Override
        public void lockInterruptibly() throws InterruptedException {
            semaphore.acquire();
        }

        @Override
        public boolean tryLock() {
            return semaphore.tryAcquire();
        }

        @Override
        public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
            return semaphore.tryAcquire(time, unit);
        }

        @Override
        public void unlock() {
            semaphore.release();
        }

        @Override
        public Condition newCondition() {
            throw new UnsupportedOperationException();
        }
    }
}
