package io.github.lockboot.faults;

import java.time.Duration;
import java.util.List;

import io.github.lockboot.faults.Fault.Harm;

/**
 * A password that is rotated while locks are used. The connection factory of each process is behind a class-based
 * proxy, and is replaced by one with the new password.
 */
final class PasswordFaults {

    private static final Duration AWHILE = Duration.ofSeconds(1);

    /** What a process may log meanwhile: that holds are lost, that it cannot log in, and that it can again. */
    private static final long LOG = 100_000;

    static final List<Fault<Standalone>> ALL = List.of(
            Fault.of(
                            "password-rotated",
                            "the user gets another password and its connections are killed; 1 s later the proxied connection factories are"
                                    + " replaced",
                            Standalone::withUser,
                            scene -> {
                                scene.requireLogAtMost(LOG);
                                scene.redis().addPassword();
                                scene.redis().endOldPasswords();
                                scene.pass(AWHILE);
                                refresh(scene);
                            })
                    .mayHarm(Harm.HOLDS)
                    .within(Terms.ONE_LEASE)
                    .only(Contestant.THIS_LIBRARY),
            Fault.of(
                            "password-added",
                            "the user gets a second password, the proxied connection factories are replaced, and 1 s later the first"
                                    + " password ends and all connections are killed",
                            Standalone::withUser,
                            scene -> {
                                scene.requireLogAtMost(LOG);
                                scene.redis().addPassword();
                                refresh(scene);
                                scene.pass(AWHILE);
                                scene.redis().endOldPasswords();
                            })
                    .mayHarm(Harm.HOLDS)
                    .within(Terms.ONE_LEASE)
                    .only(Contestant.THIS_LIBRARY));

    private PasswordFaults() {}

    /** Replaces the factory in each process, and has each use the new one as an application does. */
    private static void refresh(Scene<Standalone> scene) {
        List<ObservedWorker> workers = scene.workers();
        for (int i = 0; i < workers.size(); i++) {
            workers.get(i)
                    .tell(FaultWorker.AT_ONCE + " refresh "
                            + scene.redis().address(i).toWord());
        }
        workers.forEach(worker -> worker.awaitSaid(FaultWorker.REFRESHED, scene.patience()));
    }
}
