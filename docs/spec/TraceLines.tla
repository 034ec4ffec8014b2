------------------------------------ MODULE TraceLines ------------------------------
(* The traces, and a note of the line up to which each is accepted. Methods in Java take the place of these.               *)
Traces == <<>>
Reached(trace, line) == TRUE
=====================================================================================
