package io.github.lockboot.sample;

import io.github.lockboot.LockLostException;
import io.github.lockboot.LockUnavailableException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.MessageSourceResolvable;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.dao.DataAccessException;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.context.request.WebRequest;
import org.springframework.web.method.annotation.HandlerMethodValidationException;
import org.springframework.web.servlet.mvc.method.annotation.ResponseEntityExceptionHandler;

import static java.util.stream.Collectors.joining;

/** Answers an exception with a problem detail (RFC 9457): those that the starter leaves to the application. */
@RestControllerAdvice
class ProblemAdvice extends ResponseEntityExceptionHandler {

    private static final Logger log = LoggerFactory.getLogger(ProblemAdvice.class);

    /**
     * One answer for locks and data. The starter would answer the exception of a lock, too, as it does if another
     * request holds the lock. Logs the root cause only, because the message of the exception contains the lock name and
     * so an openid.
     */
    @ExceptionHandler({LockUnavailableException.class, DataAccessException.class})
    ProblemDetail handleOutage(RuntimeException outage) {
        log.warn("Answering 503: {}", String.valueOf(NestedExceptionUtils.getRootCause(outage)));
        return ProblemDetail.forStatusAndDetail(
                HttpStatus.SERVICE_UNAVAILABLE, "Redis is out of reach; try again later.");
    }

    @ExceptionHandler
    ProblemDetail handle(LockLostException lost) {
        return ProblemDetail.forStatusAndDetail(
                HttpStatus.SERVICE_UNAVAILABLE,
                "The lock was lost during the request; ask again to see what was done.");
    }

    /** Says what each parameter must be. */
    @Override
    protected @Nullable ResponseEntity<Object> handleHandlerMethodValidationException(
            HandlerMethodValidationException invalid, HttpHeaders headers, HttpStatusCode status, WebRequest request) {
        String detail = invalid.getParameterValidationResults().stream()
                .map(result -> "'" + result.getMethodParameter().getParameterName() + "' "
                        + result.getResolvableErrors().stream()
                                .map(MessageSourceResolvable::getDefaultMessage)
                                .collect(joining(", ")))
                .collect(joining("; "));
        return handleExceptionInternal(
                invalid, ProblemDetail.forStatusAndDetail(status, detail), headers, status, request);
    }
}
