------------------------------------ MODULE Lock ------------------------------------
(* The protocol on one lock: what the scripts do to the one key, what a client (one registry, one JVM) believes, and a     *)
(* network that delays, loses, repeats and reorders whatever it carries. A message that is lost is one that stays in the   *)
(* network for ever; a command that runs twice is one that stays there after it ran.                                       *)
(*                                                                                                                         *)
(* Time is relative: leases count down and messages age, one tick at a time, so no behaviour ends at a horizon. A client's *)
(* clock may lose Skew ticks, and a client takes Drift off every lease for it. A paused client is one that does nothing.   *)
(*                                                                                                                         *)
(* Mutant names one rule that is broken on purpose; "none" is the protocol as it is.                                       *)
EXTENDS Naturals, Sequences, FiniteSets, TLC

CONSTANTS
    Clients,
    Ttl,            \* the whole lease, in ticks
    Claim,          \* the lease that comes with a pushed grant
    Drift,          \* what a client takes off each lease
    Skew,           \* ticks a client's clock may lose
    Locals,         \* tokens per grant: that many holds in a row without asking Redis
    MaxIds,         \* acquisitions per client
    MaxFence,       \* bounds the number of grants
    MaxInFlight,    \* messages per client
    MaxDups,        \* deliveries beyond the first, of commands and of pushes
    MaxCrashes,
    Prompt,         \* TRUE: time passes only when nothing is on the wire, and what is lost is counted
    MaxLosses,      \* if Prompt
    MaxDepth,       \* steps looked at
    Mutant

VARIABLES
    r,              \* Redis: owner, left (of its lease), fence, queue
    net,            \* commands, replies and pushes under way
    cl,             \* clients
    newest,         \* history: the largest token under which anybody began to believe it holds
    faults          \* deliveries repeated, clients crashed, messages lost

vars == <<r, net, cl, newest, faults>>

None == <<>>                    \* no id; an id is <<client, number>>
Max(a, b) == IF a > b THEN a ELSE b
Min(a, b) == IF a < b THEN a ELSE b
Minus(a, b) == IF a > b THEN a - b ELSE 0

Commands == {"acquire", "unlock", "renew", "cancel"}

\* --- the scripts -----------------------------------------------------------------------------------------------------

\* What a script makes of the state, with the messages it sends.
State == [owner |-> r.owner, left |-> r.left, fence |-> r.fence, queue |-> r.queue, out |-> {}]

Own(s, id, lease) == [s EXCEPT !.owner = id, !.left = lease, !.fence = @ + 1]

\* The first in the queue gets the lock: its whole lease if this script's reply tells it, else a claim lease and a push.
Grant(s, reader) ==
    LET free == [s EXCEPT !.owner = None, !.left = 0] IN
    IF s.queue = <<>> THEN free
    ELSE LET id == Head(s.queue)
             g == Own([free EXCEPT !.queue = Tail(@)], id, IF id = reader THEN Ttl ELSE Claim)
         IN IF id = reader THEN g
            ELSE [g EXCEPT !.out = {[k |-> "push", id |-> id, fence |-> g.fence, lease |-> g.left]}]

Settled(reader) ==
    IF r.owner # None /\ r.left = 0 THEN Grant([State EXCEPT !.fence = @ + Locals - 1], reader) ELSE State

IsQueued(s, id) == \E i \in 1..Len(s.queue) : s.queue[i] = id

Enqueued(s, id) == IF IsQueued(s, id) THEN s ELSE [s EXCEPT !.queue = Append(@, id)]

Answered(s, reply) == [s EXCEPT !.out = @ \union {reply}]

OwnerOrQueued(s, id, lease, age) ==
    Answered(s, IF s.owner = id
                THEN [k |-> "owner", id |-> id, fence |-> s.fence, lease |-> lease, age |-> age]
                ELSE [k |-> "queued", id |-> id, fence |-> s.fence, age |-> age])

Acquire(m) ==
    LET s == Settled(m.id)
        t == IF s.owner = m.id THEN [s EXCEPT !.left = IF Mutant = "reacquire-unrenewed" THEN @ ELSE Max(@, Ttl)]
             ELSE IF s.owner = None THEN Own(s, m.id, Ttl)
             ELSE Enqueued(s, m.id)
    IN OwnerOrQueued(t, m.id, Ttl, m.age)

Unlock(m) ==
    LET s == Settled(None)
        mine == IF Mutant = "release-by-client" THEN s.owner # None /\ s.owner[1] = m.id[1] ELSE s.owner = m.id
        t == [s EXCEPT !.fence = Max(@, m.last)]
    IN IF ~mine THEN s
       ELSE IF m.next = None THEN Grant(t, None)
       ELSE LET u == Grant(Enqueued(t, m.next), m.next) IN OwnerOrQueued(u, m.next, u.left, m.age)

Renew(m) ==
    LET s == Settled(None)
        t == [s EXCEPT !.left = Max(@, Ttl)]
    IN IF s.owner = m.id /\ (s.fence = m.tok \/ Mutant = "renew-unfenced")
       THEN Answered(t, [k |-> "renewed", id |-> m.id, lease |-> t.left, age |-> m.age])
       ELSE Answered(s, [k |-> "notowner", id |-> m.id])

Cancel(m) ==
    LET s == Settled(None) IN
    IF s.owner = m.id THEN Grant(s, None)
    ELSE [s EXCEPT !.queue = SelectSeq(@, LAMBDA id : id # m.id)]

Ran(m) == CASE m.k = "acquire" -> Acquire(m)
            [] m.k = "unlock" -> Unlock(m)
            [] m.k = "renew" -> Renew(m)
            [] m.k = "cancel" -> Cancel(m)

\* A reply is read once.
Read(m) == net' = net \ {m} /\ faults' = faults

\* A push is used up, or stays to be delivered once more.
Taken(m) == \/ net' = net \ {m} /\ faults' = faults
            \/ faults.dups < MaxDups /\ net' = net /\ faults' = [faults EXCEPT !.dups = @ + 1]

IsAlive(c) == cl[c].ph # "crashed"

Execute(m) ==
    /\ m.k \in Commands
    /\ LET s == Ran(m) IN
       /\ r' = [owner |-> s.owner, left |-> s.left, fence |-> s.fence, queue |-> s.queue]
       /\ LET out == {o \in s.out : IsAlive(o.id[1])} IN
          \/ net' = (net \ {m}) \union out /\ faults' = faults
          \/ faults.dups < MaxDups /\ net' = net \union out /\ faults' = [faults EXCEPT !.dups = @ + 1]
    /\ UNCHANGED <<cl, newest>>

\* --- the clients -----------------------------------------------------------------------------------------------------

Id(c) == <<c, cl[c].n>>
IsWaiting(c) == cl[c].ph = "waiting"
IsHeld(c) == cl[c].ph = "held"
Believes(c) == (IsHeld(c) \/ cl[c].ph = "crashed") /\ cl[c].left > 0

Of(c) == {m \in net : m.id[1] = c}
About(id) == {m \in net : m.id = id \/ (m.k = "unlock" /\ m.next = id)}

Room(c) == Cardinality(Of(c)) < MaxInFlight

AcquireCommand(id) == [k |-> "acquire", id |-> id, age |-> 0]
UnlockCommand(id, last, next) == [k |-> "unlock", id |-> id, last |-> last, next |-> next, age |-> 0]
CancelCommand(id) == [k |-> "cancel", id |-> id]

\* An id that has ended is ended again: by unlock once it was granted, else by cancel.
EndCommand(c, id) ==
    IF id[2] \in cl[c].granted /\ Mutant # "cancel-after-hold" THEN UnlockCommand(id, cl[c].top, None) ELSE CancelCommand(id)

\* Neither waiting nor holding under the number.
Rest(c, phase, n) ==
    [cl[c] EXCEPT !.ph = phase, !.n = n, !.fence = 0, !.asked = 0, !.left = 0, !.tok = 0, !.last = 0]

Lease(lease, age) == Minus(lease, Drift + IF Mutant = "date-from-reception" THEN 0 ELSE age)

Begin(c) ==
    /\ cl[c].ph = "idle" /\ cl[c].n < MaxIds /\ Room(c)
    /\ LET n == IF Mutant = "reuse-id" /\ cl[c].n > 0 THEN cl[c].n ELSE cl[c].n + 1 IN
       /\ cl' = [cl EXCEPT ![c] = Rest(c, "waiting", n)]
       /\ net' = net \union {AcquireCommand(<<c, n>>)}
    /\ UNCHANGED <<r, newest, faults>>

\* Asks again: its interval has passed, or the answer has not come in time.
MayPoll(c) ==
    /\ IsWaiting(c) /\ Mutant # "no-poll"
    /\ IF Prompt THEN About(Id(c)) = {} /\ (cl[c].fence = 0 \/ cl[c].asked > 0)
       ELSE Room(c) /\ ~\E m \in net : m.k = "acquire" /\ m.id = Id(c) /\ m.age = 0

Poll(c) ==
    /\ MayPoll(c)
    /\ net' = net \union {AcquireCommand(Id(c))}
    /\ UNCHANGED <<r, cl, newest, faults>>

\* Whoever waited has gone: one step decides that a grant which comes now is too late.
Leave(c) ==
    /\ IsWaiting(c)
    /\ cl' = [cl EXCEPT ![c] = Rest(c, "idle", cl[c].n)]
    /\ net' = net \union {CancelCommand(Id(c))}
    /\ UNCHANGED <<r, newest, faults>>

MayRenew(c) ==
    /\ IsHeld(c) /\ cl[c].left > 0 /\ cl[c].left < Ttl - Drift
    /\ IF Prompt THEN About(Id(c)) = {}
       ELSE Room(c) /\ ~\E m \in net : m.k = "renew" /\ m.id = Id(c) /\ m.age = 0

SendRenew(c) ==
    /\ MayRenew(c)
    /\ net' = net \union {[k |-> "renew", id |-> Id(c), tok |-> cl[c].tok, age |-> 0]}
    /\ UNCHANGED <<r, cl, newest, faults>>

\* The next thread of the same client: it takes over the deadline and gets a token of its own.
PassOn(c) ==
    /\ IsHeld(c) /\ cl[c].left > 0 /\ cl[c].last < cl[c].tok + Locals - 1
    /\ cl' = [cl EXCEPT ![c].last = @ + 1, ![c].top = Max(@, cl[c].last + 1),
                        ![c].left = IF Mutant = "take-over-unrenewed" THEN Ttl - Drift ELSE @]
    /\ newest' = Max(newest, cl[c].last + 1)
    /\ UNCHANGED <<r, net, faults>>

\* The hold ends here, then it is told to Redis; with a next id for those who still wait in this client.
Release(c) ==
    /\ IsHeld(c)
    /\ net' = net \union {UnlockCommand(Id(c), cl[c].last, None)}
    /\ IF Mutant = "unlock-before-end" THEN cl' = cl ELSE cl' = [cl EXCEPT ![c] = Rest(c, "idle", cl[c].n)]
    /\ UNCHANGED <<r, newest, faults>>

ReleaseWithNext(c) ==
    /\ IsHeld(c) /\ cl[c].n < MaxIds
    /\ net' = net \union {UnlockCommand(Id(c), cl[c].last, <<c, cl[c].n + 1>>)}
    /\ cl' = [cl EXCEPT ![c] = Rest(c, "waiting", cl[c].n + 1)]
    /\ UNCHANGED <<r, newest, faults>>

\* The deadline has passed and somebody looked.
NoticeLoss(c) ==
    /\ IsHeld(c) /\ cl[c].left = 0
    /\ cl' = [cl EXCEPT ![c] = Rest(c, "idle", cl[c].n)]
    /\ UNCHANGED <<r, net, newest, faults>>

\* The process is gone, but what it does at a resource may go on until its lease ends.
Crash(c) ==
    /\ IsAlive(c) /\ faults.crashes < MaxCrashes
    /\ cl' = [cl EXCEPT ![c].ph = "crashed", ![c].left = IF IsHeld(c) THEN @ ELSE 0]
    /\ net' = {m \in net : m.k \in Commands \/ m.id[1] # c}
    /\ faults' = [faults EXCEPT !.crashes = @ + 1]
    /\ UNCHANGED <<r, newest>>

Holds(c, fence, left) ==
    /\ cl' = [cl EXCEPT ![c].ph = "held", ![c].left = left, ![c].tok = fence, ![c].last = fence,
                        ![c].top = Max(@, fence), ![c].granted = @ \union {cl[c].n}, ![c].fence = 0, ![c].asked = 0]
    /\ newest' = IF left > 0 THEN Max(newest, fence) ELSE newest

Prolonged(c, left) ==
    /\ cl' = [cl EXCEPT ![c].left = Max(@, left)]
    /\ newest' = IF left > 0 THEN Max(newest, cl[c].last) ELSE newest

\* A reply to, or a push for, an id that is not under way.
IsOver(c, id) == id # Id(c) \/ ~(IsWaiting(c) \/ IsHeld(c))

EndAgain(c, m) == /\ net' = (net \ {m}) \union {EndCommand(c, m.id)}
                  /\ UNCHANGED <<cl, newest, faults>>

OnOwner(c, m) ==
    LET left == Lease(m.lease, m.age)
        cancelled == Mutant = "take-after-cancel" /\ m.id = Id(c) /\ cl[c].ph = "idle"
    IN
    IF IsOver(c, m.id) /\ ~cancelled THEN EndAgain(c, m)
    ELSE IF IsWaiting(c) \/ cancelled THEN Read(m) /\ Holds(c, m.fence, left)
    ELSE IF m.fence = cl[c].tok THEN Read(m) /\ Prolonged(c, left)
    ELSE IF m.fence < cl[c].tok /\ Mutant # "heed-older-answer" THEN Read(m) /\ UNCHANGED <<cl, newest>>
    ELSE /\ net' = (net \ {m}) \union {UnlockCommand(m.id, m.fence, None)}
         /\ cl' = [cl EXCEPT ![c] = Rest(c, "idle", cl[c].n)]
         /\ UNCHANGED <<newest, faults>>

OnQueued(c, m) ==
    IF IsOver(c, m.id) THEN EndAgain(c, m)
    ELSE /\ Read(m)
         /\ cl' = IF IsWaiting(c) THEN [cl EXCEPT ![c].fence = m.fence, ![c].asked = m.age] ELSE cl
         /\ UNCHANGED newest

\* Only a hint: it counts if it is newer than the answer that queued us, and from when that was asked for.
OnPush(c, m) ==
    LET left == Lease(m.lease, cl[c].asked)
        isNewer == cl[c].fence > 0 /\ (m.fence > cl[c].fence \/ Mutant = "accept-stale-push")
    IN
    IF IsOver(c, m.id) THEN /\ net' = (net \ {m}) \union {UnlockCommand(m.id, cl[c].top, None)}
                            /\ UNCHANGED <<cl, newest, faults>>
    ELSE /\ IsWaiting(c) /\ ~Prompt => cl[c].fence > 0 \* before the answer it is kept
         /\ Taken(m)
         /\ IF IsWaiting(c) /\ isNewer /\ left > 0 THEN Holds(c, m.fence, left) ELSE UNCHANGED <<cl, newest>>

OnRenewed(c, m) ==
    /\ Read(m)
    /\ IF m.id = Id(c) /\ IsHeld(c) THEN Prolonged(c, Lease(m.lease, m.age)) ELSE UNCHANGED <<cl, newest>>

OnNotOwner(c, m) ==
    /\ Read(m)
    /\ cl' = IF m.id = Id(c) /\ IsHeld(c) THEN [cl EXCEPT ![c] = Rest(c, "idle", cl[c].n)] ELSE cl
    /\ UNCHANGED newest

Receive(m) ==
    LET c == m.id[1] IN
    /\ m.k \notin Commands /\ IsAlive(c)
    /\ CASE m.k = "owner" -> OnOwner(c, m)
         [] m.k = "queued" -> OnQueued(c, m)
         [] m.k = "push" -> OnPush(c, m)
         [] m.k = "renewed" -> OnRenewed(c, m)
         [] m.k = "notowner" -> OnNotOwner(c, m)
    /\ UNCHANGED r

Lose(m) ==
    /\ Prompt /\ faults.losses < MaxLosses
    /\ net' = net \ {m}
    /\ faults' = [faults EXCEPT !.losses = @ + 1]
    /\ UNCHANGED <<r, cl, newest>>

\* --- time ------------------------------------------------------------------------------------------------------------

\* Whether it matters when it was sent.
IsDated(m) == CASE m.k = "unlock" -> m.next # None
                [] m.k \in {"push", "cancel", "notowner"} -> FALSE
                [] OTHER -> m.id = Id(m.id[1]) /\ (IsWaiting(m.id[1]) \/ IsHeld(m.id[1]))

\* A tick passes; not on the clocks of those who lose one.
Tick ==
    /\ Prompt => net = {} /\ \A c \in Clients : ~MayPoll(c) /\ ~MayRenew(c)
    /\ \E late \in SUBSET {c \in Clients : cl[c].lag < Skew} :
       /\ cl' = [c \in Clients |->
                    IF c \in late THEN [cl[c] EXCEPT !.lag = @ + 1]
                    ELSE [cl[c] EXCEPT !.left = Minus(@, 1),
                                       !.asked = IF cl[c].fence > 0 THEN Min(@ + 1, Ttl) ELSE 0]]
       /\ net' = {IF IsDated(m) /\ m.id[1] \notin late THEN [m EXCEPT !.age = Min(@ + 1, Ttl)] ELSE m : m \in net}
    /\ r' = [r EXCEPT !.left = Minus(@, 1)]
    /\ UNCHANGED <<newest, faults>>

