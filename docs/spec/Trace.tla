------------------------------------ MODULE Trace -----------------------------------
(* Whether behaviours of the code are behaviours of Lock.tla. A trace has one line for each step: a command that a client   *)
(* sent, the run of one in Redis with all that the key has after it, an answer or a message that a client received, and     *)
(* what it believes then. Each line must be a step of the model; TLC finds out whether the last line can be reached.        *)
(*                                                                                                                         *)
(* A tick is a millisecond, a fence is the microseconds of the clock of Redis since the trace began. A command stays on the  *)
(* wire until it is known that it does not run again. A client is what a JVM wants under one id at a time.                   *)
EXTENDS Lock, TraceLines

CONSTANTS
    Patience,           \* a waiter that was not seen for this long is dropped
    Silence             \* a waiter asks again within this time, pauses of its JVM included

VARIABLES
    t,                  \* which trace
    i,                  \* its next line
    quiet               \* how long ago each client asked

Line == Traces[t].lines[i]
Is(what) == i <= Len(Traces[t].lines) /\ Line.k = what /\ i' = i + 1 /\ t' = t
Asks(c) == quiet' = [quiet EXCEPT ![c] = 0]
AsksNothing == UNCHANGED quiet
Stays == UNCHANGED vars

TraceClients == 1..Traces[1].clients

NoSymmetry == {}

\* --- what the model leaves open --------------------------------------------------------------------------------------

TraceTtlOf(id) == Traces[t].ttls[id[1]][IF IsOfNobody(id) THEN -id[2] ELSE id[2]]
TraceClaimOf(id) == Min(Claim, TraceTtlOf(id))
TraceLocalsOf(kind) == IF IsLimited(kind) THEN 64 ELSE Locals
TraceDriftOf(lease) == lease \div 100 + Drift
TraceNextFence(fence) == Max(fence + 1, Line.micros)
TraceIsStale(waiter) == waiter.id \in Line.dropped
TraceIsPassed(waiter) == waiter.id \in Line.passed
\* Known right after a run, which is when it matters.
TraceWasPassed(waiter) == LET last == Traces[t].lines[i - 1] IN last.k # "run" \/ waiter.id \in last.passed
TraceWaitingWith(c) == {Line.readers}
TraceAfter(m) == net                                    \* the answers to two commands may be the same
TraceMayPoll(c) == IsWaiting(c)
TraceMayRenew(c) == IsHeld(c)
TraceIsDated(m) == m.k \in {"acquire", "unlock", "renew", "downgrade", "transfer", "owner", "queued", "renewed"}

\* --- the steps -------------------------------------------------------------------------------------------------------

Near(a, b) == a - b \in -2..2   \* clocks are read in whole milliseconds

Owner(id) == id[1]
IsCurrent(id) == Id(Owner(id)) = id

Passes == Is("tick") /\ Elapse(Line.n, Line.by) /\ quiet' = [c \in Clients |-> quiet[c] + Line.by[c]]
                     /\ \A c \in Clients : IsWaiting(c) => quiet'[c] <= Silence

Begins == Is("begin") /\ Begin(Line.c) /\ AcquireCommand(<<Line.c, cl[Line.c].n + 1>>, Line.kind, Line.queues) \in net'
                      /\ cl'[Line.c].kind = Line.kind /\ Asks(Line.c)

\* Of a hold that has been handed over.
TakesOver == Is("take over") /\ TakeOver(Line.c) /\ cl'[Line.c].kind = Line.kind /\ Asks(Line.c)
             /\ \A hold \in cl'[Line.c].takes : hold.id = Line.from /\ hold.tok = Line.tok

Polls == Is("poll") /\ IsCurrent(Line.id) /\ Poll(Owner(Line.id)) /\ Asks(Owner(Line.id))

Ends(m) == m.k = "unlock" /\ m.id = Line.id

\* The id ends here. If a command of it is under way, Redis is told later.
EndsHere == Is("end") /\
    LET c == Owner(Line.id) IN IF IsCurrent(Line.id) /\ (IsWaiting(c) \/ IsHeld(c)) THEN End(c) ELSE Stays

\* The last token is told, or the one before the first if no thread has had the hold; that of a reader says nothing.
ToldLast(c) == cl[c].kind = Shared \/ Line.last = cl[c].last \/ (Line.last = cl[c].tok - 1 /\ cl[c].last = cl[c].tok)

