/**
 * Breaks processes, networks and servers while locks are used by several JVMs, and judges what came of it. A
 * {@link io.github.lockboot.faults.Fault} is injected into a {@link io.github.lockboot.faults.Scene}, the
 * {@link io.github.lockboot.faults.Runner} repeats that for each {@link io.github.lockboot.faults.Contestant}, a
 * {@link io.github.lockboot.faults.Soak} does it with all faults on the same processes, and
 * {@link io.github.lockboot.faults.HistoryChecker}, {@link io.github.lockboot.faults.Witness} and
 * {@link io.github.lockboot.faults.ServerWatch} are the judges.
 */
@NullMarked
package io.github.lockboot.faults;

import org.jspecify.annotations.NullMarked;
