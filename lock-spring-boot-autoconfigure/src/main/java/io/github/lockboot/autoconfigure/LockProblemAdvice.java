package io.github.lockboot.autoconfigure;

import java.time.Duration;

import io.github.lockboot.LockException;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.internal.Futures;
import io.github.lockboot.internal.LockNames;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ExceptionHandler;

import static java.util.Objects.requireNonNullElse;

/**
 * Answers a request that ends without a lock with a problem detail (RFC 9457). A handler of the application comes
 * first: that of a controller, and that of any advice, because this one has the lowest precedence and is the last bean.
 * An aspect may have a proxy made of each advice, so the class is not final.
 */
@ControllerAdvice
@Order(Ordered.LOWEST_PRECEDENCE)
class LockProblemAdvice {

    private final boolean showsNames;

    LockProblemAdvice(boolean showsNames) {
        this.showsNames = showsNames;
    }

    /**
     * An exception of the application that has one of a lock as its cause is the application's, and is not handled.
     *
     * @param thrown by the request
     */
    @ExceptionHandler({LockNotAcquiredException.class, LockUnavailableException.class})
    ResponseEntity<ProblemDetail> answer(Throwable thrown) throws Throwable {
        Throwable failure = Futures.unwrap(thrown);
        if (failure instanceof LockNotAcquiredException refusal) {
            String text = "Another request holds what this one needs; try again later.";
            return answer(
                    HttpStatus.CONFLICT,
                    refusal,
                    requireNonNullElse(refusal.getUserMessage(), text),
                    refusal.getRetryAfter());
        } else if (failure instanceof LockUnavailableException outage) {
            String text = "The request cannot be handled at the moment; try again later.";
            return answer(HttpStatus.SERVICE_UNAVAILABLE, outage, text, Duration.ZERO); // it may end at once
        }
        throw thrown;
    }

    private ResponseEntity<ProblemDetail> answer(
            HttpStatus status, LockException failure, String detail, @Nullable Duration retryAfter) {
        ProblemDetail problem = ProblemDetail.forStatusAndDetail(status, detail);
        if (showsNames) {
            problem.setProperty("lock", LockNames.printable(failure.getLockName()));
        }
        ResponseEntity.BodyBuilder response = ResponseEntity.status(status);
        if (retryAfter != null) {
            long seconds = Math.max(1, retryAfter.plusNanos(999_999_999).toSeconds());
            response.header(HttpHeaders.RETRY_AFTER, Long.toString(seconds));
        }
        return response.body(problem);
    }
}
