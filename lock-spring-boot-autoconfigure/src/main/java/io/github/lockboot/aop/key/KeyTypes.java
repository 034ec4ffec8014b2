package io.github.lockboot.aop.key;

import java.lang.reflect.Modifier;
import java.nio.CharBuffer;
import java.time.ZoneId;
import java.time.temporal.TemporalAccessor;
import java.time.temporal.TemporalAmount;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;

import org.springframework.core.ResolvableType;

/** Which types have values that are keys. */
final class KeyTypes {

    private KeyTypes() {}

    /**
     * Types of the application are no keys, even if they are numbers or text: {@code toString()} may give the object's
     * identity.
     */
    static boolean isKey(Class<?> type) {
        String place = type.getPackageName();
        return Enum.class.isAssignableFrom(type)
                || Number.class.isAssignableFrom(type) && (place.equals("java.lang") || place.equals("java.math"))
                || CharSequence.class.isAssignableFrom(type) && place.startsWith("java.")
                || place.equals("java.time") && isTime(type)
                || type == UUID.class
                || type == Character.class
                || type == Boolean.class;
    }

    /** In {@code java.time} these write themselves as ISO 8601 says. */
    private static boolean isTime(Class<?> type) {
        return TemporalAccessor.class.isAssignableFrom(type)
                || TemporalAmount.class.isAssignableFrom(type)
                || ZoneId.class.isAssignableFrom(type);
    }

    /** Whether no value of the declared type is a key. An enum may implement almost any interface. */
    static boolean isNeverKey(Class<?> type) {
        if (type.isSealed() && type.isInterface()) {
            return Stream.of(type.getPermittedSubclasses()).allMatch(KeyTypes::isNeverKey);
        }
        if (type.isInterface()) {
            return Collection.class.isAssignableFrom(type) || Map.class.isAssignableFrom(type);
        }
        return !isKey(type) && !type.isAssignableFrom(CharBuffer.class); // which extends a class other than Object
    }

    /** Whether no value of the declared type is a collection or an array. */
    static boolean isNeverMany(Class<?> type) {
        return !type.isArray()
                && !Collection.class.isAssignableFrom(type)
                && (Modifier.isFinal(type.getModifiers())
                        || Enum.class.isAssignableFrom(type)
                        || Map.class.isAssignableFrom(type));
    }

    /** The declared type of the elements of a collection or an array; {@code Object} if it is not known. */
    static Class<?> elementOf(ResolvableType type) {
        return type.isArray()
                ? type.getComponentType().resolve(Object.class)
                : type.as(Collection.class).getGeneric().resolve(Object.class);
    }

    /** The action for a value that is not a key. */
    static String instead(Class<?> type) {
        if (type.getName().startsWith(Optional.class.getName())) {
            return "use its value, such as #id.orElse('none')";
        }
        return "use a property of it that is text, a number, a date or time, an enum constant or a UUID"
                + (type.isArray() || Collection.class.isAssignableFrom(type)
                        ? ", or perElement = true for a lock per element"
                        : "");
    }
}
