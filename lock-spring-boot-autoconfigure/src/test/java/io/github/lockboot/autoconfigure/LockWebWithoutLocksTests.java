package io.github.lockboot.autoconfigure;

import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

/** A web application that excludes the auto-configuration of locks. */
class LockWebWithoutLocksTests {

    @Test
    void anApplicationThatExcludesLocksStartsWithoutTheirAnswers() {
        new WebApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(LockWebAutoConfiguration.class))
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(LockProblemAdvice.class));
    }
}
