package io.github.lockboot.autoconfigure.elsewhere;

import io.github.lockboot.DistributedLock;

/** Its method is not overridden by a class of another package, so not by the proxy of one either. */
public class PackagePrivateMethod {

    @DistributedLock(name = "x")
    void run() {}
}
