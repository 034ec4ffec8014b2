------------------------------------ MODULE TraceLines ------------------------------
(* The traces, and notes of the line up to which each is accepted and of what was covered. Java takes the place of these.  *)
Traces == <<>>
Reached(trace, line) == TRUE
Covers(what) == TRUE
=====================================================================================
