/** Distributed locks: what an application imports. Nothing here knows Redis, Spring Data or Spring Boot. */
@NullMarked
package io.github.lockboot;

import org.jspecify.annotations.NullMarked;
