package io.github.lockboot;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.function.Predicate;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

import com.sun.source.tree.LiteralTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreeScanner;
import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMethodCall;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.core.annotation.AliasFor;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import static com.tngtech.archunit.core.domain.JavaModifier.PUBLIC;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

class PackageRulesTests {

    private static final String BASE = "io.github.lockboot";
    private static final String AOP = BASE + ".aop";
    private static final String KEY = AOP + ".key";
    private static final String INTERNAL = BASE + ".internal";
    private static final String REDIS = BASE + ".redis";
    private static final String ENGINE = BASE + ".engine";
    private static final String CONNECTION = REDIS + ".connection";
    private static final String PROTOCOL = REDIS + ".protocol";
    private static final String MEMORY = BASE + ".memory";
    private static final String FENCING = BASE + ".fencing";
    private static final String LEADER = BASE + ".leader";
    private static final String OBSERVABILITY = BASE + ".observability";
    private static final String AUTOCONFIGURE = BASE + ".autoconfigure";
    private static final String CACHE = BASE + ".cache";
    private static final String ACTUATE = AUTOCONFIGURE + ".actuate";

    private static final Pattern COMMENT_OR_TEXT =
            Pattern.compile("(?s)/\\*.*?\\*/|//[^\\n]*|\"(?:\\\\.|[^\"\\\\\\n])*\"");
    private static final Pattern WORD = Pattern.compile("\\w+");

    /** Which other rooms of this library each room sees. Bytecode does not say where a constant comes from. */
    private static final Map<String, Set<String>> ARROWS = Map.ofEntries(
            Map.entry(INTERNAL, Set.of()),
            Map.entry(BASE, Set.of(INTERNAL)),
            Map.entry(KEY, Set.of()),
            Map.entry(AOP, Set.of(BASE, INTERNAL, KEY)),
            Map.entry(ENGINE, Set.of(BASE, INTERNAL)),
            Map.entry(PROTOCOL, Set.of(INTERNAL, ENGINE)),
            Map.entry(CONNECTION, Set.of(INTERNAL, ENGINE, PROTOCOL)),
            Map.entry(REDIS, Set.of(BASE, INTERNAL, ENGINE, PROTOCOL, CONNECTION)),
            Map.entry(MEMORY, Set.of(BASE, INTERNAL, ENGINE)),
            Map.entry(FENCING, Set.of(BASE)),
            Map.entry(LEADER, Set.of(BASE, INTERNAL)),
            Map.entry(OBSERVABILITY, Set.of(BASE, INTERNAL)),
            Map.entry(CACHE, Set.of(BASE, INTERNAL)),
            Map.entry(AUTOCONFIGURE, Set.of(BASE, INTERNAL, AOP, CACHE, REDIS, MEMORY, LEADER, OBSERVABILITY)),
            Map.entry(ACTUATE, Set.of(BASE, INTERNAL, REDIS, LEADER, AUTOCONFIGURE)));

    private static final JavaClasses MAIN = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .withImportOption(location -> !location.contains("/fixture/"))
            .importPackages(BASE);

    @Test
    void whatUsersImportKnowsOnlyTheJdkAndWhatAllRoomsStandOn() {
        classes()
                .that()
                .resideInAPackage(BASE)
                .and()
                .doNotHaveSimpleName("ScheduledLock")
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage(BASE, INTERNAL, "java..", "org.jspecify..")
                .check(MAIN);
        classes()
                .that()
                .haveSimpleName("ScheduledLock")
                .should()
                .onlyDependOnClassesThat(JavaClass.Predicates.resideInAnyPackage(BASE, "java..")
                        .or(JavaClass.Predicates.equivalentTo(AliasFor.class)))
                .check(MAIN);
    }

    @Test
    void whatAllRoomsStandOnKnowsOnlyTheJdkAndTheLog() {
        classes()
                .that()
                .resideInAPackage(INTERNAL)
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage(INTERNAL, "java..", "org.jspecify..", "org.apache.commons.logging..")
                .check(MAIN);
    }

    @ParameterizedTest
    @MethodSource("packages")
    void aRoomSeesNoOtherThanItsArrowsSay(String room) {
        arrows(room, ARROWS.get(room)).check(MAIN);
    }

