package io.github.lockboot.sample.live;

import org.springframework.http.HttpStatus;
import org.springframework.web.ErrorResponseException;

/** A scenario has one load at a time. */
class LoadRunningException extends ErrorResponseException {

    private static final long serialVersionUID = 1L;

    LoadRunningException(String scenario) {
        super(HttpStatus.CONFLICT);
        setDetail("'" + scenario + "' is under load already; stop it or wait for its end.");
    }
}
