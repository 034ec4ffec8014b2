package io.github.lockboot.sample.token;

/** A way to get the token such that the upstream is asked once, whoever wants it. */
interface TokenSource {

    /** As the parameter {@code mode} names it. */
    String mode();

    /** The token from the cache, or else from the upstream. */
    String get(TokenCache cache, Upstream upstream) throws InterruptedException;
}