    @ParameterizedTest
    @MethodSource("packages")
    void aRoomNeedsEachOfItsArrows(String room) {
        assertThat(ARROWS.get(room)).noneMatch(arrow -> {
            Set<String> others = new TreeSet<>(ARROWS.get(room));
            others.remove(arrow);
            return !arrows(room, others).evaluate(MAIN).hasViolation();
        });
    }

    private static ArchRule arrows(String room, Set<String> others) {
        Set<String> seen = new TreeSet<>(others);
        seen.add(room);
        return noClasses()
                .that()
                .resideInAPackage(room)
                .should()
                .dependOnClassesThat(JavaClass.Predicates.resideInAPackage(BASE + "..")
                        .and(JavaClass.Predicates.resideOutsideOfPackages(seen.toArray(String[]::new))));
    }

    private static void seesNothingOf(String room, String... others) {
        noClasses()
                .that()
                .resideInAPackage(room)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(others)
                .check(MAIN);
    }

    @Test
    void theEngineKnowsNoStore() {
        seesNothingOf(ENGINE, "org.springframework..", "io.lettuce..");
    }

    @Test
    @Tag("this-build")
    void typesOfTheBasePackageUseEachOtherInOneDirection() throws IOException {
        Map<String, Set<String>> uses = usesWithin(BASE);
        assertThat(uses)
                .allSatisfy((type, used) -> assertThat(used)
                        .filteredOn(other -> !other.equals(type))
                        .noneMatch(other -> uses.getOrDefault(other, Set.of()).contains(type)));
    }

    @Test
    void packagesHaveNoCycles() {
        slices().matching(BASE + ".(**)").should().beFreeOfCycles().check(MAIN);
    }

    @ParameterizedTest
    @MethodSource("packages")
    @Tag("this-build")
    void aPackageHasAtMost25TypesAndNoCircleOfMoreThanFive(String packageName) throws IOException {
        Map<String, Set<String>> uses = usesWithin(packageName);
        assertThat(uses).hasSizeLessThanOrEqualTo(25);
        for (String type : uses.keySet()) {
            Set<String> circle = usedBy(type, uses);
            circle.removeIf(other -> !usedBy(other, uses).contains(type));
            assertThat(circle).hasSizeLessThanOrEqualTo(5);
        }
    }

    /** As the source says it: bytecode has neither constants of another type nor the subtypes that a type permits. */
    private static Map<String, Set<String>> usesWithin(String packageName) throws IOException {
        Path sources = Path.of("src/main/java").resolve(packageName.replace('.', '/'));
        Map<String, String> texts = new TreeMap<>();
        try (Stream<Path> files = Files.list(sources)) {
            for (Path file :
                    files.filter(each -> each.toString().endsWith(".java")).toList()) {
                String type = file.getFileName().toString().replace(".java", "");
                texts.put(type, COMMENT_OR_TEXT.matcher(Files.readString(file)).replaceAll(""));
            }
        }
        texts.remove("package-info");
        Map<String, Set<String>> uses = new TreeMap<>();
        texts.forEach((type, text) -> uses.put(
                type,
                WORD.matcher(text)
                        .results()
                        .map(MatchResult::group)
                        .filter(word -> texts.containsKey(word) && !word.equals(type))
                        .collect(Collectors.toCollection(TreeSet::new))));
        return uses;
    }

    static Stream<String> packages() {
        return MAIN.stream().map(JavaClass::getPackageName).distinct();
    }

    /** Directly or not. */
    private static Set<String> usedBy(String type, Map<String, Set<String>> uses) {
        Set<String> found = new TreeSet<>();
        Deque<String> open = new ArrayDeque<>(Set.of(type));
        while (!open.isEmpty()) {
            uses.getOrDefault(open.pop(), Set.of()).stream().filter(found::add).forEach(open::push);
        }
        return found;
    }

    @Test
    void locksInMemoryNeedNothingOfSpringButItsLogging() {
        seesNothingOf(MEMORY, "org.springframework..");
    }

    @Test
    void onlyAutoconfigureSeesBoot() {
        onlyIn(AUTOCONFIGURE + "..", "org.springframework.boot..");
    }

    @Test
    void onlyAopAndCachesSeeProxiesAndOnlyAopExpressions() {
        noClasses()
                .that()
                .resideOutsideOfPackages(AOP, CACHE)
                .and()
                .haveNameNotMatching(".*[.]ApplicationFactory") // finds the target of a proxy
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("org.springframework.aop..", "org.aopalliance..")
                .check(MAIN);
        onlyIn(AOP + "..", "org.springframework.expression..");
    }

