package io.github.lockboot.sample.token;

/** What the token is fetched from; slow, and asking it again makes the older token invalid. */
interface Upstream {

    /** Fetches a new token and puts it into the cache. */
    String fetch() throws InterruptedException;
}
