package io.github.lockboot.redis.engine;

/** On what terms an acquisition id holds: fixed for its life. Waiters with other terms need an id of their own. */
public record Terms(long ttlMillis, boolean renew) {}
