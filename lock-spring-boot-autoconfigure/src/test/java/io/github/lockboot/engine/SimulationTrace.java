package io.github.lockboot.engine;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What was seen between the engines and Redis, and what engines believed, one line for each step, for the specification
 * to judge. Each line begins with the clock of Redis in microseconds, those of all clients in nanoseconds, and the
 * number of the client:
 *
 * <pre>
 *   acknowledges              its grants have to be acknowledged
 *   listens true              messages reach it from now on, or do not
 *   sent c acquire id ...     a command was sent, with its arguments but for the settings
 *   ran c n reply | old | new its run number n: what it answered, and what the key had before and has after it
 *   answered n                the engine has the answer of that run
 *   told message renewed      the engine has a message of its channel; "fixed" instead if the lease of its id is not renewed
 *   owns id number tokens deadline downgraded
 *   owns no more id ended     what an engine believes, if that has changed; "lost" instead if a hold of it was not released
 *   ends id                   the engine wants nothing more under an id that it has asked for
 *   gives id to number        the engine gives up the hold of an id, for another process to take over
 *   usable id                 the engine has ended it, but a thread may still use its hold
 *   gone id                   the engine has forgotten it
 *   crashed
 *   deleted                   somebody deleted the key
 * </pre>
 */
final class SimulationTrace {

    private final List<String> lines = new ArrayList<>();
    private final Map<String, SimulatedClient> clients = new LinkedHashMap<>();
    private final Map<ScriptedEngine.Call, Integer> commands = new IdentityHashMap<>();
    private final Map<String, String> believed = new HashMap<>();
    private final Set<Hold> usable = new LinkedHashSet<>();
    private final Map<String, Set<String>> registered = new HashMap<>();
    private final Set<String> asked = new HashSet<>();
    private final Set<String> given = new HashSet<>();
    private final SimulatedRedis redis;
    private int runs;

    SimulationTrace(SimulatedRedis redis) {
        this.redis = redis;
    }

    List<String> lines() {
        return lines;
    }

    void joined(SimulatedClient client) {
        clients.put(client.session, client);
    }

    void begins() {
        clients.values().stream()
                .filter(SimulatedClient::isAcknowledging)
                .forEach(each -> add(each.session, "acknowledges"));
    }

    private void add(String session, String what) {
        StringBuilder clocks = new StringBuilder();
        clients.values()
                .forEach(each -> clocks.append(clocks.isEmpty() ? "" : ",")
                        .append(each.engine.context().nanoTime()));
        lines.add(redis.micros() + " " + clocks + " "
                + List.copyOf(clients.keySet()).indexOf(session) + " " + what);
    }

    void sent(String session, ScriptedEngine.Call call) {
        commands.put(call, commands.size());
        add(
                session,
                "sent " + commands.get(call) + " "
                        + SimulatedRedis.describe(call).replace(" " + call.key() + " ", " "));
    }

    /** {@return the number of the run} */
    int ran(String session, ScriptedEngine.Call call, String reply, String before, String after) {
        add(session, "ran " + commands.get(call) + " " + ++runs + " " + reply + " | " + before + " | " + after);
        return runs;
    }

    void answered(String session, int run) {
        add(session, "answered " + run);
    }

    void told(String session, String message) {
        String id = message.substring(0, message.indexOf(' '));
        boolean fixed = clients.get(session)
                .engine
                .names()
                .flatMap(Name::ids)
                .anyMatch(each -> each.text.equals(id) && !each.terms.renew());
        add(session, "told " + message + (fixed ? " fixed" : " renewed"));
    }

    void listens(String session, boolean listens) {
        add(session, "listens " + listens);
    }

    void crashed(String session) {
        add(session, "crashed");
    }

    void deleted() {
        add(clients.keySet().iterator().next(), "deleted");
    }

    /** Called after whatever a client did. */
    void looked(SimulatedClient client) {
        Set<String> owned = new HashSet<>();
        Set<String> known = new LinkedHashSet<>();
        for (Id each : client.engine.names().flatMap(Name::ids).toList()) {
            known.add(each.text);
            Id.Life life = each.life;
            if (life == Id.Life.ASKED_FOR) {
                asked.add(each.text);
            } else if (asked.remove(each.text) && life == Id.Life.ENDING) {
                add(client.session, "ends " + each.text);
            }
            LockRequest.Transfer leftTo = each.leftTo;
            if (leftTo != null && given.add(each.text)) {
                add(client.session, "gives " + each.text + " " + leftTo.id() + " " + each.grantNumber);
            }
            if (each.isHeld()) {
                owned.add(each.text);
                List<Hold> holds = client.engine
                        .names()
                        .flatMap(name -> name.holds().stream())
                        .filter(hold -> hold.acquisitionId().equals(each.text) && hold.lease() != LeaseTime.State.OVER)
                        .toList();
                usable.addAll(holds);
                List<Long> tokens = holds.stream().map(Hold::fencingToken).toList();
                String belief = each.text + " " + each.grantNumber + " "
                        + tokens.toString().replace(" ", "") + " "
                        + each.lease().deadline() + " "
                        + each.downgraded;
                if (!belief.equals(believed.put(each.text, belief))) {
                    add(client.session, "owns " + belief);
                }
            }
        }
        for (String id : List.copyOf(believed.keySet())) {
            if (id.startsWith(client.session + "-") && !owned.contains(id)) {
                believed.remove(id);
                boolean lost = usable.stream()
                        .anyMatch(hold -> hold.acquisitionId().equals(id) && hold.state() == Hold.State.LOST);
                add(client.session, "owns no more " + id + (lost ? " lost" : " ended"));
            }
        }
        usable.removeIf(hold -> !hold.isValid());
        usable.stream()
                .filter(hold -> client.engine.isOurs(hold.acquisitionId()) && !owned.contains(hold.acquisitionId()))
                .forEach(hold -> add(client.session, "usable " + hold.acquisitionId()));
        Set<String> before = registered.put(client.session, known);
        if (before != null) {
            before.stream().filter(id -> !known.contains(id)).forEach(id -> add(client.session, "gone " + id));
        }
    }
}