Unlocks == Is("unlock") /\
    \/ /\ IsCurrent(Line.id) /\ Release(Owner(Line.id))
       /\ ToldLast(Owner(Line.id))
    \/ /\ IsCurrent(Line.id) /\ Leave(Owner(Line.id))
       /\ UnlockCommand(Line.id, Line.last) \in net'
    \/ /\ \/ Line.id[2] \in cl[Owner(Line.id)].granted /\ IsOver(Owner(Line.id), Line.id)
          \/ \E m \in net : Ends(m) /\ (m.last <= Line.last + 1 \/ m.last = cl[Owner(Line.id)].top \/ Line.last = 0)
       /\ ~(IsCurrent(Line.id) /\ (IsHeld(Owner(Line.id)) \/ IsEnding(Owner(Line.id))))
       /\ net' = net \union {UnlockCommand(Line.id, Line.last)}
       /\ UNCHANGED <<r, cl, past, faults>>

UnlocksWithNext == Is("next") /\ IsCurrent(Line.id) /\
    LET c == Owner(Line.id) IN
    /\ ReleaseWithNext(c) /\ cl'[c].kind = Line.kind /\ Asks(c)
    /\ ToldLast(c)

Renews == Is("renew") /\ IsCurrent(Line.id) /\ SendRenew(Owner(Line.id)) /\ cl[Owner(Line.id)].tok = Line.tok

Downgrades == Is("downgrade") /\
    \/ /\ IsCurrent(Line.id) /\ SendDowngrade(Owner(Line.id))
       /\ LET c == Owner(Line.id) IN cl[c].tok = Line.tok /\ cl[c].last = Line.last
    \/ /\ \E m \in net : m.k = "downgrade" /\ m.id = Line.id /\ m.tok = Line.tok /\ m.last = Line.last
       /\ net' = net \union {[k |-> "downgrade", id |-> Line.id, tok |-> Line.tok, last |-> Line.last, age |-> 0]}
       /\ UNCHANGED <<r, cl, past, faults>>

HandsOver == Is("hand over") /\ IsCurrent(Line.id) /\
    LET c == Owner(Line.id) IN HandOver(c) /\ cl[c].tok = Line.tok /\ Cardinality(net') = Cardinality(net) + 1

PassesOn == Is("pass on") /\ PassOn(Line.c)
Joins == Is("join") /\ Join(Line.c)
Parts == Is("part") /\ Part(Line.c)
Crashes == Is("crash") /\ Crash(Line.c)

\* What the key has, as far as the model has it.
IsStored ==
    IF Line.there
    THEN /\ r'.holders = Line.holders
         /\ r'.queue = Line.queue
         /\ r'.fence = Line.fence
         /\ r'.token = Line.token
    ELSE r'.holders = {} /\ r'.queue = <<>>

IsCommand(m) ==
    /\ m.k = Line.command.k /\ m.id = Line.command.id
    /\ m.age = Line.command.age
    /\ CASE m.k = "acquire" -> m.kind = Line.command.kind /\ m.queues = Line.command.queues
         [] m.k = "renew" -> m.tok = Line.command.tok
         [] m.k = "transfer" -> m.from = Line.command.from /\ m.tok = Line.command.tok
         [] m.k = "downgrade" -> m.tok = Line.command.tok /\ m.last = Line.command.last
         [] m.k = "unlock" -> m.next = Line.command.next /\ (Line.command.last = 0 \/ m.last \in Line.command.last .. Line.command.last + 1)
         [] OTHER -> TRUE

\* One of the commands on the wire, which stays there.
Runs == Is("run") /\ (IF Line.dropped = {} THEN TRUE ELSE Line.unseen >= Patience) /\ \E m \in net :
    /\ IsCommand(m)
    /\ Execute(m)
    /\ m \in net'
    /\ IsStored
    /\ IF Line.reply.k = "none" \/ ~IsAlive(Owner(Line.reply.id)) THEN TRUE ELSE Line.reply \in net'
    /\ Covers("run " \o m.k \o ", reply " \o Line.reply.k)

\* The key is gone, because all that it had was over, or somebody deleted it.
Forgets == Is("forget") /\ (Line.unseen >= Patience \/ r.queue = <<>>) /\
    LET last == r.fence + LocalsOf(Exclusive) - 1 IN
    /\ Line.deleted \/ \A h \in r.holders : h.left = 0
    /\ r' = [holders |-> {}, fence |-> IF \E h \in r.holders : h.kind = Exclusive THEN last ELSE r.fence, token |-> 0,
             queue |-> <<>>]
    /\ past' = [past EXCEPT !.reads = 0]
    /\ UNCHANGED <<net, cl, faults>>

Situation(c, id) == IF IsOver(c, id) THEN "over" ELSE cl[c].ph

