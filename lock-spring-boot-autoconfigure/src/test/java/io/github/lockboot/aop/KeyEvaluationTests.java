package io.github.lockboot.aop;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.CharBuffer;
import java.time.Clock;
import java.time.Month;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.chrono.JapaneseDate;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockboot.DistributedLock;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class KeyEvaluationTests {

    private static final UUID ID = UUID.fromString("123e4567-e89b-12d3-a456-426614174000");

    private final DefaultListableBeanFactory beanFactory = new DefaultListableBeanFactory();
    private final Keys target = new Keys();

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            byName       | o1
            byPosition   | o1:p1
            plus         | o1p1
            plusColon    | o1:p1
            rootArgs     | o1
            rootMethod   | rootMethod
            rootTarget   | here
            called       | O1
            ternary      | p1x
            elvis        | p1-o1
            """)
    void textIsTheKeyAsItStands(String method, String expected) {
        assertThat(name(method, "o1", "p1")).isEqualTo(expected);
    }

    @Test
    void aTypeIsFoundWhateverThreadCallsFirst() {
        Thread thread = Thread.currentThread();
        ClassLoader ours = thread.getContextClassLoader();
        thread.setContextClassLoader(
                ClassLoader.getPlatformClassLoader()); // as in the common pool of an executable jar
        try {
            assertThat(name("type", "o1")).isEqualTo("ODD-o1");
        } finally {
            thread.setContextClassLoader(ours);
        }
    }

    @Test
    void aNameStandsBeforeTheKey() {
        assertThat(name("named", "o1", "p1")).isEqualTo("packet:o1");
        assertThat(name("namedList", "o1", "p1")).isEqualTo("packet:o1:p1");
        assertThat(name("nameOnly", "o1", "p1")).isEqualTo("packets");
    }

    @Test
    void numbersEnumConstantsUuidsCharactersAndBooleansAreText() {
        assertThat(name("any", 42)).isEqualTo("42");
        assertThat(name("any", 42L)).isEqualTo("42");
        assertThat(name("any", new BigDecimal("1.50"))).isEqualTo("1.5");
        assertThat(name("any", BigInteger.TEN)).isEqualTo("10");
        assertThat(name("any", (byte) -1)).isEqualTo("-1");
        assertThat(name("any", 0.5)).isEqualTo("0.5");
        assertThat(name("any", 0.5f)).isEqualTo("0.5");
        assertThat(name("any", TimeUnit.DAYS)).isEqualTo("DAYS");
        assertThat(name("any", Constant.ODD)).isEqualTo("ODD");
        assertThat(name("any", ID)).isEqualTo(ID.toString());
        assertThat(name("any", 'c')).isEqualTo("c");
        assertThat(name("any", true)).isEqualTo("true");
        assertThat(name("any", new StringBuilder("text"))).isEqualTo("text");
        assertThat(name("any", CharBuffer.wrap("text"))).isEqualTo("text");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            java.time.LocalDate      | 2026-02-28
            java.time.LocalTime      | 10:15:30
            java.time.LocalDateTime  | 2026-02-28T10:15:30
            java.time.Instant        | 2026-02-28T10:15:30Z
            java.time.OffsetTime     | 10:15:30+02:00
            java.time.OffsetDateTime | 2026-02-28T10:15:30+02:00
            java.time.ZonedDateTime  | 2026-02-28T10:15:30+01:00[Europe/Paris]
            java.time.Year           | 2026
            java.time.YearMonth      | 2026-02
            java.time.MonthDay       | --02-28
            java.time.Duration       | PT1H30M
            java.time.Period         | P1Y2M3D
            """)
    void aDateOrTimeIsItsIsoText(Class<?> type, String text) throws Exception {
        Object value = type.getMethod("parse", CharSequence.class).invoke(null, text);
        assertThat(name("any", value)).isEqualTo(text);
        assertThat(name("plusObjects", "x", value)).isEqualTo("x" + text);
        assertThat(name("elements", List.of(value))).isEqualTo("packet:" + text.replace(":", "\\:"));
    }

    @Test
    void aMonthADayAndAZoneAreText() {
        assertThat(name("any", Month.MAY)).isEqualTo("MAY");
        assertThat(name("any", ZoneId.of("Europe/Paris"))).isEqualTo("Europe/Paris");
        assertThat(name("any", ZoneOffset.ofHours(2))).isEqualTo("+02:00");
    }

    @Test
    void whatIsNoTimeOfTheIsoCalendarIsNoKey() {
        refused("any", args(Clock.systemUTC()), "gives a java.time.Clock$SystemClock");
        refused("any", args(JapaneseDate.of(2026, 2, 28)), "gives a java.time.chrono.JapaneseDate");
        refused("any", args(Optional.of("x")), "gives a java.util.Optional: use its value, such as #id.orElse('none')");
    }

    @ParameterizedTest
    @CsvSource({
        "1, 1.0",
        "1, 1.00",
        "1000, 1E+3",
        "1000, 1000.0",
        "0, 0.00",
        "0, 0E+5",
        "-0.001, -1.0E-3",
        "1234567890123456789.5, 1234567890123456789.50"
    })
    void equalDecimalsAreOneKeyHoweverTheyAreScaled(String text, BigDecimal value) {
        assertThat(name("any", value)).isEqualTo(text);
        assertThat(name("plusObjects", "x", value)).isEqualTo("x" + text);
        assertThat(name("elements", List.of(value))).isEqualTo("packet:" + text);
    }

    @Test
    void aDecimalOfEndlesslyManyDigitsIsRefusedBeforeItIsWritten() {
        refused(
                "any",
                args(new BigDecimal("1E+999999999")),
                "gives a number of more than 1024 digits: pass one with fewer");
        refused(
                "any",
                args(new BigDecimal("1E-999999999")),
                "gives a number of more than 1024 digits: pass one with fewer");
        refused("any", args(new BigDecimal(BigInteger.ONE, Integer.MIN_VALUE)), "more than 1024 digits");
    }

    @Test
    void zeroHasNoSign() {
        assertThat(name("any", -0.0)).isEqualTo("0.0").isEqualTo(name("any", 0.0));
        assertThat(name("any", -0.0f)).isEqualTo("0.0").isEqualTo(name("any", 0.0f));
    }

    @Test
    void whatIsNoNumberIsNoKey() {
        for (Object value : List.of(
                Double.NaN,
                Double.POSITIVE_INFINITY,
                Double.NEGATIVE_INFINITY,
                Float.NaN,
                Float.POSITIVE_INFINITY,
                Float.NEGATIVE_INFINITY)) {
            refused("any", args(value), "key expression \"#value\" gives " + value + ": pass a number");
        }
        refused("plusObjects", args("x", Double.NaN), "has the operand #b, which gives NaN: pass a number");
    }

    @Test
    void numbersAndTextsOfTheApplicationsOwnTypesAreRefused() {
        String mend = ": use a property of it that is text, a number, a date or time, an enum constant or a UUID";
        refused("any", args(new Cents(5)), "gives a " + Cents.class.getName() + mend);
        refused("any", args(new Money("5")), "gives a " + Money.class.getName() + mend);
        refused("any", args(new Slug("a")), "gives a " + Slug.class.getName() + mend);
        refused("any", args(new AtomicInteger(5)), "gives a java.util.concurrent.atomic.AtomicInteger" + mend);
        refused("elements", args(List.of(new Cents(5))), "has an element that is a " + Cents.class.getName() + mend);
    }

    @Test
    void aNumberAndTextAreConcatenated() {
        assertThat(name("plusObjects", "o", 1)).isEqualTo("o1");
        assertThat(name("plusObjects", 1L, "o")).isEqualTo("1o");
        assertThat(name("plusObjects", ID, ID)).isEqualTo("" + ID + ID);
        assertThat(name("plusObjects", Constant.ODD, 7)).isEqualTo("ODD7");
    }

    @Test
    void differentListsNeverGiveTheSameKey() {
        assertThat(name("byPosition", "a:b", "c")).isEqualTo("a\\:b:c");
        assertThat(name("byPosition", "a", "b:c")).isEqualTo("a:b\\:c");
        assertThat(name("byPosition", "a\\", "b")).isEqualTo("a\\\\:b");
        assertThat(name("byPosition", "a\\:b", "c")).isNotEqualTo(name("byPosition", "a", "b\\:c"));
        assertThat(name("byPosition", "a\\", ":b")).isNotEqualTo(name("byPosition", "a\\:", "b"));
    }

    @Test
    void aKeyUnderANameIsNoKeyUnderALongerName() {
        assertThat(name("named", "refund:5", "p1")).isEqualTo("packet:refund\\:5");
        assertThat(name("namedLonger", "5", "p1")).isEqualTo("packet:refund:5");
        assertThat(name("namedList", "refund", "5")).isNotEqualTo(name("named", "refund:5", "p1"));
        assertThat(name("named", "refund\\:5", "p1")).isEqualTo("packet:refund\\\\\\:5");
        assertThat(name("elements", List.of("refund:5"))).isEqualTo("packet:refund\\:5");
    }

    @Test
    void withoutANameTheTextIsTheWholeName() {
        assertThat(name("byName", "packet:5\\", "p1")).isEqualTo("packet:5\\");
    }

    @Test
    void oneHundredAndTwentyThreeIsNotOneAndTwentyThree() {
        assertThat(name("listOfLongs", 1L, 23L)).isEqualTo("1:23").isNotEqualTo(name("listOfLongs", 12L, 3L));
    }

    @Test
    void aBeanCanBeAsked() {
        beanFactory.registerSingleton("tenants", new Tenants());
        assertThat(name("bean", "o1", "p1")).isEqualTo("tenant-o1");
    }

    @Test
    void namesInAProjectionAndMapKeysAreNotThoseOfTheRoot() {
        assertThat(name("projected", List.of("a", "bc"))).isEqualTo("2");
        assertThat(name("mapKey", Map.of("id", "o1"))).isEqualTo("o1");
    }

    @Test
    void everyOperandIsEvaluatedOnce() {
        Counter counter = new Counter();
        assertThat(name("counted", counter)).isEqualTo("1x2");
        assertThat(counter.count).hasValue(2);
    }

    @Test
    void nullIsRefused() {
        refused(
                "byName",
                args(null, "p1"),
                "key expression \"#openid\" gives null: pass a value, or use an expression that is never null");
        refused("byPosition", args("o1", null), "key expression \"#a1\" gives null: pass a value");
    }

    @Test
    void nullIsRefusedAsAnOperand() {
        refused("plusColon", args(null, "p1"), "has the operand #openid, which gives null: pass a value");
        refused("plusColon", args("o1", null), "has the operand #packet, which gives null: pass a value");
        refused("ternary", args("o1", null), "has the operand #packet, which gives null: pass a value");
    }

    @Test
    void emptyTextIsRefused() {
        refused(
                "byName",
                args("", "p1"),
                "key expression \"#openid\" gives empty text: pass a value, or use an expression that is never empty");
        refused("plus", args("", ""), "gives empty text");
    }

    @Test
    void addingNumbersIsRefused() {
        String mend = "adds two numbers, so that different arguments share a lock: use key = {\"#a\", \"#b\"} instead";
        refused("plusObjects", args(1, 23), mend);
        refused("plusObjects", args(1L, new BigDecimal("2")), mend);
    }

    @Test
    void addingNumbersIsRefusedWhereverItIsPartOfTheKey() {
        refused("plusThenText", args(1, 2), "use key = {\"#a\", \"#b\"} instead");
        refused("plusInParentheses", args(1, 2), "use key = {\"#a\", \"#b\"} instead");
        refused("plusInTernary", args(1, 2), "use key = {\"#a\", \"#b\"} instead");
        refused("plusInElvis", args(1, 2), "use key = {\"#a\", \"#b\"} instead");
    }

    @Test
    void aKeyMayBeCalculatedFromOneParameter() {
        assertThat(name("remainder", 35, 2)).isEqualTo("3");
        assertThat(name("minusOne", 35, 2)).isEqualTo("34");
        assertThat(name("minusInIndex", 3, 2)).isEqualTo("b");
    }

    @Test
    void aConditionMayAddNumbers() {
        assertThat(name("plusInCondition", 1, 2)).isEqualTo("few");
    }

    @Test
    void anObjectIsRefused() {
        String mend = ": use a property of it that is text, a number, a date or time, an enum constant or a UUID";
        refused(
                "any",
                args(List.of("a")),
                "key expression \"#value\" gives a java.util.ImmutableCollections$List12" + mend);
        refused("any", args(Map.of()), mend);
        refused("plusObjects", args("a", new Object()), "has the operand #b, which gives a java.lang.Object" + mend);
    }

    @Test
    void aFailingExpressionIsNamed() {
        refused("nested", args(new Tenants()), "key expression \"#value.name.length()\" cannot be evaluated");
    }

    @Test
    void aMessageNamesTheMethodAndNoValue() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> name("plusColon", "secret", null))
                .withMessageStartingWith("io.github.lockboot.aop.KeyEvaluationTests$Keys.plusColon(String, String): ")
                .withMessageNotContaining("secret");
    }

    private void refused(String method, @Nullable Object[] args, String message) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> name(method, args))
                .withMessageContaining(message);
    }

    private static @Nullable Object[] args(@Nullable Object... args) {
        return args;
    }

    private String name(String name, @Nullable Object... args) {
        return new DistributedLockInterceptor(beanFactory, () -> {
                    throw new IllegalStateException("needs no template");
                })
                .locksOf(
                        Arrays.stream(Keys.class.getDeclaredMethods())
                                .filter(method -> method.getName().equals(name))
                                .findFirst()
                                .orElseThrow(),
                        Keys.class)
                .needed(target, args)
                .get(0)
                .name();
    }

    enum Constant {
        ODD {
            @Override
            public String toString() {
                return "even";
            }
        }
    }

    /** Without a text of its own. */
    static final class Cents extends Number {

        private static final long serialVersionUID = 1L;

        private final long cents;

        Cents(long cents) {
            this.cents = cents;
        }

        @Override
        public int intValue() {
            return (int) cents;
        }

        @Override
        public long longValue() {
            return cents;
        }

        @Override
        public float floatValue() {
            return cents;
        }

        @Override
        public double doubleValue() {
            return cents;
        }
    }

    static final class Money extends BigDecimal {

        private static final long serialVersionUID = 1L;

        Money(String amount) {
            super(amount);
        }
    }

    /** Without a text of its own, though its contract asks for one. */
    static final class Slug implements CharSequence {

        private final String text;

        Slug(String text) {
            this.text = text;
        }

        @Override
        public int length() {
            return text.length();
        }

        @Override
        public char charAt(int index) {
            return text.charAt(index);
        }

        @Override
        public CharSequence subSequence(int start, int end) {
            return text.subSequence(start, end);
        }
    }

    static class Tenants {
        public String of(String openid) {
            return "tenant-" + openid;
        }

        public @Nullable String getName() {
            return null;
        }
    }

    static class Counter {
        private final AtomicInteger count = new AtomicInteger();

        public int next() {
            return count.incrementAndGet();
        }
    }

    @SuppressWarnings("unused")
    static class Keys {

        public String getPlace() {
            return "here";
        }

        @DistributedLock(key = "T(io.github.lockboot.aop.KeyEvaluationTests.Constant).ODD.name() + '-' + #openid")
        void type(String openid) {}

        @DistributedLock(key = "#openid")
        void byName(String openid, String packet) {}

        @DistributedLock(key = {"#p0", "#a1"})
        void byPosition(String openid, String packet) {}

        @DistributedLock(key = "#openid+#packet")
        void plus(String openid, String packet) {}

        @DistributedLock(key = "#openid + ':' + #packet")
        void plusColon(String openid, String packet) {}

        @DistributedLock(key = "#root.args[0]")
        void rootArgs(String openid, String packet) {}

        @DistributedLock(key = "#root.method.name")
        void rootMethod(String openid, String packet) {}

        @DistributedLock(key = "#root.target.place")
        void rootTarget(String openid, String packet) {}

        @DistributedLock(key = "#openid.toUpperCase()")
        void called(String openid, String packet) {}

        @DistributedLock(key = "#openid == 'o1' ? #packet + 'x' : #openid")
        void ternary(String openid, String packet) {}

        @DistributedLock(key = "null ?: #packet + '-' + #openid")
        void elvis(String openid, String packet) {}

        @DistributedLock(name = "packet", key = "#openid")
        void named(String openid, String packet) {}

        @DistributedLock(name = "packet:refund", key = "#openid")
        void namedLonger(String openid, String packet) {}

        @DistributedLock(name = "packet", key = "#openids", perElement = true)
        void elements(List<?> openids) {}

        @DistributedLock(
                name = "packet",
                key = {"#openid", "#packet"})
        void namedList(String openid, String packet) {}

        @DistributedLock(name = "packets")
        void nameOnly(String openid, String packet) {}

        @DistributedLock(key = "#value")
        void any(Object value) {}

        @DistributedLock(key = "#a + #b")
        void plusObjects(Object a, Object b) {}

        @DistributedLock(key = "#a + #b + 'x'")
        void plusThenText(Object a, Object b) {}

        @DistributedLock(key = "'x' + (#a + #b)")
        void plusInParentheses(Object a, Object b) {}

        @DistributedLock(key = "true ? #a + #b : 'x'")
        void plusInTernary(Object a, Object b) {}

        @DistributedLock(key = "#a + #b ?: 'x'")
        void plusInElvis(Object a, Object b) {}

        @DistributedLock(key = "#a % 16")
        void remainder(int a, int b) {}

        @DistributedLock(key = "#p0-1")
        void minusOne(int a, int b) {}

        @DistributedLock(key = "{'a', 'b'}[#a - #b]")
        void minusInIndex(int a, int b) {}

        @DistributedLock(key = "#a + #b > 10 ? 'many' : 'few'")
        void plusInCondition(int a, int b) {}

        @DistributedLock(key = {"#a", "#b"})
        void listOfLongs(long a, long b) {}

        @DistributedLock(key = "@tenants.of(#openid)")
        void bean(String openid, String packet) {}

        @DistributedLock(key = "#counter.next() + 'x' + #counter.next()")
        void counted(Counter counter) {}

        @DistributedLock(key = "#list.![length()][1].toString()")
        void projected(List<String> list) {}

        @DistributedLock(key = "#map[id]")
        void mapKey(Map<String, String> map) {}

        @DistributedLock(key = "#value.name.length()")
        void nested(Tenants value) {}
    }
}
