package io.github.lockboot.sample.live;

import org.springframework.http.HttpStatus;
import org.springframework.web.ErrorResponseException;

class UnknownScenarioException extends ErrorResponseException {

    private static final long serialVersionUID = 1L;

    UnknownScenarioException(String scenario) {
        super(HttpStatus.NOT_FOUND);
        setDetail("There is no scenario '" + scenario + "'.");
    }
}
