package io.github.lockboot;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.annotation.Annotation;
import java.lang.module.ModuleDescriptor;
import java.lang.reflect.AnnotatedType;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.GenericDeclaration;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Type;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What applications can use of this library: the public and protected members of the packages that its module exports.
 */
@Tag("this-build")
class ApiTests {

    private static final Path API = Path.of("api.txt");
    private static final Path CLASSES = Path.of("target/classes");
    private static final Set<String> EXPORTED = exportedPackages();
    private static final String UPDATE = "./mvnw -pl lock-spring-boot-autoconfigure -am test -Dtest=ApiTests"
            + " -Dsurefire.failIfNoSpecifiedTests=false -Dapi.update=true";

    /** A change that is meant is made in both: a reviewer reads the difference of the file. */
    @Test
    void itIsWhatTheFileSays() throws IOException {
        String now = exported().stream().map(ApiTests::text).collect(Collectors.joining("\n"));
        if (Boolean.getBoolean("api.update")) {
            Files.writeString(API, now);
        }
        assertThat(now).as("if the change is meant: " + UPDATE).isEqualTo(Files.readString(API));
    }

    /** What the sample and the pages import, and what their signatures name. */
    @Test
    void hardlyAnyPublicTypeIsNotForApplications() throws IOException {
        Set<String> needed = new TreeSet<>();
        Deque<Class<?>> open = new ArrayDeque<>();
        for (Class<?> type : exported()) {
            if (imported().contains(type.getName())) {
                open.add(type);
            }
        }
        while (!open.isEmpty()) {
            Class<?> type = open.pop();
            if (needed.add(type.getName())) {
                String text = text(type);
                exported().stream()
                        .filter(other -> Pattern.compile("\\b" + other.getSimpleName() + "\\b")
                                .matcher(text)
                                .find())
                        .forEach(open::push);
            }
        }
        assertThat(exported().stream().map(Class::getName).filter(type -> !needed.contains(type)))
                .hasSizeLessThanOrEqualTo(12);
    }

    private static Set<String> imported() throws IOException {
        Set<String> types = new TreeSet<>();
        for (String sources : List.of("../sample-app/src", "../testing/snippets/src")) {
            try (Stream<Path> files = Files.walk(Path.of(sources))) {
                for (Path file : files.filter(each -> each.toString().matches(".*\\.(java|kt)"))
                        .toList()) {
                    Pattern.compile("io\\.github\\.lockboot\\.[a-z.]*[A-Z]\\w*")
                            .matcher(Files.readString(file))
                            .results()
                            .map(MatchResult::group)
                            .forEach(types::add);
                }
            }
        }
        return types;
    }