\* --- the whole -------------------------------------------------------------------------------------------------------

Init ==
    /\ r = [owner |-> None, left |-> 0, fence |-> 0, queue |-> <<>>]
    /\ net = {}
    /\ cl = [c \in Clients |-> [ph |-> "idle", n |-> 0, fence |-> 0, asked |-> 0, left |-> 0, tok |-> 0, last |-> 0,
                                top |-> 0, granted |-> {}, lag |-> 0]]
    /\ newest = 0
    /\ faults = [dups |-> 0, crashes |-> 0, losses |-> 0]

ClientActs(c) == Begin(c) \/ Poll(c) \/ Leave(c) \/ SendRenew(c) \/ PassOn(c) \/ Release(c) \/ ReleaseWithNext(c)
                 \/ NoticeLoss(c) \/ Crash(c)

Next == \/ \E c \in Clients : ClientActs(c)
        \/ \E m \in net : Execute(m) \/ Receive(m) \/ Lose(m)
        \/ Tick

Spec == Init /\ [][Next]_vars

\* The network delivers, clients ask, hold for a while and let go, and time passes.
Fair == /\ \A c \in Clients : WF_vars(Poll(c)) /\ WF_vars(SendRenew(c)) /\ WF_vars(Release(c)) /\ WF_vars(NoticeLoss(c))
        /\ WF_vars(\E m \in net : Execute(m) \/ Receive(m))
        /\ WF_vars(Tick)

