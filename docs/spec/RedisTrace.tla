---------------------------------- MODULE RedisTrace --------------------------------
(* Whether what a real Redis did to a lock is what Lock.tla says of the scripts. A trace has the commands that ran, in order, *)
(* each with all that the key has after it and with the messages that it sent. Clients and the network are left out: any    *)
(* command may come at any time.                                                                                           *)
(*                                                                                                                         *)
(* The clock of a script is known by what it stored, or else lies between two times of MONITOR; it never goes back. A tick  *)
(* is a millisecond, a fence is the microseconds of that clock since the trace began.                                       *)
EXTENDS Lock, TraceLines

VARIABLES
    t,                  \* which trace
    i,                  \* its next line
    now,                \* the clock, ms since the trace began
    deaf                \* the waiters that the last run found that no message reaches

Line == Traces[t].lines[i]
Is(what) == i <= Len(Traces[t].lines) /\ Line.k = what /\ i' = i + 1 /\ t' = t

\* --- what the model leaves open --------------------------------------------------------------------------------------

RedisClients == {}
RedisSymmetric == {}
RedisTtlOf(id) == Traces[t].ttls[id[2]]
RedisClaimOf(id) == Min(Claim, RedisTtlOf(id))
RedisLocalsOf(kind) == IF IsLimited(kind) THEN 64 ELSE Locals
RedisNextFence(fence) == Max(fence + 1, Line.micros)
RedisIsStale(waiter) == waiter.id \in Line.dropped
RedisIsPassed(waiter) == waiter.id \in deaf'
\* Known right after a run, which is when it matters.
RedisWasPassed(waiter) == Traces[t].lines[i - 1].k # "run" \/ waiter.id \in deaf

\* --- the steps -------------------------------------------------------------------------------------------------------

Passes == Is("clock") /\ \E ms \in Max(now, Line.from)..Line.to :
    /\ now' = ms
    /\ deaf' = deaf
    /\ Elapse(ms - now, <<>>)

UntilOf(h) == [id |-> h.id, kind |-> h.kind, until |-> now + h.left, fence |-> h.fence]

IsNothing == r'.holders = {} /\ r'.queue = <<>>

\* What the key has, as far as the model has it. A lease that is over may still be there.
IsStored ==
    IF Line.maybe /\ IsNothing THEN TRUE
    ELSE IF Line.there
    THEN /\ {UntilOf(h) : h \in r'.holders} = {[h EXCEPT !.until = Max(now, @)] : h \in Line.holders}
         /\ r'.queue = Line.queue
         /\ r'.fence = Line.fence
         /\ r'.token = Line.token
    ELSE IsNothing

\* MONITOR does not show who listens. A waiter that was marked in this run did not; one that was marked before may listen again.
Listens == \E again \in SUBSET (Line.passed \ Line.marked) : deaf' = Line.passed \ again

Runs == Is("run") /\ (IF Line.dropped = {} THEN TRUE ELSE Line.unseen >= Line.patience) /\ Listens /\
    LET s == TLCEval(Ran(Line.command)) IN
    /\ r' = [holders |-> s.holders, fence |-> s.fence, token |-> s.token, queue |-> s.queue]
    /\ IsStored
    /\ {m \in s.out : m.k = "push"} = Line.pushes
    /\ UNCHANGED <<net, cl, past, given, faults, now>>

Nothing == [r EXCEPT !.holders = {}, !.token = 0, !.queue = <<>>]

\* A script leaves no key, or found none.
IsRemoved == Is("removed") /\ r.holders = {} /\ r.queue = <<>> /\ r' = Nothing
             /\ UNCHANGED <<net, cl, past, given, faults, now, deaf>>

\* The key has come to its end, because all that it had was over; or it may have.
IsGone == Is("gone") /\ UNCHANGED <<net, cl, past, given, faults, now, deaf>> /\
    \/ /\ \A h \in r.holders : h.left = 0
       /\ r.queue = <<>> \/ Line.unseen >= Line.patience
       /\ r' = Nothing
    \/ ~Line.surely /\ r' = r

RedisSpec == Init /\ t \in 1..Len(Traces) /\ i = 1 /\ now = 0 /\ deaf = {}
    /\ [][Passes \/ Runs \/ IsRemoved \/ IsGone]_<<vars, t, i, now, deaf>>

Progresses == Reached(t, i)
=====================================================================================
