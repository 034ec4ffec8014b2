package tlc2.module;

import java.util.Map;
import java.util.TreeMap;

import io.github.lockboot.spec.TraceFiles;
import tlc2.value.impl.BoolValue;
import tlc2.value.impl.IntValue;
import tlc2.value.impl.RecordValue;
import tlc2.value.impl.SetEnumValue;
import tlc2.value.impl.StringValue;
import tlc2.value.impl.TupleValue;
import tlc2.value.impl.Value;
import util.UniqueString;

/** What TLC takes in place of the operators of TraceLines.tla. */
public final class TraceLines {

    private static final Value TRACES = value(TraceFiles.all());
    private static final Map<Integer, Integer> REACHED = new TreeMap<>();

    private static final Map<String, Integer> COVERED = new TreeMap<>();

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            REACHED.forEach((trace, line) -> System.out.printf("trace %d reached %d%n", trace, line));
            COVERED.forEach((what, times) -> System.out.printf("covered %d: %s%n", times, what));
        }));
    }

    private TraceLines() {}

    public static Value Traces() {
        return TRACES;
    }

    public static Value Reached(Value trace, Value line) {
        REACHED.merge(((IntValue) trace).val, ((IntValue) line).val, Math::max);
        return BoolValue.ValTrue;
    }

    public static Value Covers(Value what) {
        COVERED.merge(((StringValue) what).val.toString(), 1, Integer::sum);
        return BoolValue.ValTrue;
    }

    private static Value value(Object object) {
        if (object instanceof Integer number) {
            return IntValue.gen(number);
        } else if (object instanceof Boolean truth) {
            return truth ? BoolValue.ValTrue : BoolValue.ValFalse;
        } else if (object instanceof String text) {
            return new StringValue(text);
        } else if (object instanceof java.util.List<?> list) {
            return new TupleValue(list.stream().map(TraceLines::value).toArray(Value[]::new));
        } else if (object instanceof java.util.Set<?> set) {
            return new SetEnumValue(set.stream().map(TraceLines::value).toArray(Value[]::new), false);
        } else if (object instanceof Map<?, ?> map) {
            return new RecordValue(
                    map.keySet().stream()
                            .map(key -> UniqueString.of((String) key))
                            .toArray(UniqueString[]::new),
                    map.values().stream().map(TraceLines::value).toArray(Value[]::new),
                    false);
        }
        throw new IllegalArgumentException(String.valueOf(object));
    }
}
