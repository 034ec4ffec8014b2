package org.example.docs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;

import com.sun.source.tree.AnnotationTree;
import com.sun.source.tree.BinaryTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.LiteralTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.ParenthesizedTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreeScanner;
import io.github.lockboot.LockLostException;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.StaleTokenException;
import io.github.lockboot.internal.Troubleshooting;
import io.github.lockboot.redis.RedisLockInspector.Notification;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The page docs/troubleshooting.md has every message of the library. A message is any text of several words in its
 * sources, with what is added to it by {@code +} or {@code %s}: most are built in helper methods, far from the
 * {@code throw} or the log.
 */
@Tag("this-build")
class TroubleshootingTests {

    private static final Path SOURCES = Page.ROOT.resolve("lock-spring-boot-autoconfigure/src/main/java");
    private static final Page PAGE = Page.read(Page.ROOT.resolve("docs/troubleshooting.md"));
    private static final String ADDRESS =
            "https://github.com/lockboot/lock-spring-boot-starter/blob/main/docs/troubleshooting.md#";

    /** What is added to a text. */
    private static final String PART = "\0";

    /** Two words, or a word before what differs. */
    private static final Pattern WORDS = Pattern.compile("[a-z][^ ]* [a-z(]|^[A-Za-z]+ [^ ]*\0");

    /** What their arguments say is no message: descriptions of meters, and questions to text. */
    private static final Set<String> OTHER_CALLS = Set.of("description", "timer", "counter", "gauge", "contains");

    /** Methods that describe an object. */
    private static final Set<String> DESCRIPTIONS = Set.of("toString", "describe");

    private static final Pattern OTHER_TEXT = Pattern.compile(
            "(create|update|select|insert|local) .*|\0 for update|lock (wait|hold|held beyond its maximum time)",
            Pattern.DOTALL);

    @Test
    void everyMessageIsOnThePage() throws IOException {
        String page = String.join(" ", PAGE.lines()).replace("`", "").replaceAll("\\s+", " ");
        List<String> missing = messages().stream()
                .filter(message -> !onPage(message).matcher(page).find())
                .map(message -> message.replace(PART, "{...}"))
                .toList();
        assertThat(missing)
                .as(
                        "messages without an entry in docs/troubleshooting.md: add each as it stands, with a word in braces for"
                                + " what differs, such as {name}, and say what happened and what to do")
                .isEmpty();
    }

    /** What the Chinese page quotes is found on the English one, so it has no text that the library no longer has. */
    @Test
    void theChinesePageQuotesTheSameTextsInEverySection() {
        Map<String, List<String>> chinese =
                Page.read(Page.ROOT.resolve("docs/troubleshooting.zh-CN.md")).sections();
        assertThat(PAGE.sections()).allSatisfy((anchor, section) -> {
            Set<String> quoted = Page.code(chinese.getOrDefault(anchor, List.of()));
            assertThat(quoted).containsAll(Page.code(section));
            String text = String.join(" ", section).replace("`", "").replaceAll("\\s+", " ");
            assertThat(quoted).allSatisfy(part -> assertThat(text).contains(part));
        });
    }

    /** By which Redis says that it does not accept commands now. */
    @Test
    void everyRefusalOfRedisIsExplained() throws IOException {
        String source = Files.readString(SOURCES.resolve("io/github/lockboot/redis/protocol/RedisFailure.java"));
        Matcher words = Pattern.compile("\\(((?:[A-Z]+\\|)+[A-Z]+)\\)").matcher(source);
        assertThat(words.find()).isTrue();
        String entry = String.join("\n", PAGE.sections().get("lockunavailableexception"));
        assertThat(words.group(1).split("\\|"))
                .hasSizeGreaterThan(10)
                .allSatisfy(word -> assertThat(entry).contains("`" + word + " ...`"));
    }

    private static Pattern onPage(String message) {
        String whole = message.replaceFirst("\\W+[Ss]ee \0[a-z-]*$", "").replaceFirst("^\0+", "");
        return Pattern.compile(Stream.of(whole.strip().split(PART))
                .map(text -> Pattern.quote(text.replaceAll("\\s+", " ")))
                .collect(Collectors.joining("\\{[^{}]+\\}")));
    }

    @Test
    void everyAddressInAMessageOrACommentIsAHeading() throws IOException {
        Set<String> used = new TreeSet<>();
        for (Path source : sources()) {
            Matcher entry = Pattern.compile("(?:Troubleshooting\\.PAGE\\s*\\+ \"|\\Q" + ADDRESS + "\\E)([a-z-]+)\"")
                    .matcher(Files.readString(source));
            while (entry.find()) {
                used.add(entry.group(1));
            }
        }
        assertThat(used).isNotEmpty();
        assertThat(PAGE.anchors()).containsAll(used);
    }