    private static Set<String> exportedPackages() {
        try (InputStream module = Files.newInputStream(CLASSES.resolve("module-info.class"))) {
            return ModuleDescriptor.read(module).exports().stream()
                    .map(ModuleDescriptor.Exports::source)
                    .collect(Collectors.toCollection(TreeSet::new));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<Class<?>> exported() {
        return EXPORTED.stream()
                .flatMap(name -> typesOf(CLASSES.resolve(name.replace('.', '/')), name))
                .toList();
    }

    private static Stream<Class<?>> typesOf(Path folder, String packageName) {
        try (Stream<Path> files = Files.list(folder)) {
            return files
                    .map(file -> file.getFileName().toString())
                    .filter(file -> file.matches("[A-Z]\\w*\\.class"))
                    .sorted()
                    .<Class<?>>map(file -> typeOf(packageName + "." + file.replace(".class", "")))
                    .filter(ApiTests::isVisible)
                    .toList()
                    .stream();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Class<?> typeOf(String name) {
        try {
            return Class.forName(name, false, ApiTests.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException(e);
        }
    }

    // --- as text ----------------------------------------------------------------------------------------------

    private static String text(Class<?> type) {
        Stream<String> members = Stream.of(
                        Stream.of(type.getDeclaredFields())
                                .filter(field -> isVisible(type, field))
                                .map(ApiTests::text),
                        Stream.of(type.getDeclaredConstructors())
                                .filter(constructor -> isVisible(type, constructor))
                                .map(ApiTests::text),
                        hierarchy(type)
                                .flatMap(each -> Stream.of(each.getDeclaredMethods()))
                                .filter(method -> isVisible(type, method) && !isImplied(type, method))
                                .map(ApiTests::text)
                                .distinct())
                .flatMap(each -> each.sorted())
                .map(member -> "    " + member + "\n");
        Stream<String> nested = Stream.of(type.getDeclaredClasses())
                .filter(ApiTests::isVisible)
                .sorted(Comparator.comparing(Class::getName))
                .map(ApiTests::text);
        return Stream.of(Stream.of(heading(type) + "\n"), members, nested)
                .flatMap(each -> each)
                .collect(Collectors.joining());
    }

    private static String heading(Class<?> type) {
        String kind = type.isAnnotation() ? "@interface" : type.isInterface() ? "interface" : "class";
        kind = type.isRecord() ? "record" : type.isEnum() ? "enum" : kind;
        Stream<Type> above = Stream.concat(
                Stream.of(type.getGenericSuperclass())
                        .filter(Objects::nonNull)
                        .filter(each -> each != Object.class && each != Record.class && !type.isEnum()),
                Stream.of(type.getGenericInterfaces()).filter(each -> each != Annotation.class));
        String supertypes = above.map(ApiTests::text).collect(Collectors.joining(", "));
        int implied =
                Modifier.STATIC | (kind.equals("class") ? 0 : Modifier.ABSTRACT | Modifier.FINAL | Modifier.INTERFACE);
        return modifiers(type.getModifiers() & ~implied)
                + kind + " " + type.getName().replace('$', '.') + variablesOf(type)
                + (supertypes.isEmpty() ? "" : " : " + supertypes);
    }

    /** The type, and those of this library above it that applications do not see. */
    private static Stream<Class<?>> hierarchy(Class<?> type) {
        return Stream.<Class<?>>iterate(type, Objects::nonNull, Class::getSuperclass)
                .filter(each -> each == type || EXPORTED.stream().noneMatch(each.getPackageName()::equals))
                .filter(each -> each.getName().startsWith(LockRegistry.class.getPackageName() + "."));
    }

    /** Every enum, and every record, has it. */
    private static boolean isImplied(Class<?> type, Method method) {
        return type.isEnum() && Set.of("values", "valueOf").contains(method.getName())
                || type.isRecord() && Set.of("equals", "hashCode", "toString").contains(method.getName());
    }

    private static String variablesOf(GenericDeclaration declaration) {
        String variables = Stream.of(declaration.getTypeParameters())
                .map(Type::getTypeName)
                .collect(Collectors.joining(", "));
        return variables.isEmpty() ? "" : "<" + variables + ">" + (declaration instanceof Method ? " " : "");
    }

    private static String text(Field field) {
        return modifiers(field.getModifiers()) + text(field.getAnnotatedType()) + " " + field.getName();
    }

    private static String text(Constructor<?> constructor) {
        return modifiers(constructor.getModifiers())
                + constructor.getDeclaringClass().getSimpleName()
                + parametersOf(constructor);
    }

    private static String text(Method method) {
        String byDefault = method.getDefaultValue() == null ? "" : " default " + constant(method.getDefaultValue());
        boolean ofInterface = method.getDeclaringClass().isInterface();
        return modifiers(method.getModifiers() & Modifier.methodModifiers() & ~(ofInterface ? Modifier.ABSTRACT : 0))
                + (method.isDefault() ? "default " : "")
                + variablesOf(method) + text(method.getAnnotatedReturnType()) + " " + method.getName()
                + parametersOf(method) + byDefault;
    }

    private static String constant(Object value) {
        return value instanceof Object[] several ? Arrays.toString(several) : "\"" + value + "\"";
    }

    private static String parametersOf(Executable executable) {
        String thrown = Stream.of(executable.getGenericExceptionTypes())
                .map(ApiTests::text)
                .collect(Collectors.joining(", "));
        return Stream.of(executable.getAnnotatedParameterTypes())
                        .map(ApiTests::text)
                        .collect(Collectors.joining(", ", "(", ")"))
                + (thrown.isEmpty() ? "" : " throws " + thrown);
    }

    private static String text(AnnotatedType type) {
        return (type.isAnnotationPresent(Nullable.class) ? "@Nullable " : "") + text(type.getType());
    }

    /** Without the packages, which the imports of a reader have. */
    private static String text(Type type) {
        return type.getTypeName().replaceAll("\\b[a-z]\\w*\\.", "").replace('$', '.');
    }

    private static String modifiers(int modifiers) {
        return modifiers == 0 ? "" : Modifier.toString(modifiers) + " ";
    }

    private static boolean isVisible(Class<?> type) {
        return Modifier.isPublic(type.getModifiers()) || Modifier.isProtected(type.getModifiers());
    }

    /** Nobody extends a final type. */
    private static boolean isVisible(Class<?> type, Member member) {
        boolean inherited = Modifier.isProtected(member.getModifiers()) && !Modifier.isFinal(type.getModifiers());
        return !member.isSynthetic() && (Modifier.isPublic(member.getModifiers()) || inherited);
    }
}
