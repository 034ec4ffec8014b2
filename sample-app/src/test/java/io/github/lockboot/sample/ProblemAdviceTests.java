package io.github.lockboot.sample;

import java.util.List;

import io.github.lockboot.LockLostException;
import org.junit.jupiter.api.Test;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;

/** What is hard to bring about over HTTP. */
class ProblemAdviceTests {

    private final MockMvcTester mvc = MockMvcTester.of(
            List.of(new Failing()),
            builder -> builder.setControllerAdvice(new ProblemAdvice()).build());

    @Test
    void aLostLockIsAnsweredWith503() {
        assertThat(mvc.get().uri("/lost"))
                .hasStatus(HttpStatus.SERVICE_UNAVAILABLE)
                .hasContentType(MediaType.APPLICATION_PROBLEM_JSON)
                .bodyText()
                .contains("ask again")
                .doesNotContain("secret-openid");
    }

    @RestController
    static class Failing {

        @GetMapping("/lost")
        void lose() {
            throw new LockLostException("secret-openid", 1, "the lease ended");
        }
    }
}
