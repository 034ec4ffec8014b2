package io.github.lockboot.redis.engine;

/** What came of giving a lock back. */
enum ReleaseOutcome {

    /** The next waiter of this JVM has it. Redis was not asked. */
    PASSED_ON,

    /** Redis has given it to another, or freed it. */
    RELEASED,

    /** Redis did not answer; it is asked until it does. */
    UNKNOWN,

    /** It was no longer ours. */
    LOST
}
