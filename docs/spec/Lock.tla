------------------------------------ MODULE Lock ------------------------------------
(* The protocol on one lock: what the scripts do to the one key, what a client (one registry, one JVM) believes, and a     *)
(* network that delays, loses, repeats and reorders whatever it carries. A message that is lost is one that stays in the   *)
(* network for ever; a command that runs twice is one that stays there after it ran.                                       *)
(*                                                                                                                         *)
(* Time is relative: leases count down and messages age, one tick at a time, so no behaviour ends at a horizon. A client's *)
(* clock may lose Skew ticks, and a client takes Drift off every lease for it. A paused client is one that does nothing.   *)
(*                                                                                                                         *)
(* A name has holders of a kind: one exclusive one, or shared ones (readers), or limited ones (permits), never more than the *)
(* number of any of them. A client here is what one JVM wants of one kind at a time; what else that JVM wants of the name  *)
(* is another client.                                                                                                      *)
(*                                                                                                                         *)
(* Mutant names one rule that is broken on purpose; "none" is the protocol as it is.                                       *)
EXTENDS Integers, Sequences, FiniteSets, TLC

CONSTANTS
    Clients,
    Ttl,            \* the whole lease, in ticks
    Claim,          \* the lease that comes with a pushed grant
    Drift,          \* what a client takes off each lease
    Skew,           \* ticks a client's clock may lose
    Locals,         \* tokens per grant: that many holds in a row without asking Redis
    Reading,        \* TRUE: clients may ask for shared holds, and make them of exclusive ones
    Permits,        \* the n of the limited holds that clients may ask for
    MaxReaders,     \* of one client: those after the first join its shared hold
    Trying,         \* TRUE: clients may ask without being queued
    Transfers,      \* TRUE: clients may give up holds, and take over those of others
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
    r,              \* Redis: holders (each with what is left of its lease), fence, token (of readers; 0: there is no key), queue
    net,            \* commands, replies and pushes under way
    cl,             \* clients
    past,           \* history of tokens under which anybody began to believe it holds: newest, the largest, exclusive or
                    \* shared; permits, those of permits since; reads, that of the last reader, unless something came between
    given,          \* holds that clients have given up, for any client to take over; whoever can know of one may try
    faults          \* deliveries repeated, clients crashed, messages lost

vars == <<r, net, cl, past, given, faults>>

None == <<>>                    \* no id; an id is <<client, number>>
ToNobody(id) == <<id[1], -id[2]>> \* the id that has the hold meanwhile; no client has it
IsOfNobody(id) == id[2] < 0
Max(a, b) == IF a > b THEN a ELSE b
Min(a, b) == IF a < b THEN a ELSE b
Minus(a, b) == IF a > b THEN a - b ELSE 0

Exclusive == 0                  \* a kind; n is limited to n
Shared == -1
Kinds == {Exclusive} \union Permits \union IF Reading THEN {Shared} ELSE {}
IsLimited(kind) == kind > 0

Commands == {"acquire", "unlock", "renew", "downgrade", "transfer"}

\* One number here, another for each id, kind or lease in a trace: Trace.tla defines them anew.
TtlOf(id) == Ttl
ClaimOf(id) == Claim
LocalsOf(kind) == Locals
DriftOf(lease) == Drift
NextFence(fence) == fence + 1
WaitingWith(c) == 0..(MaxReaders - 1)     \* how many more readers of this client wait for the same grant
IsStale(waiter) == FALSE        \* was not heard of for so long that a script drops it
IsPassed(waiter) == cl[waiter.id[1]].ph = "crashed"  \* nobody listens for it, so a script passes it over
WasPassed(waiter) == IsPassed(waiter)     \* when the last script ran

\* --- the scripts -----------------------------------------------------------------------------------------------------

\* What a script makes of the state, with the messages it sends; parts: whether it lets anything come between two readers.
State == [holders |-> r.holders, fence |-> r.fence, token |-> r.token, queue |-> r.queue, out |-> {}, parts |-> FALSE]

Holder(s, id) == CHOOSE h \in s.holders : h.id = id
IsHolder(s, id) == \E h \in s.holders : h.id = id
IsQueued(s, id) == \E i \in 1..Len(s.queue) : s.queue[i].id = id

Fits(holders, kind) ==
    IF kind = Exclusive THEN holders = {}
    ELSE IF Mutant = "admit-any-kind" THEN TRUE
    ELSE IF kind = Shared THEN \A h \in holders : h.kind = Shared
    ELSE /\ \A h \in holders : IsLimited(h.kind)
         /\ \A n \in {kind} \union IF Mutant = "admit-own-number" THEN {} ELSE {h.kind : h \in holders} :
                Cardinality(holders) < IF Mutant = "admit-one-more" THEN n + 1 ELSE n

\* Every grant has a fence of its own. That of a permit reserves its other tokens at once: others are granted beside it.
Own(s, id, kind, lease) ==
    LET first == NextFence(s.fence)
        newest == IF IsLimited(kind) /\ Mutant # "permit-unreserved" THEN first + LocalsOf(kind) - 1 ELSE first
    IN [s EXCEPT !.holders = @ \union {[id |-> id, kind |-> kind, left |-> lease, fence |-> first]},
                 !.fence = newest,
                 !.token = IF kind # Shared THEN newest ELSE IF @ = 0 THEN first ELSE @,
                 !.parts = @ \/ kind # Shared]

TokenOf(s, h) == IF h.kind = Shared /\ Mutant # "reader-own-token" THEN s.token ELSE h.fence

AreQueued(s) == MaxReaders > 1 /\ s.queue # <<>>

\* A waiter is passed over in its turn, and a writer while readers hold, too.
MayPass(holders, waiter) ==
    /\ IsPassed(waiter)
    /\ Fits(holders, waiter.kind) \/ (waiter.kind = Exclusive /\ \A h \in holders : h.kind = Shared)

\* The place of the first from there on that is not passed over; 0 if all are. Who reads the reply is there.
InTurn(s, reader, from) ==
    LET Stays(i) == s.queue[i].id = reader \/ ~MayPass(s.holders, s.queue[i])
        places == {i \in from..Len(s.queue) : Stays(i) /\ \A j \in from..(i - 1) : ~Stays(j)}
    IN IF places = {} THEN 0 ELSE CHOOSE i \in places : TRUE

\* The first that is not passed over is admitted as long as it fits, then the next behind it: with its whole lease if this
\* script's reply tells it, else with a claim lease and a push.
RECURSIVE AdmitFrom(_, _, _)
AdmitFrom(s, reader, from) ==
    LET place == InTurn(s, reader, from) IN
    IF place = 0 \/ ~Fits(s.holders, s.queue[place].kind) THEN s
    ELSE LET first == s.queue[place]
             others == SubSeq(s.queue, 1, place - 1) \o SubSeq(s.queue, place + 1, Len(s.queue))
             g == TLCEval(Own([s EXCEPT !.queue = others], first.id, first.kind,
                              IF first.id = reader THEN TtlOf(first.id) ELSE ClaimOf(first.id)))
             h == Holder(g, first.id)
             push == [k |-> "push", id |-> h.id, fence |-> h.fence, token |-> TokenOf(g, h), lease |-> h.left,
                      others |-> AreQueued(g)]
         IN AdmitFrom(IF h.id = reader THEN g ELSE [g EXCEPT !.out = @ \union {push}], reader, place)

Admit(s, reader) == AdmitFrom(s, reader, 1)

Without(s, id) == [s EXCEPT !.holders = {h \in @ : h.id # id}, !.out = {m \in @ : m.id # id}]

\* Each lease that has run out ends. Nobody told how many tokens an exclusive holder used. Stale waiters are dropped.
Settled(reader) ==
    LET over == {h \in r.holders : h.left = 0}
        s == [State EXCEPT !.holders = @ \ over, !.queue = SelectSeq(@, LAMBDA w : ~IsStale(w))]
        last == s.fence + LocalsOf(Exclusive) - 1
        t == IF \A h \in over : h.kind # Exclusive THEN s ELSE [s EXCEPT !.fence = last, !.token = last, !.parts = TRUE]
    IN IF over = {} /\ Mutant = "leave-admits-nobody" THEN s ELSE Admit(t, reader)

\* Queues the id, unless it waits or holds already.
Enqueued(s, id, kind) ==
    IF IsQueued(s, id) \/ (IsHolder(s, id) /\ Mutant # "queue-holder") THEN s
    ELSE [s EXCEPT !.queue = Append(@, [id |-> id, kind |-> kind])]

Answered(s, reply) == [s EXCEPT !.out = @ \union {reply}]

OwnerOrQueued(s, id, lease, age) ==
    Answered(s, IF IsHolder(s, id)
                THEN LET h == Holder(s, id) IN
                     [k |-> "owner", id |-> id, fence |-> h.fence, token |-> TokenOf(s, h), lease |-> lease, age |-> age,
                      others |-> AreQueued(s)]
                ELSE [k |-> "queued", id |-> id, fence |-> s.fence, age |-> age])

Prolong(s, id) == [s EXCEPT !.holders = {IF h.id = id THEN [h EXCEPT !.left = Max(@, TtlOf(id))] ELSE h : h \in @}]

Acquire(m) ==
    LET s == TLCEval(Settled(m.id))
        rekinded == [s EXCEPT !.holders = {IF h.id = m.id THEN [h EXCEPT !.kind = m.kind] ELSE h : h \in @}]
        t == IF IsHolder(s, m.id)
             THEN IF Mutant = "reacquire-unrenewed" THEN s
                  ELSE Prolong(IF Mutant = "reacquire-kind" THEN rekinded ELSE s, m.id)
             ELSE IF ((\A i \in 1..Len(s.queue) : IsPassed(s.queue[i])) \/ Mutant = "overtake") /\ Fits(s.holders, m.kind)
             THEN Own([s EXCEPT !.queue = SelectSeq(@, LAMBDA w : w.id # m.id)], m.id, m.kind, TtlOf(m.id))
             ELSE IF m.queues THEN Enqueued(s, m.id, m.kind) ELSE s
    IN IF m.queues \/ IsHolder(t, m.id) THEN OwnerOrQueued(t, m.id, TtlOf(m.id), m.age)
       ELSE Answered(t, [k |-> "busy", id |-> m.id])

\* Ends an id, also in the queue. What a reader tells as its last token says nothing: it used that of another. An exclusive
\* holder tells it even after its lease, if no script has looked since then and nobody waits.
Unlock(m) ==
    LET late == m.next = None /\ r.queue = <<>> /\ \E h \in r.holders : h.id = m.id /\ h.kind = Exclusive
        s == IF late THEN State ELSE TLCEval(Settled(None))
        mine == {h \in s.holders : IF Mutant = "release-by-client" THEN h.id[1] = m.id[1] ELSE h.id = m.id}
        last == Max(s.fence, m.last)
        t == [s EXCEPT !.holders = IF Mutant = "unlock-all" THEN {} ELSE @ \ mine,
                       !.out = {o \in @ : \A h \in mine : o.id # h.id}]
        u == IF \A h \in mine : h.kind = Shared THEN t ELSE [t EXCEPT !.fence = last, !.token = last]
        left == [s EXCEPT !.queue = SelectSeq(@, LAMBDA w : w.id # m.id)]
    IN IF mine = {} THEN IF Mutant = "leave-admits-nobody" THEN left ELSE Admit(left, None)
       ELSE IF m.next = None THEN Admit(u, None)
       ELSE LET v == Admit(Enqueued(u, m.next, m.kind), m.next)
            IN OwnerOrQueued(v, m.next, IF IsHolder(v, m.next) THEN Holder(v, m.next).left ELSE 0, m.age)

Renewed(s, m, h) == Answered(s, [k |-> "renewed", id |-> m.id, lease |-> h.left, age |-> m.age, others |-> AreQueued(s)])

NotOwner(s, m) == Answered(s, [k |-> "notowner", id |-> m.id])

Renew(m) ==
    LET s == TLCEval(Settled(None))
        t == Prolong(s, m.id)
    IN IF IsHolder(s, m.id) /\ (Holder(s, m.id).fence = m.tok \/ Mutant = "renew-unfenced")
       THEN Renewed(t, m, Holder(t, m.id))
       ELSE NotOwner(s, m)

\* As Renew for each of several permits. No client here sends it; traces have it.
RenewPermits(m) ==
    LET Names(h) == \E p \in m.permits : p.id = h.id /\ p.tok = h.fence
    IN [TLCEval(Settled(None)) EXCEPT
            !.holders = {IF Names(h) THEN [h EXCEPT !.left = Max(@, TtlOf(h.id))] ELSE h : h \in @}]

\* It is for the grant whose fence it names. That it has run changes nothing for the client.
Downgrade(m) ==
    LET s == TLCEval(Settled(None))
        h == Holder(s, m.id)
        d == [h EXCEPT !.kind = Shared]
        last == Max(s.fence, m.last)
        t == [s EXCEPT !.holders = (@ \ {h}) \union {d},
                       !.fence = IF Mutant = "downgrade-untold" THEN @ ELSE last,
                       !.token = IF Mutant = "downgrade-untold" THEN @ ELSE last]
        u == IF h.kind = Shared THEN s
             ELSE IF Mutant = "downgrade-reopens"
             THEN LET a == Admit(Without(t, m.id), None) IN Admit([a EXCEPT !.holders = @ \union {d}], None)
             ELSE Admit(t, None)
        revived == [id |-> m.id, kind |-> Shared, left |-> TtlOf(m.id), fence |-> s.fence]
    IN IF IsHolder(s, m.id) /\ h.fence = m.tok THEN u
       ELSE IF Mutant = "downgrade-revives" THEN [s EXCEPT !.holders = @ \union {revived}]
       ELSE NotOwner(s, m)

\* The grant has another id from then on, and a new lease. Once m.id has it, it is asked for again.
Transfer(m) ==
    LET s == TLCEval(Settled(None))
        from == {h \in s.holders : h.id = m.id}
        found == IF from # {} THEN from
                 ELSE {h \in s.holders : IF Mutant = "transfer-twice" THEN h.fence = m.tok ELSE h.id = m.from}
        h == CHOOSE each \in found : TRUE
        taken == [h EXCEPT !.id = m.id, !.left = IF h.id = m.id THEN Max(@, TtlOf(m.id)) ELSE TtlOf(m.id)]
        t == [s EXCEPT !.holders = (@ \ {h}) \union {taken}]
    IN IF found # {} /\ (h.fence = m.tok \/ Mutant = "transfer-unnumbered")
       THEN OwnerOrQueued(t, m.id, taken.left, m.age)
       ELSE Answered(s, [k |-> "gone", id |-> m.id])

\* Pushes are sent last.
Ran(m) ==
    LET s == TLCEval(CASE m.k = "acquire" -> Acquire(m)
                       [] m.k = "unlock" -> Unlock(m)
                       [] m.k = "renew" -> Renew(m)
                       [] m.k = "renew-permits" -> RenewPermits(m)
                       [] m.k = "downgrade" -> Downgrade(m)
                       [] m.k = "transfer" -> Transfer(m))
    IN [s EXCEPT !.out = {IF o.k = "push" THEN [o EXCEPT !.others = AreQueued(s)] ELSE o : o \in @}]

\* A reply is read once.
After(m) == net \ {m}
Read(m) == net' = After(m) /\ faults' = faults

\* A push is used up, or stays to be delivered once more.
Taken(m) == \/ net' = net \ {m} /\ faults' = faults
            \/ faults.dups < MaxDups /\ net' = net /\ faults' = [faults EXCEPT !.dups = @ + 1]

IsAlive(c) == cl[c].ph # "crashed"

Execute(m) ==
    /\ m.k \in Commands
    /\ LET s == TLCEval(Ran(m)) IN
       /\ r' = [holders |-> s.holders, fence |-> s.fence, token |-> s.token, queue |-> s.queue]
       /\ past' = IF s.parts THEN [past EXCEPT !.reads = 0] ELSE past
       /\ LET out == {o \in s.out : IsAlive(o.id[1]) /\ ~IsOfNobody(o.id)} IN
          \/ net' = (net \ {m}) \union out /\ faults' = faults
          \/ faults.dups < MaxDups /\ net' = net \union out /\ faults' = [faults EXCEPT !.dups = @ + 1]
    /\ UNCHANGED <<cl, given>>

\* A key with nothing but its newest token is not kept for long. Its fence goes on as the clock of Redis does.
Forget ==
    /\ Reading /\ r.holders = {} /\ r.queue = <<>> /\ r.token > 0
    /\ r' = [r EXCEPT !.token = 0]
    /\ past' = [past EXCEPT !.reads = 0]
    /\ UNCHANGED <<net, cl, given, faults>>

\* --- the clients -----------------------------------------------------------------------------------------------------

Id(c) == <<c, cl[c].n>>
IsWaiting(c) == cl[c].ph = "waiting"
IsHeld(c) == cl[c].ph = "held"
IsEnding(c) == cl[c].ph = "ending"
Believes(c) == (IsHeld(c) \/ cl[c].ph = "crashed") /\ cl[c].left > 0

Of(c) == {m \in net : m.id[1] = c}
About(id) == {m \in net : m.id = id \/ (m.k = "unlock" /\ m.next = id)}

Room(c) == Cardinality(Of(c)) < MaxInFlight

AcquireCommand(id, kind, queues) == [k |-> "acquire", id |-> id, kind |-> kind, queues |-> queues, age |-> 0]
UnlockNextCommand(id, last, next, kind) ==
    [k |-> "unlock", id |-> id, last |-> last, next |-> next, kind |-> kind, age |-> 0]
UnlockCommand(id, last) == UnlockNextCommand(id, last, None, Exclusive)
CancelCommand(id) == UnlockCommand(id, 0)
TransferCommand(id, hold) == [k |-> "transfer", id |-> id, from |-> hold.id, tok |-> hold.tok, age |-> 0]

\* An id that has ended is ended again, which tells the last token once it was granted.
EndCommand(c, id) ==
    IF id[2] \in cl[c].granted /\ Mutant # "cancel-after-hold" THEN UnlockCommand(id, cl[c].top) ELSE CancelCommand(id)

\* A phase under the number, from its start: nothing is held under it.
Phase(c, phase, n, kind) ==
    [cl[c] EXCEPT !.ph = phase, !.n = n, !.kind = kind, !.fence = 0, !.asked = 0, !.left = 0, !.tok = 0, !.last = 0,
                  !.readers = 0, !.told = FALSE, !.takes = {}]

Rest(c) == Phase(c, "idle", cl[c].n, Exclusive)

Lease(lease, age) == Minus(lease, DriftOf(lease) + IF Mutant = "date-from-reception" THEN 0 ELSE age)

Begin(c) ==
    /\ cl[c].ph = "idle" /\ cl[c].n < MaxIds /\ Room(c)
    /\ LET n == IF Mutant = "reuse-id" /\ cl[c].n > 0 THEN cl[c].n ELSE cl[c].n + 1 IN
       \E kind \in Kinds, queues \in {TRUE, ~Trying} :
       /\ cl' = [cl EXCEPT ![c] = Phase(c, "waiting", n, kind)]
       /\ net' = net \union {AcquireCommand(<<c, n>>, kind, queues)}
    /\ UNCHANGED <<r, past, faults>>

\* Asks for a hold that was given up. An id that is to have it ends as one that has had it, which tells the token.
TakeOver(c) ==
    /\ Transfers /\ cl[c].ph = "idle" /\ cl[c].n < MaxIds /\ Room(c)
    /\ \E hold \in given :
       LET id == <<c, cl[c].n + 1>>
           phase == Phase(c, "waiting", id[2], hold.kind)
       IN /\ cl' = [cl EXCEPT ![c] = [phase EXCEPT
                     !.takes = {hold},
                     !.granted = IF Mutant = "take-over-untold" THEN @ ELSE @ \union {id[2]},
                     !.top = Max(@, hold.last)]]
          /\ net' = net \union {TransferCommand(id, hold)}
    /\ UNCHANGED <<r, past, faults>>

Takes(c) == CHOOSE hold \in cl[c].takes : TRUE

\* Asks again: its interval has passed, or the answer has not come in time.
MayPoll(c) ==
    /\ IsWaiting(c) /\ Mutant # "no-poll"
    /\ IF Prompt THEN About(Id(c)) = {} /\ (cl[c].fence = 0 \/ cl[c].asked > 0)
       ELSE Room(c) /\ ~\E m \in net : m.k \in {"acquire", "transfer"} /\ m.id = Id(c) /\ m.age = 0

Poll(c) ==
    /\ MayPoll(c)
    /\ net' = net \union {IF cl[c].takes = {} THEN AcquireCommand(Id(c), cl[c].kind, TRUE) ELSE TransferCommand(Id(c), Takes(c))}
    /\ UNCHANGED <<r, cl, past, faults>>

\* Whoever waited has gone: one step decides that a grant which comes now is too late.
Leave(c) ==
    /\ IsWaiting(c) \/ (IsEnding(c) /\ cl[c].tok = 0)
    /\ cl' = [cl EXCEPT ![c] = Rest(c)]
    /\ net' = net \union {IF cl[c].takes = {} \/ Mutant = "take-over-untold" THEN CancelCommand(Id(c))
                          ELSE UnlockCommand(Id(c), Takes(c).last)}
    /\ UNCHANGED <<r, past, faults>>

\* An id has one command under way. If it ends meanwhile, it ends here at once, and Redis is told later. Readers leave together.
End(c) ==
    /\ IsWaiting(c) \/ IsHeld(c)
    /\ cl' = [cl EXCEPT ![c] = [Phase(c, "ending", cl[c].n, cl[c].kind) EXCEPT
                                    !.tok = cl[c].tok, !.last = cl[c].last, !.takes = cl[c].takes]]
    /\ UNCHANGED <<r, net, past, faults>>

EndsHold(c) == (IsHeld(c) /\ cl[c].readers = 0) \/ (IsEnding(c) /\ cl[c].tok > 0)

MayRenew(c) ==
    /\ IsHeld(c) /\ cl[c].left > 0 /\ cl[c].left < Ttl - Drift
    /\ IF Prompt THEN About(Id(c)) = {}
       ELSE Room(c) /\ ~\E m \in net : m.k = "renew" /\ m.id = Id(c) /\ m.age = 0

SendRenew(c) ==
    /\ MayRenew(c)
    /\ net' = net \union {[k |-> "renew", id |-> Id(c), tok |-> cl[c].tok, age |-> 0]}
    /\ UNCHANGED <<r, cl, past, faults>>

\* What it means for the history that a hold of this kind begins under a token.
Began(kind, token) ==
    IF IsLimited(kind) THEN [past EXCEPT !.permits = @ \union {token}]
    ELSE [past EXCEPT !.newest = Max(@, token), !.permits = {}, !.reads = IF kind = Shared THEN token ELSE @]

\* The next thread of the same client: it takes over the deadline and gets a token of its own.
PassOn(c) ==
    /\ IsHeld(c) /\ cl[c].left > 0 /\ cl[c].last < cl[c].tok + LocalsOf(cl[c].kind) - 1
    /\ cl[c].kind # Shared \/ Mutant = "pass-on-downgraded"
    /\ cl' = [cl EXCEPT ![c].last = @ + 1, ![c].top = Max(@, cl[c].last + 1),
                        ![c].left = IF Mutant = "take-over-unrenewed" THEN TtlOf(Id(c)) - Drift ELSE @]
    /\ past' = Began(cl[c].kind, cl[c].last + 1)
    /\ UNCHANGED <<r, net, faults>>

\* The thread that holds exclusively keeps the lock as a reader. It reads from now on, before Redis is told.
SendDowngrade(c) ==
    /\ Reading /\ IsHeld(c) /\ cl[c].left > 0 /\ cl[c].kind = Exclusive /\ Room(c)
    /\ cl' = [cl EXCEPT ![c].kind = Shared]
    /\ net' = net \union {[k |-> "downgrade", id |-> Id(c), tok |-> cl[c].tok, last |-> cl[c].last, age |-> 0]}
    /\ past' = Began(Shared, cl[c].last)
    /\ UNCHANGED <<r, faults>>

\* A further reader takes part in the hold and Redis does not know; not once others are known to wait.
Join(c) ==
    /\ IsHeld(c) /\ cl[c].left > 0 /\ cl[c].kind = Shared /\ cl[c].readers < MaxReaders - 1
    /\ ~cl[c].told \/ Mutant = "join-after-told"
    /\ cl' = [cl EXCEPT ![c].readers = @ + 1]
    /\ UNCHANGED <<r, net, past, faults>>

Part(c) ==
    /\ IsHeld(c) /\ cl[c].readers > 0
    /\ cl' = [cl EXCEPT ![c].readers = @ - 1]
    /\ UNCHANGED <<r, net, past, faults>>

\* The hold ends here, then it is told to Redis; with a next id for those who still wait in this client.
Release(c) ==
    /\ EndsHold(c)
    /\ net' = net \union {UnlockCommand(Id(c), cl[c].last)}
    /\ IF Mutant = "unlock-before-end" /\ IsHeld(c) THEN cl' = cl ELSE cl' = [cl EXCEPT ![c] = Rest(c)]
    /\ UNCHANGED <<r, past, faults>>

ReleaseWithNext(c) ==
    /\ EndsHold(c) /\ cl[c].n < MaxIds
    /\ \E kind \in Kinds :
       /\ net' = net \union {UnlockNextCommand(Id(c), cl[c].last, <<c, cl[c].n + 1>>, kind)}
       /\ cl' = [cl EXCEPT ![c] = Phase(c, "waiting", cl[c].n + 1, kind)]
    /\ UNCHANGED <<r, past, faults>>

\* The hold ends here, then Redis is asked to give it to an id of nobody. If there is no answer, the id is ended again. Whoever takes the
\* hold over may know of it before there is an answer, or before Redis is asked: a command that waits here is one that the network delays.
HandOver(c) ==
    /\ Transfers /\ IsHeld(c) /\ cl[c].left > 0 /\ cl[c].kind # Shared /\ Room(c)
    /\ LET hold == [id |-> ToNobody(Id(c)), tok |-> cl[c].tok, last |-> cl[c].last, kind |-> cl[c].kind]
           command == [TransferCommand(hold.id, hold) EXCEPT !.from = Id(c)]
       IN /\ given' = given \union {hold}
          /\ \E again \in SUBSET {UnlockCommand(Id(c), cl[c].last)} : net' = net \union {command} \union again
    /\ IF Mutant = "give-up-late" THEN cl' = cl ELSE cl' = [cl EXCEPT ![c] = Rest(c)]
    /\ UNCHANGED <<r, past, faults>>

\* The deadline has passed and somebody looked.
NoticeLoss(c) ==
    /\ IsHeld(c) /\ cl[c].left = 0
    /\ cl' = [cl EXCEPT ![c] = Rest(c)]
    /\ UNCHANGED <<r, net, past, faults>>

\* The process is gone, but what it does at a resource may go on until its lease ends.
Crash(c) ==
    /\ IsAlive(c) /\ faults.crashes < MaxCrashes
    /\ cl' = [cl EXCEPT ![c].ph = "crashed", ![c].left = IF IsHeld(c) THEN @ ELSE 0]
    /\ net' = {m \in net : m.k \in Commands \/ m.id[1] # c}
    /\ faults' = [faults EXCEPT !.crashes = @ + 1]
    /\ UNCHANGED <<r, past>>

\* All readers who wait are served by the grant.
Holds(c, m, left) == \E readers \in IF cl[c].kind = Shared THEN WaitingWith(c) ELSE {0} :
    LET token == IF cl[c].takes = {} THEN m.token ELSE Takes(c).last IN
    /\ cl' = [cl EXCEPT ![c].ph = "held", ![c].left = left, ![c].tok = m.fence, ![c].last = token,
                        ![c].top = Max(@, token), ![c].granted = @ \union {cl[c].n}, ![c].fence = 0, ![c].asked = 0,
                        ![c].told = m.others, ![c].readers = readers]
    /\ past' = IF left > 0 THEN Began(cl[c].kind, token) ELSE past

Prolonged(c, m, left) ==
    /\ cl' = [cl EXCEPT ![c].left = Max(@, left), ![c].told = @ \/ m.others]
    /\ past' = IF left > 0 THEN Began(cl[c].kind, cl[c].last) ELSE past

\* A reply to, or a push for, an id that is not under way.
IsOver(c, id) == id # Id(c) \/ ~(IsWaiting(c) \/ IsHeld(c))

EndAgain(c, m) == /\ net' = After(m) \union {EndCommand(c, m.id)}
                  /\ UNCHANGED <<cl, past, faults>>

OnOwner(c, m) ==
    LET left == Lease(m.lease, m.age)
        cancelled == Mutant = "take-after-cancel" /\ m.id = Id(c) /\ cl[c].ph = "idle"
    IN
    IF IsOver(c, m.id) /\ ~cancelled THEN EndAgain(c, m)
    ELSE IF IsWaiting(c) \/ cancelled THEN Read(m) /\ Holds(c, m, left)
    ELSE IF m.fence = cl[c].tok THEN Read(m) /\ Prolonged(c, m, left)
    ELSE IF m.fence < cl[c].tok /\ Mutant # "heed-older-answer" THEN Read(m) /\ UNCHANGED <<cl, past>>
    ELSE /\ net' = After(m) \union {UnlockCommand(m.id, m.fence)}
         /\ cl' = [cl EXCEPT ![c] = Rest(c)]
         /\ UNCHANGED <<past, faults>>

OnQueued(c, m) ==
    IF IsOver(c, m.id) THEN EndAgain(c, m)
    ELSE /\ Read(m)
         /\ cl' = IF IsWaiting(c) THEN [cl EXCEPT ![c].fence = m.fence, ![c].asked = m.age] ELSE cl
         /\ UNCHANGED past

\* Only a hint: it counts if it is newer than the answer that queued us, and from when that was asked for.
OnPush(c, m) ==
    LET left == Lease(m.lease, cl[c].asked)
        isNewer == cl[c].fence > 0 /\ (m.fence > cl[c].fence \/ Mutant = "accept-stale-push")
    IN
    IF IsOver(c, m.id) THEN /\ net' = After(m) \union {UnlockCommand(m.id, cl[c].top)}
                            /\ UNCHANGED <<cl, past, faults>>
    ELSE /\ IsWaiting(c) /\ ~Prompt => cl[c].fence > 0 \* before the answer it is kept
         /\ Taken(m)
         /\ IF IsWaiting(c) /\ isNewer /\ left > 0 THEN Holds(c, m, left) ELSE UNCHANGED <<cl, past>>

\* It may have prolonged a lease that has ended here.
OnRenewed(c, m) ==
    IF IsOver(c, m.id) THEN EndAgain(c, m)
    ELSE Read(m) /\ IF IsHeld(c) THEN Prolonged(c, m, Lease(m.lease, m.age)) ELSE UNCHANGED <<cl, past>>

\* Whoever asked without being queued asks again, now to be queued, or leaves.
OnBusy(c, m) == Read(m) /\ UNCHANGED <<cl, past>>

OnNotOwner(c, m) ==
    /\ Read(m)
    /\ cl' = IF m.id = Id(c) /\ IsHeld(c) THEN [cl EXCEPT ![c] = Rest(c)] ELSE cl
    /\ UNCHANGED past

\* What was to be taken over is not there any more.
OnGone(c, m) ==
    /\ Read(m)
    /\ cl' = IF m.id = Id(c) /\ IsWaiting(c) THEN [cl EXCEPT ![c] = Rest(c)] ELSE cl
    /\ UNCHANGED past

Receive(m) ==
    LET c == m.id[1] IN
    /\ m.k \notin Commands /\ IsAlive(c)
    /\ CASE m.k = "owner" -> OnOwner(c, m)
         [] m.k = "queued" -> OnQueued(c, m)
         [] m.k = "busy" -> OnBusy(c, m)
         [] m.k = "push" -> OnPush(c, m)
         [] m.k = "renewed" -> OnRenewed(c, m)
         [] m.k = "notowner" -> OnNotOwner(c, m)
         [] m.k = "gone" -> OnGone(c, m)
    /\ UNCHANGED <<r, given>>

Lose(m) ==
    /\ Prompt /\ faults.losses < MaxLosses
    /\ net' = net \ {m}
    /\ faults' = [faults EXCEPT !.losses = @ + 1]
    /\ UNCHANGED <<r, cl, past, given>>

\* --- time ------------------------------------------------------------------------------------------------------------

\* Whether it matters when it was sent.
IsDated(m) == CASE m.k = "unlock" -> m.next # None
                [] m.k \in {"busy", "push", "notowner", "gone"} -> FALSE
                [] OTHER -> m.id = Id(m.id[1]) /\ (IsWaiting(m.id[1]) \/ IsHeld(m.id[1]))

\* Time passes: n in Redis, by[c] on the clock of a client.
Elapse(n, by) ==
    /\ cl' = [c \in Clients |-> [cl[c] EXCEPT !.lag = @ + Minus(n, by[c]), !.left = Minus(@, by[c]),
                                              !.asked = IF cl[c].fence > 0 THEN Min(@ + by[c], Ttl) ELSE 0]]
    /\ net' = {IF IsDated(m) THEN [m EXCEPT !.age = Min(@ + by[m.id[1]], Ttl)] ELSE m : m \in net}
    /\ r' = [r EXCEPT !.holders = {[h EXCEPT !.left = Minus(@, n)] : h \in @}]
    /\ UNCHANGED <<past, given, faults>>

\* A tick; not on the clocks of those who lose one.
Tick ==
    /\ Prompt => net = {} /\ \A c \in Clients : ~MayPoll(c) /\ ~MayRenew(c)
    /\ \E late \in SUBSET {c \in Clients : cl[c].lag < Skew} : Elapse(1, [c \in Clients |-> IF c \in late THEN 0 ELSE 1])

\* --- the whole -------------------------------------------------------------------------------------------------------

Init ==
    /\ r = [holders |-> {}, fence |-> 0, token |-> 0, queue |-> <<>>]
    /\ net = {}
    /\ cl = [c \in Clients |-> [ph |-> "idle", n |-> 0, kind |-> Exclusive, fence |-> 0, asked |-> 0, left |-> 0, tok |-> 0,
                                last |-> 0, readers |-> 0, told |-> FALSE, takes |-> {}, top |-> 0, granted |-> {}, lag |-> 0]]
    /\ past = [newest |-> 0, permits |-> {}, reads |-> 0]
    /\ given = {}
    /\ faults = [dups |-> 0, crashes |-> 0, losses |-> 0]

ClientActs(c) == Begin(c) \/ Poll(c) \/ End(c) \/ Leave(c) \/ SendRenew(c) \/ PassOn(c) \/ SendDowngrade(c) \/ Join(c) \/ Part(c)
                 \/ Release(c) \/ ReleaseWithNext(c) \/ NoticeLoss(c) \/ Crash(c) \/ TakeOver(c)

Next == \/ \E c \in Clients : (ClientActs(c) /\ UNCHANGED given) \/ HandOver(c)
        \/ \E m \in net : Execute(m) \/ Receive(m) \/ Lose(m)
        \/ Tick \/ Forget

Spec == Init /\ [][Next]_vars

\* Weak fairness of Deliver is written out: TLC would take ten times as long to find out when it is enabled.
Deliver == \E m \in net : Execute(m) \/ Receive(m)
IsDeliverable == \E m \in net : m.k \in Commands \/ IsAlive(m.id[1])

\* The network delivers, clients ask, hold for a while and let go, and time passes.
Fair == /\ \A c \in Clients :
           /\ WF_vars(Poll(c) /\ UNCHANGED given) /\ WF_vars(SendRenew(c) /\ UNCHANGED given) /\ WF_vars(Part(c) /\ UNCHANGED given)
           /\ WF_vars(Release(c) /\ UNCHANGED given) /\ WF_vars(NoticeLoss(c) /\ UNCHANGED given)
           /\ WF_vars(IsEnding(c) /\ Leave(c) /\ UNCHANGED given)
        /\ []<>~IsDeliverable \/ []<><<Deliver>>_vars
        /\ WF_vars(Tick)

FairSpec == Spec /\ Fair

Bounded == r.fence <= MaxFence /\ TLCGet("level") < MaxDepth
Symmetric == Permutations(Clients)

\* --- what must be true -----------------------------------------------------------------------------------------------

AtMostOneBelieves == \A c, d \in Clients : Believes(c) /\ Believes(d) => c = d

\* An exclusive holder is alone; readers are among readers; permits among permits, and never more than the smallest n.
BelieversFit ==
    LET all == {c \in Clients : Believes(c)} IN
    \/ \A c, d \in all : c = d
    \/ \A c \in all : cl[c].kind = Shared
    \/ \A c \in all : IsLimited(cl[c].kind) /\ Cardinality(all) <= cl[c].kind

\* Who believes has the lock in Redis, by that very grant; who believes to be alone is.
BelieversHold == \A c \in Clients : Believes(c) =>
    \E h \in r.holders : h.id = Id(c) /\ h.fence = cl[c].tok /\ (cl[c].kind = Exclusive => h.kind = Exclusive)

\* The same of what Redis has; an id is there once, and the first in the queue that is not passed over has to wait.
HoldersFit ==
    /\ \A g, h \in r.holders : g # h => g.id # h.id /\ (g.kind = h.kind \/ (IsLimited(g.kind) /\ IsLimited(h.kind)))
    /\ \A g, h \in r.holders : g.kind = Exclusive => g = h
    /\ \A h \in r.holders : IsLimited(h.kind) => Cardinality(r.holders) <= h.kind
    /\ \A i \in 1..Len(r.queue) : /\ ~IsHolder(r, r.queue[i].id)
                                  /\ \A j \in 1..Len(r.queue) : r.queue[i].id = r.queue[j].id => i = j
    /\ \A i \in 1..Len(r.queue) :
        (\A j \in 1..(i - 1) : WasPassed(r.queue[j]) /\ Fits(r.holders, r.queue[j].kind)) /\ ~WasPassed(r.queue[i])
            => ~Fits(r.holders, r.queue[i].kind)

\* While a client believes, nobody has been given a newer token; except among permits.
TheNewestTokenBelieves == \A c \in Clients : Believes(c) =>
    IF IsLimited(cl[c].kind) THEN cl[c].last > past.newest
    ELSE cl[c].last = past.newest /\ past.permits = {} /\ (cl[c].kind = Exclusive => cl[c].tok = r.fence)

\* Each hold begins with a token larger than all before it. That of a permit may be smaller than those of other permits, and
\* was never used. A reader has the newest one, and the reader before it the same, if nothing came between. A hold that is taken over goes on
\* with its token.
TokensGrow ==
    [][\A c \in Clients : Believes(c)' /\ (cl'[c].last # cl[c].last \/ cl'[c].kind # cl[c].kind)
                          /\ (\A hold \in cl[c].takes : IsHeld(c) \/ cl'[c].last # hold.last) =>
        LET token == cl'[c].last
            kind == cl'[c].kind
        IN IF IsLimited(kind) THEN token > past.newest /\ token \notin past.permits
           ELSE /\ \A t \in past.permits : token > t \/ (token = t /\ kind = Shared)
                /\ token > past.newest \/ (token = past.newest /\ kind = Shared)
                /\ kind = Shared /\ past.reads # 0 => token = past.reads]_vars

\* A lease that has not run out ends only by a command of its own id, or that gives its grant to another id.
OnlyItsOwnIdEndsALease ==
    [][\A h \in r.holders : h.left > 0 /\ ~IsHolder(r', h.id)
        => \E m \in net : \/ m.k = "unlock" /\ m.id = h.id
                          \/ /\ m.k = "transfer" /\ m.from = h.id /\ m.tok = h.fence
                             /\ \E g \in r'.holders : g.id = m.id /\ g.fence = h.fence]_vars

\* Who is granted the lock leaves nobody behind who came before and is not passed over.
NobodyOvertakes ==
    [][\A h \in r'.holders : (\A g \in r.holders : g.id # h.id /\ g.fence # h.fence) =>
        \A i \in 1..Len(r.queue) :
            (\A j \in 1..i : r.queue[j].id # h.id) => ~IsQueued(r', r.queue[i].id) \/ IsPassed(r.queue[i])]_vars

\* Who waits is granted the lock, or leaves, or crashes.
EveryWaitEnds == \A c \in Clients : \A n \in 1..MaxIds :
    (IsWaiting(c) /\ cl[c].n = n) ~> ~(IsWaiting(c) /\ cl[c].n = n)
=====================================================================================