    @Test
    void aMessageEndsWithTheAddressOfItsEntry() {
        assertThat(List.of(
                        new LockNotAcquiredException("a", Duration.ZERO),
                        new LockNotAcquiredException("a", Duration.ZERO, new InterruptedException()),
                        new LockUnavailableException("a", "no answer", null),
                        new LockLostException("a", 1, "its lease ran out"),
                        new StaleTokenException("a", 1, 2)))
                .allSatisfy(exception -> assertThat(exception.getMessage())
                        .endsWith("; see " + Troubleshooting.PAGE
                                + exception.getClass().getSimpleName().toLowerCase(Locale.ROOT)));
    }

    @Test
    void everyMeterThatAsksForAnAlertIsOnThePage() {
        List<String> rows = Page.read(Page.ROOT.resolve("docs/operations.md")).lines().stream()
                .filter(row -> row.matches("\\| `lock\\.[a-z.]+` \\| `lock_.*[^ |] \\|"))
                .toList();
        assertThat(rows).isNotEmpty();
        assertThat(rows)
                .allSatisfy(row -> assertThat(PAGE.lines())
                        .anyMatch(line -> line.startsWith(row.substring(0, row.indexOf('|', 1)))));
    }

    /** An operator searches the log for them. */
    @Test
    void theTextsOfTheRunbookAreThoseOfTheLog() throws IOException {
        List<String> runbook =
                Page.read(Page.ROOT.resolve("docs/operations.md")).sections().get("");
        Set<String> texts = Page.code(runbook).stream()
                .filter(code -> code.matches("[A-Za-z][a-z]+ [a-z].*"))
                .collect(Collectors.toSet());
        String messages = String.join("\n", messages());
        assertThat(texts)
                .contains("Lock lost", "waiters only poll")
                .allSatisfy(text -> assertThat(messages).contains(text));
    }

    @Test
    void everyStateOfHealthThatIsNotGoodIsOnThePage() {
        assertThat(PAGE.lines()).contains("### Health is DOWN");
        assertThat(EnumSet.complementOf(EnumSet.of(Notification.LIVE)))
                .allSatisfy(state -> assertThat(String.join("\n", PAGE.lines()))
                        .contains("`" + state.name().toLowerCase(Locale.ROOT) + "`"));
    }

    // --- messages in the sources --------------------------------------------------------------------------------

    private static List<Path> sources() throws IOException {
        try (Stream<Path> files = Files.walk(SOURCES)) {
            return files.filter(file -> file.toString().endsWith(".java"))
                    .sorted()
                    .toList();
        }
    }

    /** By the parser of the compiler, which knows what belongs to one text. */
    private static Set<String> messages() throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        var files = compiler.getStandardFileManager(null, null, null);
        JavacTask task = (JavacTask)
                compiler.getTask(null, files, null, null, null, files.getJavaFileObjectsFromPaths(sources()));
        Texts texts = new Texts();
        for (CompilationUnitTree source : task.parse()) {
            texts.scan(source, null);
        }
        return texts.found;
    }

    private static final class Texts extends TreeScanner<Void, Void> {

        final Set<String> found = new TreeSet<>();

        private void add(String text) {
            if (WORDS.matcher(text).find() && !OTHER_TEXT.matcher(text).matches()) {
                found.add(text.replaceAll("%[sd]", PART));
            }
        }

        @Override
        public Void visitLiteral(LiteralTree literal, Void none) {
            if (literal.getValue() instanceof String text) {
                add(text);
            }
            return null;
        }

        @Override
        public Void visitBinary(BinaryTree sum, Void none) {
            if (sum.getKind() != Tree.Kind.PLUS) {
                return super.visitBinary(sum, none);
            }
            StringBuilder text = new StringBuilder();
            for (Tree operand : operands(sum)) {
                if (operand instanceof LiteralTree literal && literal.getValue() instanceof String part) {
                    text.append(part);
                } else {
                    text.append(PART);
                    scan(operand, none);
                }
            }
            add(text.toString());
            return null;
        }

        private static List<Tree> operands(Tree tree) {
            Tree inner = tree instanceof ParenthesizedTree parentheses ? parentheses.getExpression() : tree;
            if (!(inner instanceof BinaryTree sum) || sum.getKind() != Tree.Kind.PLUS) {
                return List.of(tree);
            }
            List<Tree> operands = new ArrayList<>(operands(sum.getLeftOperand()));
            operands.addAll(operands(sum.getRightOperand()));
            return operands;
        }

        @Override
        public Void visitMethodInvocation(MethodInvocationTree call, Void none) {
            String name = call.getMethodSelect().toString().replaceFirst("(?s).*\\.", "");
            return OTHER_CALLS.contains(name) ? null : super.visitMethodInvocation(call, none);
        }

        @Override
        public Void visitMethod(MethodTree method, Void none) {
            return DESCRIPTIONS.contains(method.getName().toString()) ? null : super.visitMethod(method, none);
        }

        @Override
        public Void visitAnnotation(AnnotationTree annotation, Void none) {
            return null;
        }
    }
}
