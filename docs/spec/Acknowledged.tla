-------------------------------- MODULE Acknowledged --------------------------------
(* Grants and renewals that count once replicas have them. A master writes a log, replicas copy it later, in order; a master  *)
(* that dies is replaced, and what only it had is gone. Of the lock there is left what matters here: who has it, until when.  *)
(* Needed replicas acknowledge. If that is all of them, any may be promoted; otherwise one with the longest log, as Sentinels *)
(* and a Cluster choose. Clocks agree, and nothing but the master fails: Lock.tla is about the rest.                          *)
(*                                                                                                                          *)
(* Mutant names one rule that is broken on purpose; "none" is the protocol as it is.                                        *)
EXTENDS Integers, Sequences, FiniteSets, TLC

CONSTANTS
    Clients,
    Servers,
    Needed,         \* replicas that acknowledge
    Ttl,
    MaxTime,
    MaxWrites,
    MaxFailovers,
    Mutant

VARIABLES
    log,            \* of each server: writes, each who has the lock from then on and until when
    master,
    asked,          \* of each client: a write of its own that is not acknowledged yet, and its place in the log; or None
    until,          \* of each client: it believes that it has the lock until then
    now,
    failovers

vars == <<log, master, asked, until, now, failovers>>

None == [by |-> "nobody", till |-> 0, at |-> 0]
Free == [by |-> "nobody", till |-> 0]

Min(a, b) == IF a < b THEN a ELSE b
Replicas == Servers \ {master}
Present == IF log[master] = <<>> THEN Free ELSE log[master][Len(log[master])]
IsTaken == Present.till > now
Believes(c) == until[c] > now
Has(s, c) == Len(log[s]) >= asked[c].at /\ log[s][asked[c].at] = [by |-> asked[c].by, till |-> asked[c].till]

Init ==
    /\ log = [s \in Servers |-> <<>>]
    /\ master \in Servers
    /\ asked = [c \in Clients |-> None]
    /\ until = [c \in Clients |-> 0]
    /\ now = 0
    /\ failovers = 0

Write(w) == Len(log[master]) < MaxWrites /\ log' = [log EXCEPT ![master] = Append(@, w)]

\* The master writes that the client has the lock for a whole ttl. The client believes it at once only by mistake.
Own(c, mutant) ==
    /\ asked[c] = None
    /\ Write([by |-> c, till |-> now + Ttl])
    /\ asked' = [asked EXCEPT ![c] = [by |-> c, till |-> now + Ttl, at |-> Len(log[master]) + 1]]
    /\ until' = IF Mutant = mutant THEN [until EXCEPT ![c] = now + Ttl] ELSE until
    /\ UNCHANGED <<master, now, failovers>>

Grant(c) == ~IsTaken /\ Own(c, "count-unacknowledged")

Renew(c) == Believes(c) /\ IsTaken /\ Present.by = c /\ Own(c, "renew-unacknowledged")

Copy(r) ==
    /\ r \in Replicas
    /\ Len(log[r]) < Len(log[master])
    /\ log' = [log EXCEPT ![r] = Append(@, log[master][Len(@) + 1])]
    /\ UNCHANGED <<master, asked, until, now, failovers>>

\* The master waits for its replicas. It is asked only where the write ran; any master that has the write would do.
Acknowledge(c) ==
    /\ asked[c] # None
    /\ Mutant # "wait-elsewhere" => Has(master, c)
    /\ Cardinality({r \in Replicas : Len(log[r]) >= Min(asked[c].at, Len(log[master]))}) >= Needed
    /\ until' = [until EXCEPT ![c] = asked[c].till]
    /\ asked' = [asked EXCEPT ![c] = None]
    /\ UNCHANGED <<log, master, now, failovers>>

\* What was not acknowledged in time is given back. A renewal is only forgotten.
GiveUp(c) ==
    /\ asked[c] # None
    /\ asked' = [asked EXCEPT ![c] = None]
    /\ IF Present.by = c /\ ~Believes(c) THEN Write(Free) ELSE UNCHANGED log
    /\ UNCHANGED <<master, until, now, failovers>>

\* Not acknowledged: who has it in a copy that lacks the release does not believe so any more.
Release(c) ==
    /\ Believes(c)
    /\ until' = [until EXCEPT ![c] = 0]
    /\ asked' = [asked EXCEPT ![c] = None]
    /\ IF Present.by = c THEN Write(Free) ELSE UNCHANGED log
    /\ UNCHANGED <<master, now, failovers>>

\* The others begin again with what the new master has, the old one too.
FailOver(r) ==
    /\ failovers < MaxFailovers
    /\ r \in Replicas
    /\ Needed < Cardinality(Replicas) => \A other \in Replicas : Len(log[other]) <= Len(log[r])
    /\ master' = r
    /\ log' = [s \in Servers |-> SubSeq(log[r], 1, Min(Len(log[s]), Len(log[r])))]
    /\ failovers' = failovers + 1
    /\ UNCHANGED <<asked, until, now>>

Tick ==
    /\ now < MaxTime
    /\ now' = now + 1
    /\ UNCHANGED <<log, master, asked, until, failovers>>

Next ==
    \/ \E c \in Clients : Grant(c) \/ Renew(c) \/ Acknowledge(c) \/ GiveUp(c) \/ Release(c)
    \/ \E s \in Servers : Copy(s) \/ FailOver(s)
    \/ Tick

Spec == Init /\ [][Next]_vars

Symmetric == Permutations(Clients) \union Permutations(Servers)

AtMostOneBelieves == Cardinality({c \in Clients : Believes(c)}) <= 1
======================================================================================
