package io.github.lockboot.autoconfigure;

import org.springframework.boot.test.context.runner.AbstractApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.ResponseEntity;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.MvcResult;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.context.WebApplicationContext;
import org.springframework.web.servlet.config.annotation.EnableWebMvc;
import org.springframework.web.servlet.mvc.method.annotation.ResponseEntityExceptionHandler;

import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.asyncDispatch;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.get;

/** The answers of Spring MVC. */
class LockOnMvcTests extends LockWebContract {

    @Override
    AbstractApplicationContextRunner<?, ?, ?> runner() {
        return new WebApplicationContextRunner().withConfiguration(OURS).withUserConfiguration(Mvc.class);
    }

    @Override
    Client client(ConfigurableApplicationContext context) {
        MockMvc mvc = MockMvcBuilders.webAppContextSetup((WebApplicationContext) context)
                .build();
        return path -> {
            try {
                MvcResult result = mvc.perform(get(path)).andReturn();
                if (result.getRequest().isAsyncStarted()) {
                    result = mvc.perform(asyncDispatch(result)).andReturn();
                }
                MockHttpServletResponse response = result.getResponse();
                return new Answer(
                        response.getStatus(),
                        response.getContentType(),
                        response.getHeader("Retry-After"),
                        response.getContentAsString());
            } catch (jakarta.servlet.ServletException notHandled) {
                return new Answer(500, null, null, String.valueOf(notHandled.getMessage())); // as a server would
            }
        };
    }

    @Override
    Class<?> handlerOfAll() {
        return HandlerOfAll.class;
    }

    @Configuration(proxyBeanMethods = false)
    @EnableWebMvc
    static class Mvc {}

    @RestControllerAdvice
    static class HandlerOfAll extends ResponseEntityExceptionHandler {

        @ExceptionHandler(Exception.class)
        public ResponseEntity<String> handleAll(Exception any) {
            return ResponseEntity.ok("by the handler of all");
        }
    }
}
