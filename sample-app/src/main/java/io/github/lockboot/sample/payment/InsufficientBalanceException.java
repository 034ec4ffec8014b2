package io.github.lockboot.sample.payment;

import io.github.lockboot.sample.Money;
import org.springframework.http.HttpStatus;
import org.springframework.web.ErrorResponseException;

/** The account has less than is to be paid. */
class InsufficientBalanceException extends ErrorResponseException {

    private static final long serialVersionUID = 1L;

    InsufficientBalanceException(Money balance, Money money) {
        super(HttpStatus.CONFLICT);
        setDetail("The balance is " + balance + ", which is less than " + money + ".");
    }
}
