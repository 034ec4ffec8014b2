package io.github.lockboot.aop.key;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class KeyVariablesTests {

    @Test
    void withoutParameterNamesTheHintIsHowToGetThem() throws NoSuchMethodException {
        assertThat(new KeyVariables(String.class.getMethod("concat", String.class)).hint())
                .isEqualTo("compile with -parameters, or use #p0 for the first parameter");
    }
}