Receives == Is("receive") /\
    LET m == Line.m
        c == Owner(m.id)
    IN /\ m \in net /\ Receive(m)
       /\ Covers("receive " \o m.k \o ", " \o Situation(c, m.id) \o
                 IF m.k # "owner" \/ IsOver(c, m.id) \/ ~IsHeld(c) THEN "" ELSE
                 IF m.fence = cl[c].tok THEN ", of this grant" ELSE IF m.fence < cl[c].tok THEN ", of an older grant"
                 ELSE ", of a newer grant")

\* A push may be no more than a reason to ask: when little of its lease is left. It is no more if it has to be acknowledged, or
\* if the lease is not renewed.
MayIgnore(c, m) ==
    LET left == Lease(m.lease, cl[c].asked) IN
    Line.ignores \/ cl[c].fence = 0 \/ left <= m.lease \div 3 + 2

Pushed == Is("push") /\
    LET m == Line.m
        c == Owner(m.id)
    IN IF IsOver(c, m.id) THEN IF m \in net THEN Receive(m) /\ Covers("receive push, over") ELSE Stays
       ELSE IF IsHeld(c) THEN Stays
       ELSE \/ m \in net /\ ~Line.ignores /\ Receive(m) /\ m \in net'
               /\ Covers("receive push, waiting" \o IF cl'[c].ph = "held" THEN ", taken" ELSE "")
            \/ MayIgnore(c, m) /\ Stays

\* Others wait. Of an id that has ended it tells that it is alive.
Hinted == Is("hint") /\
    LET c == Owner(Line.id) IN
    IF IsOver(c, Line.id) THEN net' = net \union {UnlockCommand(Line.id, cl[c].top)} /\ UNCHANGED <<r, cl, past, faults>>
    ELSE cl' = [cl EXCEPT ![c].told = IsHeld(c)] /\ UNCHANGED <<r, net, past, faults>>

\* What the client believes.
Owns == Is("owns") /\ IsCurrent(Line.id) /\
    LET c == Owner(Line.id) IN
    /\ IsHeld(c) /\ cl[c].tok = Line.tok /\ Near(Line.left, cl[c].left)
    /\ Line.last = 0 \/ cl[c].last = Line.last
    /\ (cl[c].kind = Shared) = Line.shared
    /\ Stays

\* A thread may use its hold, whatever the engine has of it.
IsUsable == Is("usable") /\ IsCurrent(Line.id) /\ IsHeld(Owner(Line.id)) /\ Stays

\* It has ended, and Redis is told later, or it is lost, at its deadline.
OwnsNoMore == Is("lost") /\
    IF IsCurrent(Line.id) /\ IsHeld(Owner(Line.id))
    THEN LET c == Owner(Line.id) IN
         \/ Line.released /\ End(c)
         \/ cl[c].left <= 2 /\ cl' = [cl EXCEPT ![c] = Rest(c)] /\ UNCHANGED <<r, net, past, faults>>
    ELSE Stays

\* The client has forgotten the id: whoever waited under it has left without a word, after a refusal.
IsGone == Is("gone") /\
    LET c == Owner(Line.id) IN
    IF IsCurrent(Line.id) /\ (IsWaiting(c) \/ IsEnding(c))
    THEN cl' = [cl EXCEPT ![c] = Rest(c)] /\ UNCHANGED <<r, net, past, faults>>
    ELSE Stays

\* Nothing more is heard of the id: whoever waited has left without a word, and nothing about it is on the wire.
IsHeardOfNoMore == Is("over") /\
    LET c == Owner(Line.id) IN
    /\ cl' = IF IsCurrent(Line.id) /\ (IsWaiting(c) \/ IsEnding(c)) THEN [cl EXCEPT ![c] = Rest(c)] ELSE cl
    /\ net' = {m \in net : m.id # Line.id}
    /\ UNCHANGED <<r, past, faults>>

TraceInit == Init /\ t \in 1..Len(Traces) /\ i = 1 /\ quiet = [c \in Clients |-> 0]

TraceNext ==
    \/ /\ UNCHANGED given
       /\ Passes \/ Begins \/ TakesOver \/ Polls \/ UnlocksWithNext
    \/ HandsOver /\ AsksNothing
    \/ /\ AsksNothing /\ UNCHANGED given
       /\ \/ Unlocks \/ Renews \/ Downgrades \/ PassesOn \/ Joins \/ Parts \/ Crashes \/ Runs \/ Forgets
          \/ Receives \/ Pushed \/ Hinted \/ EndsHere \/ Owns \/ IsUsable \/ OwnsNoMore \/ IsGone \/ IsHeardOfNoMore

TraceSpec == TraceInit /\ [][TraceNext]_<<vars, t, i, quiet>>

Progresses == Reached(t, i)
=====================================================================================
