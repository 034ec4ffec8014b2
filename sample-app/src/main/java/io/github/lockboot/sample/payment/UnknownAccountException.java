package io.github.lockboot.sample.payment;

import org.springframework.http.HttpStatus;
import org.springframework.web.ErrorResponseException;

/** There is no such account, or no longer. */
class UnknownAccountException extends ErrorResponseException {

    private static final long serialVersionUID = 1L;

    UnknownAccountException(String accountId) {
        super(HttpStatus.NOT_FOUND);
        setDetail("There is no account '" + accountId + "'; accounts are kept for a day after the last payment.");
    }
}