FairSpec == Spec /\ Fair

Bounded == r.fence <= MaxFence /\ TLCGet("level") < MaxDepth
Symmetric == Permutations(Clients)

\* --- what must be true -----------------------------------------------------------------------------------------------

AtMostOneBelieves == \A c, d \in Clients : Believes(c) /\ Believes(d) => c = d

\* While a client believes, nobody has been given a newer token.
TheNewestTokenBelieves == \A c \in Clients : Believes(c) => cl[c].last = newest /\ cl[c].tok = r.fence

\* Each hold begins with a token larger than all before it.
TokensGrow ==
    [][\A c \in Clients : Believes(c)' /\ cl'[c].last # cl[c].last => cl'[c].last > newest]_vars

\* A lease that has not run out ends only by a command of its own id.
OnlyItsOwnIdEndsALease ==
    [][r.owner # None /\ r.left > 0 /\ r'.owner # r.owner
        => \E m \in net : m.k \in {"unlock", "cancel"} /\ m.id = r.owner]_vars

\* Who waits is granted the lock, or leaves, or crashes.
EveryWaitEnds == \A c \in Clients : \A n \in 1..MaxIds :
    (IsWaiting(c) /\ cl[c].n = n) ~> ~(IsWaiting(c) /\ cl[c].n = n)
=====================================================================================
