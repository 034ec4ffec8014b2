----------------------------- MODULE AcknowledgedTrace -----------------------------
(* Whether leases that a real replica has to acknowledge come and go as in Acknowledged.tla. A trace has one line for each    *)
(* step that can be seen; what the replica copies cannot, but when it cannot copy. No lease ends by itself: time stands still. *)
EXTENDS Acknowledged, TraceLines

VARIABLES
    t,          \* which trace
    i,          \* its next line
    held        \* nothing is copied

Line == Traces[t].lines[i]
Is(what) == i <= Len(Traces[t].lines) /\ Line.k = what /\ i' = i + 1 /\ t' = t

Sees ==
    /\ \/ Is("grant") /\ Grant(Line.c)
       \/ Is("renew") /\ Renew(Line.c)
       \/ Is("believes") /\ Acknowledge(Line.c)
       \/ Is("gives up") /\ GiveUp(Line.c)
       \/ Is("release") /\ Release(Line.c)
       \/ Is("fail over") /\ \E r \in Replicas : FailOver(r)
    /\ UNCHANGED held

Holds == (Is("hold") \/ Is("go")) /\ held' = (Line.k = "hold") /\ UNCHANGED vars

Copies == ~held /\ (\E r \in Replicas : Copy(r)) /\ UNCHANGED <<t, i, held>>

TraceSpec == Init /\ t \in 1..Len(Traces) /\ i = 1 /\ held = FALSE /\ [][Sees \/ Holds \/ Copies]_<<vars, t, i, held>>

Progresses == Reached(t, i)
=====================================================================================
