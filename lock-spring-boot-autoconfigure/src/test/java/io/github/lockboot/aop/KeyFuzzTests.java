package io.github.lockboot.aop;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.Fuzz;
import io.github.lockboot.aop.LockDefinition.Needed;
import io.github.lockboot.internal.LockNames;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;

import static org.assertj.core.api.Assertions.assertThat;

/** Arguments of any text as keys, through the expressions of an annotation: what differs never shares a lock. */
class KeyFuzzTests {

    private static final String SECRET = "s3cr3t";
    private static final Map<String, Method> METHODS = new HashMap<>();

    static {
        for (Method method : Keys.class.getDeclaredMethods()) {
            METHODS.put(method.getName(), method);
        }
    }

    private final DistributedLockInterceptor source =
            new DistributedLockInterceptor(new DefaultListableBeanFactory(), () -> {
                throw new IllegalStateException("needs no template");
            });
    private final Keys target = new Keys();

    @Test
    void allShortListsOfTheCharactersThatMatterGiveNamesOfTheirOwn() {
        List<String> parts = new ArrayList<>();
        for (String first : List.of("", "a", ":", "\\")) {
            for (String second : List.of("", "a", ":", "\\")) {
                for (String third : List.of("a", ":", "\\")) {
                    parts.add(first + second + third);
                }
            }
        }
        List<String> distinct = parts.stream().distinct().toList();
        Map<String, List<String>> known = new HashMap<>();
        for (String one : distinct) {
            isItsOwn(known, "one", one);
            isItsOwn(known, "longer", one);
            for (String two : distinct) {
                isItsOwn(known, "two", one, two);
                for (String three : distinct) {
                    isItsOwn(known, "three", one, two, three);
                }
            }
        }
        assertThat(known).hasSize(distinct.size() * (2 + distinct.size() * (1 + distinct.size())));
    }

    @Test
    void noTwoListsShareAName() {
        Map<String, List<String>> known = new HashMap<>();
        Fuzz.times(150_000, "key lists", fuzz -> {
            boolean two = fuzz.random().nextBoolean();
            String[] parts = new String[two ? 2 : 3];
            for (int i = 0; i < parts.length; i++) {
                parts[i] = fuzz.text(3) + fuzz.oneOf("a", ":", "\\");
            }
            isItsOwn(known, two ? "two" : "three", parts);
        });
    }

    @Test
    void whateverIsPassedGivesANameOrTheOneExceptionWhichKeepsItToItself() {
        Fuzz.times(100_000, "key values", fuzz -> {
            String method = fuzz.oneOf("one", "two", "plus", "elements");
            int count = method.equals("two") || method.equals("plus") ? 2 : 1;
            @Nullable Object[] args = new Object[count];
            for (int i = 0; i < count; i++) {
                args[i] = value(fuzz);
            }
            try {
                for (String name : names(method, args)) {
                    if (name.isEmpty() || name.equals("null") && !contains(args, "null")) {
                        throw new AssertionError("a lock called '" + name + "'");
                    }
                }
            } catch (IllegalArgumentException refused) {
                String message = String.valueOf(refused.getMessage());
                if (message.contains(SECRET) || !Fuzz.isOneHonestLine(message)) {
                    throw new AssertionError("tells too much", refused);
                }
            }
        });
    }

    private static boolean contains(@Nullable Object[] args, String text) {
        return Arrays.stream(args).anyMatch(arg -> String.valueOf(arg).contains(text));
    }

    private static @Nullable Object value(Fuzz fuzz) {
        return switch (fuzz.below(12)) {
            case 0 -> null;
            case 1 -> "";
            case 2 -> fuzz.random().nextLong();
            case 3 -> fuzz.random().nextDouble();
            case 4 -> new UUID(fuzz.random().nextLong(), 0);
            case 5 -> (char) fuzz.below(0x10000);
            case 6 -> Arrays.asList(SECRET + fuzz.text(2), fuzz.below(3) == 0 ? null : fuzz.text(2));
            case 7 -> Map.of(SECRET, fuzz.text(1));
            case 8 -> new String[] {fuzz.text(2), SECRET};
            case 9 ->
                new Object() {
                    @Override
                    public String toString() {
                        return SECRET;
                    }
                };
            default -> SECRET + fuzz.text(5);
        };
    }

    private void isItsOwn(Map<String, List<String>> known, String method, String... parts) {
        String name = names(method, (Object[]) parts).get(0);
        List<String> list = new ArrayList<>(List.of(parts));
        list.add(method);
        List<String> other = known.putIfAbsent(name, list);
        if (other != null && !other.equals(list)) {
            throw new AssertionError("two lists share " + LockNames.printable(name));
        }
    }

    private List<String> names(String name, @Nullable Object... args) {
        return source.locksOf(METHODS.get(name), Keys.class).needed(target, args).stream()
                .map(Needed::name)
                .toList();
    }

    @SuppressWarnings("unused")
    static class Keys {

        @DistributedLock(name = "n", key = "#p0")
        void one(Object a) {}

        @DistributedLock(name = "n:a:b:c:d", key = "#p0")
        void longer(Object a) {}

        @DistributedLock(
                name = "n",
                key = {"#p0", "#p1"})
        void two(Object a, Object b) {}

        @DistributedLock(
                name = "n",
                key = {"#p0", "#p1", "#p2"})
        void three(Object a, Object b, Object c) {}

        @DistributedLock(key = "#p0 + #p1")
        void plus(Object a, Object b) {}

        @DistributedLock(name = "n", key = "#p0", perElement = true)
        void elements(Object a) {}
    }
}
