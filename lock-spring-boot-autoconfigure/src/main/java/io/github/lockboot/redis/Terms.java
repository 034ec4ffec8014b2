package io.github.lockboot.redis;

/** On what terms an acquisition id holds: fixed for its life. Waiters with other terms need an id of their own. */
record Terms(long ttlMillis, boolean renew) {}