    /** Autoconfigure hands the registries from the context to those who listen. */
    @Test
    void onlyObservabilityAndItsConfigurationsSeeMicrometerAndSlf4j() {
        noClasses()
                .that()
                .resideOutsideOfPackages(OBSERVABILITY, BASE + ".fixture")
                .and()
                .haveNameNotMatching(".*AutoConfiguration([$].*)?")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("io.micrometer..", "org.slf4j..")
                .check(MAIN);
    }

    @Test
    void onlyFencingSeesJdbc() {
        onlyIn(FENCING, "java.sql..", "javax.sql..", "org.springframework.jdbc..");
    }

    /** Where Lettuce is, Reactor is, too. */
    @Test
    void onlyAopAndWhoListensToLettuceSeeReactor() {
        noClasses()
                .that()
                .resideOutsideOfPackage(AOP)
                .and()
                .haveNameNotMatching(".*[.]FailedReconnections")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("reactor..", "org.reactivestreams..")
                .check(MAIN);
    }

    /**
     * They may be absent, so the classes that need them must be few and known. Where Spring's JDBC is, transactions
     * are.
     */
    @Test
    void onlyGuardedClassesSeeTransactionsAndReactor() {
        onlyFrom("org.springframework.transaction..", "MethodLocks|TransactionBoundLocks|CommitCheck|JdbcFence");
        onlyFrom("reactor..", "ReactiveCall|InnerProxy[$]Subscriptions|FailedReconnections");
    }

    private static void onlyFrom(String dependency, String simpleNames) {
        noClasses()
                .that()
                .haveNameNotMatching(".*[.](" + simpleNames + ")([$].*)?")
                .should()
                .dependOnClassesThat()
                .resideInAPackage(dependency)
                .check(MAIN);
    }

    /**
     * Nor does anything use the thread of the JDK for delays: it never ends, and keeps the class loader of who was
     * first.
     */
    @Test
    void nothingButTheTimerReadsAClock() {
        noClasses()
                .that()
                .haveNameNotMatching(".*[.]internal[.]Timer([$].*)?")
                .should()
                .callMethodWhere(DescribedPredicate.describe("reads a clock", PackageRulesTests::readsAClock))
                .check(MAIN);
    }

    private static boolean readsAClock(JavaMethodCall call) {
        JavaClass owner = call.getTargetOwner();
        String name = call.getName();
        return owner.isEquivalentTo(System.class) && (name.equals("nanoTime") || name.equals("currentTimeMillis"))
                || owner.isEquivalentTo(Thread.class) && name.equals("sleep")
                || owner.getPackageName().equals("java.time") && name.equals("now")
                || owner.isAssignableTo(CompletableFuture.class)
                        && Set.of("orTimeout", "completeOnTimeout", "delayedExecutor")
                                .contains(name);
    }

    /** It is the application's, and may be full of tasks that wait for a lock. */
    @Test
    void nothingRunsOnTheCommonPool() {
        noClasses()
                .should()
                .callMethodWhere(
                        DescribedPredicate.describe("uses the common pool", PackageRulesTests::usesTheCommonPool))
                .check(MAIN);
    }

    private static boolean usesTheCommonPool(JavaMethodCall call) {
        JavaClass owner = call.getTargetOwner();
        String name = call.getName();
        if (owner.isEquivalentTo(ForkJoinPool.class)) {
            return name.equals("commonPool");
        }
        boolean mayRunThere = name.endsWith("Async") || name.equals("delayedExecutor");
        boolean hasAnExecutor = call.getTarget().getRawParameterTypes().stream()
                .anyMatch(parameter -> parameter.isEquivalentTo(Executor.class));
        return owner.isAssignableTo(CompletionStage.class)
                && (mayRunThere && !hasAnExecutor || name.equals("defaultExecutor"));
    }

