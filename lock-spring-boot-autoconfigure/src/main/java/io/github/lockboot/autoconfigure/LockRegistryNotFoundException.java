package io.github.lockboot.autoconfigure;

import org.springframework.util.StringUtils;

/** No {@code LockRegistry}, or no unique one, could be found or created. */
class LockRegistryNotFoundException extends LockStartupException {

    private static final long serialVersionUID = 1L;

    LockRegistryNotFoundException(String problem, String action) {
        super(problem + ": " + action, problem + ".", StringUtils.capitalize(action) + ".");
    }
}
