/**
 * Runs locks, ours and peers', in processes of their own: a {@link io.github.lockboot.harness.Contender} is a library,
 * a {@link io.github.lockboot.harness.Worker} is one application instance that uses it, and a
 * {@link io.github.lockboot.harness.WorkerProcess} is that instance as the process that started it sees it.
 */
@NullMarked
package io.github.lockboot.harness;

import org.jspecify.annotations.NullMarked;
