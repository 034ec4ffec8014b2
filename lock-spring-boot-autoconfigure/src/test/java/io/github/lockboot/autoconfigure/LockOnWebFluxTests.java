package io.github.lockboot.autoconfigure;

import org.springframework.boot.test.context.runner.AbstractApplicationContextRunner;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.ResponseEntity;
import org.springframework.test.web.reactive.server.EntityExchangeResult;
import org.springframework.test.web.reactive.server.WebTestClient;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.reactive.config.EnableWebFlux;
import org.springframework.web.reactive.result.method.annotation.ResponseEntityExceptionHandler;

import static java.util.Objects.requireNonNullElse;

/** The answers of WebFlux. */
class LockOnWebFluxTests extends LockWebContract {

    @Override
    AbstractApplicationContextRunner<?, ?, ?> runner() {
        return new ReactiveWebApplicationContextRunner().withConfiguration(OURS).withUserConfiguration(WebFlux.class);
    }

    @Override
    Client client(ConfigurableApplicationContext context) {
        WebTestClient client = WebTestClient.bindToApplicationContext(context).build();
        return path -> {
            EntityExchangeResult<String> result =
                    client.get().uri(path).exchange().expectBody(String.class).returnResult();
            return new Answer(
                    result.getStatus().value(),
                    result.getResponseHeaders().getFirst("Content-Type"),
                    result.getResponseHeaders().getFirst("Retry-After"),
                    requireNonNullElse(result.getResponseBody(), ""));
        };
    }

    @Override
    Class<?> handlerOfAll() {
        return HandlerOfAll.class;
    }

    @Configuration(proxyBeanMethods = false)
    @EnableWebFlux
    static class WebFlux {}

    @RestControllerAdvice
    static class HandlerOfAll extends ResponseEntityExceptionHandler {

        @ExceptionHandler(Exception.class)
        public ResponseEntity<String> handleAll(Exception any) {
            return ResponseEntity.ok("by the handler of all");
        }
    }
}
