package io.github.lockboot.sample;

import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.lockboot.LockLostException;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LockUnavailableException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.TypeMismatchException;
import org.springframework.context.MessageSourceResolvable;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.dao.DataAccessException;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.MissingServletRequestParameterException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.context.request.WebRequest;
import org.springframework.web.method.annotation.HandlerMethodValidationException;
import org.springframework.web.servlet.mvc.method.annotation.ResponseEntityExceptionHandler;

import static java.util.Objects.requireNonNullElse;

/** Answers an exception with a problem detail (RFC 9457). For bad parameters it says what each must be. */
@RestControllerAdvice
class ProblemAdvice extends ResponseEntityExceptionHandler {

    private static final Logger log = LoggerFactory.getLogger(ProblemAdvice.class);

    /** Another request does the same at the moment, so this is a conflict and no failure of the service. */
    @ExceptionHandler
    ProblemDetail handle(LockNotAcquiredException busy) {
        return ProblemDetail.forStatusAndDetail(
                HttpStatus.CONFLICT, "Another request for the same is still being handled; try again.");
    }

    /** Logs the root cause only, because the message of the exception contains the lock name and so an openid. */
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

    @ExceptionHandler
    ProblemDetail handle(BadParameterException bad) {
        return badParameters(Map.of(bad.getParameter(), bad.getRequirement()));
    }

    @Override
    protected @Nullable ResponseEntity<Object> handleMissingServletRequestParameter(
            MissingServletRequestParameterException missing,
            HttpHeaders headers,
            HttpStatusCode status,
            WebRequest request) {
        return answer(missing, Map.of(missing.getParameterName(), "must be given"), headers, status, request);
    }

    @Override
    protected @Nullable ResponseEntity<Object> handleTypeMismatch(
            TypeMismatchException mismatch, HttpHeaders headers, HttpStatusCode status, WebRequest request) {
        return answer(mismatch, Map.of(mismatch.getPropertyName(), requirementOf(mismatch)), headers, status, request);
    }

    private static String requirementOf(TypeMismatchException mismatch) {
        Class<?> type = mismatch.getRequiredType();
        if (type != null && type.isEnum()) {
            return "must be one of "
                    + Stream.of(type.getEnumConstants()).map(String::valueOf).collect(Collectors.joining(", "));
        }
        Throwable cause = mismatch.getMostSpecificCause();
        return cause instanceof NumberFormatException
                ? "must be a whole number"
                : requireNonNullElse(cause.getMessage(), "must have another form");
    }

    @Override
    protected @Nullable ResponseEntity<Object> handleHandlerMethodValidationException(
            HandlerMethodValidationException invalid, HttpHeaders headers, HttpStatusCode status, WebRequest request) {
        Map<String, String> requirements = new TreeMap<>();
        invalid.getParameterValidationResults()
                .forEach(result -> requirements.put(
                        result.getMethodParameter().getParameterName(),
                        result.getResolvableErrors().stream()
                                .map(MessageSourceResolvable::getDefaultMessage)
                                .collect(Collectors.joining(", "))));
        return answer(invalid, requirements, headers, status, request);
    }

    private @Nullable ResponseEntity<Object> answer(
            Exception exception,
            Map<String, String> requirements,
            HttpHeaders headers,
            HttpStatusCode status,
            WebRequest request) {
        return handleExceptionInternal(exception, badParameters(requirements), headers, status, request);
    }

    private static ProblemDetail badParameters(Map<String, String> requirements) {
        String detail = requirements.entrySet().stream()
                .map(bad -> "'" + bad.getKey() + "' " + bad.getValue())
                .collect(Collectors.joining("; "));
        ProblemDetail problem = ProblemDetail.forStatusAndDetail(HttpStatus.BAD_REQUEST, detail);
        problem.setProperty("parameters", requirements);
        return problem;
    }
}
