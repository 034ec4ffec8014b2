package io.github.lockboot.faults;

import java.util.List;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * An outage of Redis, as an application with one client has it.
 *
 * @param name on the command line and in the table
 * @param text the client and how Redis is organized, in words for the table
 * @param client of the application
 * @param servers that go away
 * @param crashing whether Redis runs for a moment meanwhile
 */
record OutageFault(String name, String text, ClientType client, Supplier<Servers> servers, boolean crashing) {

    /** Which client the application has. */
    enum ClientType {
        LETTUCE,
        JEDIS,
        REDISSON
    }

    private static final String EACH = "outage";

    /** In the order of the table. */
    static final List<OutageFault> ALL = List.of(
            new OutageFault("outage-lettuce", "Lettuce, one server", ClientType.LETTUCE, Servers::one, false),
            new OutageFault(
                    "outage-crashes",
                    "the same, and Redis runs for 0.7 s after the first 5 s",
                    ClientType.LETTUCE,
                    Servers::one,
                    true),
            new OutageFault("outage-jedis", "Jedis, one server", ClientType.JEDIS, Servers::one, false),
            new OutageFault(
                    "outage-redisson",
                    "`RedissonConnectionFactory`, one server",
                    ClientType.REDISSON,
                    Servers::one,
                    false),
            new OutageFault(
                    "outage-static",
                    "Lettuce, a master and a replica by their addresses",
                    ClientType.LETTUCE,
                    Servers::replicas,
                    false),
            new OutageFault(
                    "outage-sentinel",
                    "Lettuce, a master, a replica and three Sentinels",
                    ClientType.LETTUCE,
                    Servers::sentinel,
                    false),
            new OutageFault(
                    "outage-cluster",
                    "Lettuce, a Cluster of three masters",
                    ClientType.LETTUCE,
                    Servers::cluster,
                    false));

    /** @param faults names separated by commas, or null for all; {@code outage} is each of these */
    static List<OutageFault> named(@Nullable String faults) {
        return ALL.stream()
                .filter(fault -> faults == null
                        || List.of(faults.split(",")).contains(EACH)
                        || List.of(faults.split(",")).contains(fault.name))
                .toList();
    }

    @Override
    public String toString() {
        return name;
    }
}
