package io.github.lockboot.faults;

import java.time.Duration;
import java.util.List;

import io.github.lockboot.faults.Fault.Harm;
import io.github.lockboot.fixture.RedisProbe;

/** Rights that the user of the locks loses while they are used, and gets back. */
final class RightsFaults {

    private static final Duration MEANWHILE = Terms.TTL.multipliedBy(2);

    static final List<Fault<Standalone>> ALL = List.of(
            taken("rights-scripts", "the right to run scripts", "-eval -evalsha", "+eval +evalsha"),
            taken("rights-set", "the right to SET, in scripts too", "-set", "+set"),
            taken("rights-pexpire", "the right to PEXPIRE, in scripts too", "-pexpire", "+pexpire"),
            taken("rights-keys", "the right to all keys", "resetkeys", "allkeys"),
            taken("rights-channels", "the right to all channels", "resetchannels", "allchannels"),
            Fault.of(
                            "rights-user",
                            "the user is disabled and its connections are killed for two leases, then it is enabled again",
                            Standalone::inMemory,
                            scene -> {
                                try (RedisProbe admin = scene.redis().server().probe()) {
                                    admin.command("ACL", "SETUSER", "default", "off");
                                    admin.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
                                    admin.command("CLIENT", "KILL", "TYPE", "pubsub");
                                    scene.pass(MEANWHILE);
                                    admin.command("ACL", "SETUSER", "default", "on");
                                }
                            })
                    .mayHarm(Harm.HOLDS));

    private RightsFaults() {}

    private static Fault<Standalone> taken(String name, String what, String take, String give) {
        return Fault.of(name, what + " is taken from the user for two leases", Standalone::inMemory, scene -> {
                    set(scene, take);
                    scene.pass(MEANWHILE);
                    set(scene, give);
                })
                .mayHarm(Harm.HOLDS);
    }

    private static void set(Scene<Standalone> scene, String rights) {
        scene.redis().command(("ACL SETUSER default " + rights).split(" "));
    }
}
