package io.github.lockboot.sample;

import java.util.List;

import io.github.lockboot.LockLostException;
import io.github.lockboot.LockUnavailableException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;

/** What is hard to bring about over HTTP. */
@ExtendWith(OutputCaptureExtension.class)
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

    @Test
    void anOutageIsLoggedWithItsCauseAndWithoutTheNameOfTheLock(CapturedOutput output) {
        assertThat(mvc.get().uri("/unavailable"))
                .hasStatus(HttpStatus.SERVICE_UNAVAILABLE)
                .hasContentType(MediaType.APPLICATION_PROBLEM_JSON)
                .bodyText()
                .doesNotContain("secret-openid");
        assertThat(output).contains("no route").doesNotContain("secret-openid");
    }

    @RestController
    static class Failing {

        @GetMapping("/lost")
        void lose() {
            throw new LockLostException("secret-openid", 1, "the lease ended");
        }

        @GetMapping("/unavailable")
        void beUnavailable() {
            throw new LockUnavailableException("secret-openid", "no answer", new IllegalStateException("no route"));
        }
    }
}
