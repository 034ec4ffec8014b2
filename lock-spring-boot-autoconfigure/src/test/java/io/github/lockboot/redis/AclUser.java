package io.github.lockboot.redis;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.fixture.RedisServerBuilder;

/** A user of Redis that may do what locks need and nothing else; the user {@code default} has a password. */
final class AclUser {

    static final String NAME = "locks";
    static final String PASSWORD = "secret";

    /** The keys and channels of the default prefix; a new user of Redis 6.2 has every channel. */
    static final List<String> REACH = List.of("resetchannels", "~lock:*", "&lock:*");

    /** What the scripts, the channel and, the last one, Lettuce need. */
    static final List<String> COMMANDS = List.of(
            "+evalsha",
            "+eval",
            "+time",
            "+type",
            "+exists",
            "+pttl",
            "+hmget",
            "+hset",
            "+hdel",
            "+del",
            "+pexpire",
            "+publish",
            "+subscribe",
            "+unsubscribe",
            "+ping");

    /** What Lettuce needs to know the nodes of a Cluster, and to follow a slot that is being moved. */
    static final List<String> IN_A_CLUSTER =
            List.of("+cluster|nodes", "+cluster|myid", "+info", "+client|setname", "+asking");

    /** By which Lettuce tells its name and version. Redis knows it since 7.2. */
    static final String INTRODUCTION = "client|setinfo";

    static final List<String> CREDENTIALS =
            List.of("spring.data.redis.username=" + NAME, "spring.data.redis.password=" + PASSWORD);

    private AclUser() {}

    /** Has a server know the user. */
    static RedisServerBuilder addTo(RedisServerBuilder server, List<String> commands) {
        Stream<String> user = Stream.of(
                        Stream.of("--user", NAME, "on", ">" + PASSWORD, "-@all"), REACH.stream(), commands.stream())
                .flatMap(words -> words);
        return server.args("--requirepass", "admin", "--masterauth", "admin").args(user.toArray(String[]::new));
    }

    /** What the user was refused and missed, as {@code reason object}; nobody misses Lettuce's introduction. */
    static List<String> refusals(RedisServer server) {
        return allRefusals(server).stream()
                .filter(refusal -> !refusal.endsWith(" " + INTRODUCTION)
                        && !refusal.equals("command client")) // so Redis 6.2 logs it
                .toList();
    }

    static List<String> allRefusals(RedisServer server) {
        List<?> log = (List<?>) server.command("ACL", "LOG");
        return log.stream()
                .map(entry -> fields((List<?>) entry))
                .filter(entry -> entry.get("username").equals(NAME))
                .map(entry -> entry.get("reason") + " " + entry.get("object"))
                .toList();
    }

    /** The fields of each client of the server that is not the one who asks. */
    static List<String> connections(RedisServer server) {
        return String.valueOf(server.command("CLIENT", "LIST", "TYPE", "normal"))
                .lines()
                .filter(client -> !client.contains("cmd=client"))
                .toList();
    }

    private static Map<Object, Object> fields(List<?> entry) {
        Map<Object, Object> fields = new HashMap<>();
        for (int i = 0; i < entry.size(); i += 2) {
            fields.put(entry.get(i), entry.get(i + 1));
        }
        return fields;
    }
}
