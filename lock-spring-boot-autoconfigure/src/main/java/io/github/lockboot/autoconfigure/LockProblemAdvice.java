package io.github.lockboot.autoconfigure;

import java.time.Duration;
import java.util.Locale;
import java.util.Objects;

import io.github.lockboot.LockException;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.internal.Futures;
import io.github.lockboot.internal.LockNames;
import org.jspecify.annotations.Nullable;
import org.springframework.context.MessageSource;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.ErrorResponse;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ExceptionHandler;

/**
 * Answers a request that ends without a lock with a problem detail (RFC 9457). A handler of the application comes
 * first: that of a controller, and that of any advice, because this one has the lowest precedence and is the last bean.
 * The texts may be replaced by messages of the application, under the codes that Spring has for such details. An aspect
 * may have a proxy made of each advice, so the class is not final.
 */
@ControllerAdvice
@Order(Ordered.LOWEST_PRECEDENCE)
class LockProblemAdvice {

    private final MessageSource messages;
    private final boolean showsNames;

    LockProblemAdvice(MessageSource messages, boolean showsNames) {
        this.messages = messages;
        this.showsNames = showsNames;
    }

    /**
     * An exception of the application that has one of a lock as its cause is the application's, and is not handled.
     *
     * @param thrown by the request
     * @param locale of the client
     */
    @ExceptionHandler({LockNotAcquiredException.class, LockUnavailableException.class})
    ResponseEntity<ProblemDetail> answer(Throwable thrown, Locale locale) throws Throwable {
        Throwable failure = Futures.unwrap(thrown);
        if (failure instanceof LockNotAcquiredException refusal) {
            String own = refusal.getUserMessage();
            String text = own != null
                    ? own
                    : text(refusal, "Another request holds what this one needs; try again later.", locale);
            return answer(HttpStatus.CONFLICT, refusal, text, refusal.getRetryAfter());
        } else if (failure instanceof LockUnavailableException outage) {
            String text = text(outage, "The request cannot be handled at the moment; try again later.", locale);
            return answer(HttpStatus.SERVICE_UNAVAILABLE, outage, text, Duration.ZERO); // it may end at once
        }
        throw thrown;
    }

    private String text(LockException failure, String otherwise, Locale locale) {
        String code = ErrorResponse.getDefaultDetailMessageCode(failure.getClass(), null);
        return Objects.requireNonNull(messages.getMessage(code, null, otherwise, locale));
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
