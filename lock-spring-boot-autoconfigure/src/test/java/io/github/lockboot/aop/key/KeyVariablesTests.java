package io.github.lockboot.aop.key;

import java.lang.reflect.Method;

import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;

import static org.assertj.core.api.Assertions.assertThat;

class KeyVariablesTests {

    @Test
    void withoutParameterNamesTheHintIsHowToGetThem() throws NoSuchMethodException {
        Method method = String.class.getMethod("concat", String.class);
        assertThat(new KeyVariables(method, method, String.class, "concat", new DefaultListableBeanFactory()).hint())
                .isEqualTo("compile with -parameters, or use #p0 for the first parameter");
    }
}
