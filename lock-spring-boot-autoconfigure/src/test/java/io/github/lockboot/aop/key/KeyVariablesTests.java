package io.github.lockboot.aop.key;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;

import static org.assertj.core.api.Assertions.assertThat;

class KeyVariablesTests {

    private interface Shipping {
        void ship(String order, List<String> parcels, Map<String, String> labels);
    }

    private static final class Courier implements Shipping {

        @Override
        public void ship(String id, List<String> boxes, Map<String, String> stickers) {}
    }

    private static KeyVariables variables() throws NoSuchMethodException {
        Class<?>[] parameters = {String.class, List.class, Map.class};
        return new KeyVariables(
                Courier.class.getMethod("ship", parameters),
                Shipping.class.getMethod("ship", parameters),
                Courier.class,
                "ship",
                new DefaultListableBeanFactory());
    }

    private static List<String> problems(String expression) throws NoSuchMethodException {
        List<String> problems = new ArrayList<>();
        KeyExpression.parse(variables(), "key", expression, false, (problem, action) -> problems.add(problem));
        return problems;
    }

    @Test
    void withoutParameterNamesTheHintIsHowToGetThem() throws NoSuchMethodException {
        Method method = String.class.getMethod("concat", String.class);
        assertThat(new KeyVariables(method, method, String.class, "concat", new DefaultListableBeanFactory()).hint())
                .isEqualTo("compile with -parameters, or use #p0 for the first parameter");
    }

    @Test
    void theHintHasTheNamesOfTheMethodWithTheAnnotation() throws NoSuchMethodException {
        assertThat(variables().hint())
                .isEqualTo("use one of #order, #parcels, #labels, or #p0 for the first parameter");
    }

    @ParameterizedTest
    @ValueSource(strings = {"#order", "#id", "#p0", "#a0", "#root.args[0]"})
    void aParameterHasTheNamesOfBothMethodsAndItsPlace(String expression) throws NoSuchMethodException {
        assertThat(problems(expression)).isEmpty();
        assertThat(variables().findIn("ship " + expression)).isNotNull();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "#parcels.![size].toString()",
                "#parcels.?[empty].toString()",
                "#parcels.![{size, trim()}].toString()",
                "#parcels.size + #order",
                "#labels[order]",
                "{name: #order}.toString()"
            })
    void aNameBehindADotOrInBracketsIsNotOfTheRoot(String expression) throws NoSuchMethodException {
        assertThat(problems(expression)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            'order'                 | names order, which is not a property of #root
            '#order + parcels'      | names parcels, which is not a property of #root
            '#root.order'           | names order, which is not a property of #root
            'trim() + #order'       | calls trim(...) without a target
            '#labels[#name]'        | names #name, which does not exist
            '#parcels.![#name]'     | names #name, which does not exist
            """)
    void aNameThatNothingHasIsFound(String expression, String problem) throws NoSuchMethodException {
        assertThat(problems(expression)).containsExactly("key expression \"" + expression + "\" " + problem);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            'ticket#7'       |
            'ticket#order'   | #order
            'ticket-#seven'  | #seven
            '#{#root.name}'  |
            '#root'          | #root
            """)
    void inATextAVariableIsFoundUnlessItIsWithinAWord(String text, String variable) throws NoSuchMethodException {
        assertThat(variables().findIn(text)).isEqualTo(variable);
    }
}
