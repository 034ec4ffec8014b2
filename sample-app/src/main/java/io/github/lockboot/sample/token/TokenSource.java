package io.github.lockboot.sample.token;

/** A way to get the token that asks the upstream once, however many callers want it. */
interface TokenSource {

    /** As the parameter {@code mode} names it. */
    String mode();

    /** The token from the cache, or else from the upstream. */
    String get(TokenCache cache, Upstream upstream) throws InterruptedException;
}