    /** Others say "the store" in messages. Spring Data Redis is the name of a library. */
    @Test
    @Tag("this-build")
    void onlyRedisSaysRedisInAText() throws IOException {
        Predicate<String> saysRedis =
                Pattern.compile("(?<!Spring Data )\\bRedis\\b").asPredicate();
        Path rooms = Path.of("src/main/java", BASE.split("[.]"));
        Path redis = rooms.resolve("redis");
        try (Stream<Path> files = Files.walk(rooms)) {
            Map<Boolean, List<Path>> sources = files.filter(
                            file -> file.toString().endsWith(".java"))
                    .collect(Collectors.partitioningBy(file -> file.startsWith(redis)));
            assertThat(textsIn(sources.get(false))).isNotEmpty().noneMatch(saysRedis);
            assertThat(textsIn(sources.get(true))).anyMatch(saysRedis);
        }
    }

    private static List<String> textsIn(List<Path> sources) throws IOException {
        List<String> texts = new ArrayList<>();
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null);
        JavacTask task =
                (JavacTask) compiler.getTask(null, files, null, null, null, files.getJavaFileObjectsFromPaths(sources));
        TreeScanner<Void, Void> scanner = new TreeScanner<>() {
            @Override
            public Void visitLiteral(LiteralTree literal, Void none) {
                if (literal.getValue() instanceof String text) {
                    texts.add(text);
                }
                return null;
            }
        };
        scanner.scan(task.parse(), null);
        return texts;
    }

    @Test
    void onlyRedisSeesLettuce() {
        onlyIn(REDIS + "..", "io.lettuce..");
    }

    /**
     * The bean type of the connection factory is the one thing autoconfigure hands from the context to the registry.
     */
    @Test
    void onlyRedisSeesSpringDataButForTheConnectionFactory() {
        noClasses()
                .that()
                .resideOutsideOfPackage(REDIS + "..")
                .and()
                .resideOutsideOfPackage(AUTOCONFIGURE + "..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("org.springframework.data..")
                .check(MAIN);
        noClasses()
                .that()
                .resideInAPackage(AUTOCONFIGURE + "..")
                .should()
                .dependOnClassesThat(JavaClass.Predicates.resideInAPackage("org.springframework.data..")
                        .and(DescribedPredicate.not(JavaClass.Predicates.equivalentTo(RedisConnectionFactory.class))))
                .check(MAIN);
    }

    @Test
    @Tag("this-build")
    void noOtherModuleHasClassesInThesePackages() throws IOException {
        Path here = Path.of("").toAbsolutePath();
        Set<String> packages = Set.of(
                BASE,
                INTERNAL,
                AOP,
                KEY,
                REDIS,
                ENGINE,
                CONNECTION,
                PROTOCOL,
                MEMORY,
                FENCING,
                LEADER,
                OBSERVABILITY,
                CACHE,
                AUTOCONFIGURE,
                ACTUATE);
        try (Stream<Path> modules = Files.walk(here.getParent(), 3)) {
            assertThat(modules.filter(module -> !module.startsWith(here))
                            .map(module -> module.resolve("src/main/java"))
                            .flatMap(sources -> packages.stream().map(name -> sources.resolve(name.replace('.', '/'))))
                            .filter(PackageRulesTests::hasClasses))
                    .isEmpty();
        }
    }

    private static boolean hasClasses(Path folder) {
        String[] found = folder.toFile().list((parent, name) -> name.endsWith(".java"));
        return found != null && found.length > 0;
    }

    @Test
    void publicTypesOfRoomsThatAreNotExportedAreThese() {
        assertThat(publicTypes(AOP))
                .containsExactly(
                        "CommitCheck",
                        "DistributedLockAdvisor",
                        "DistributedLockValidator",
                        "InvalidLockDefinitionException",
                        "LockProxyRegistrar");
        assertThat(publicTypes(CACHE)).containsExactly("CacheFlights");
        assertThat(publicTypes(KEY)).containsExactly("KeyExpression", "KeyVariables");
        assertThat(publicTypes(OBSERVABILITY)).containsExactly("LockMdc", "LockMetrics", "LockObservations");
    }

    private static String[] publicTypes(String packageName) {
        return MAIN.stream()
                .filter(type -> type.getPackageName().equals(packageName))
                .filter(type -> type.getModifiers().contains(PUBLIC))
                .filter(type -> type.isTopLevelClass() && !type.getSimpleName().equals("package-info"))
                .map(JavaClass::getSimpleName)
                .sorted()
                .toArray(String[]::new);
    }

    private static void onlyIn(String packageName, String... dependencies) {
        noClasses()
                .that()
                .resideOutsideOfPackage(packageName)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(dependencies)
                .check(MAIN);
    }
}
