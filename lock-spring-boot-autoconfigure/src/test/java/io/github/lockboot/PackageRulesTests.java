package io.github.lockboot;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.stream.Stream;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMethodCall;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
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
    private static final String ENGINE = REDIS + ".engine";
    private static final String CONNECTION = REDIS + ".connection";
    private static final String PROTOCOL = REDIS + ".protocol";
    private static final String MEMORY = BASE + ".memory";
    private static final String FENCING = BASE + ".fencing";
    private static final String LEADER = BASE + ".leader";
    private static final String OBSERVABILITY = BASE + ".observability";
    private static final String AUTOCONFIGURE = BASE + ".autoconfigure";
    private static final String ACTUATE = AUTOCONFIGURE + ".actuate";

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

    @Test
    void theMiddlePackagesDoNotKnowEachOtherNorTheTop() {
        for (String middle : new String[] {AOP, REDIS, MEMORY, FENCING, LEADER, OBSERVABILITY}) {
            String[] below = middle.equals(MEMORY)
                    ? new String[] {BASE, INTERNAL, ENGINE, PROTOCOL, MEMORY}
                    : new String[] {BASE, INTERNAL, middle + ".."};
            noClasses()
                    .that()
                    .resideInAPackage(middle + "..")
                    .should()
                    .dependOnClassesThat(JavaClass.Predicates.resideInAPackage(BASE + "..")
                            .and(JavaClass.Predicates.resideOutsideOfPackages(below)))
                    .allowEmptyShould(true)
                    .check(MAIN);
        }
    }

    /** {@code redis -> engine -> protocol <- connection}: a call goes one way. */
    @Test
    void theRoomsOfRedisKnowEachOtherInOneDirection() {
        seesNothingOf(PROTOCOL, REDIS, ENGINE, CONNECTION);
        seesNothingOf(CONNECTION, REDIS, ENGINE);
        seesNothingOf(ENGINE, REDIS, CONNECTION);
        seesNothingOf(ENGINE, "org.springframework..", "io.lettuce..");
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
    void theRoomsOfRedisAreForRegistriesAlone() {
        noClasses()
                .that()
                .resideOutsideOfPackages(REDIS + "..", MEMORY)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(ENGINE, CONNECTION, PROTOCOL)
                .check(MAIN);
    }

    @Test
    void expressionsSeeNothingOfOursButNames() {
        noClasses()
                .that()
                .resideInAPackage(KEY)
                .should()
                .dependOnClassesThat(JavaClass.Predicates.resideInAPackage(BASE + "..")
                        .and(JavaClass.Predicates.resideOutsideOfPackages(INTERNAL, KEY)))
                .check(MAIN);
    }

    @Test
    void packagesHaveNoCycles() {
        slices().matching(BASE + ".(**)").should().beFreeOfCycles().check(MAIN);
    }

    @ParameterizedTest
    @MethodSource("packages")
    void aPackageHasAtMost25TypesAndNoCircleOfMoreThanFive(String packageName) {
        Map<String, Set<String>> uses = new TreeMap<>();
        MAIN.stream()
                .filter(type -> type.getPackageName().equals(packageName))
                .forEach(type -> type.getDirectDependenciesFromSelf().stream()
                        .map(dependency -> dependency.getTargetClass().getBaseComponentType())
                        .filter(target -> target.getPackageName().equals(packageName))
                        .forEach(target -> uses.computeIfAbsent(topLevel(type), absent -> new TreeSet<>())
                                .add(topLevel(target))));
        assertThat(MAIN.stream()
                        .filter(type -> type.getPackageName().equals(packageName))
                        .map(PackageRulesTests::topLevel)
                        .filter(name -> !name.endsWith("package-info"))
                        .distinct())
                .hasSizeLessThanOrEqualTo(25);
        for (String type : uses.keySet()) {
            Set<String> circle = usedBy(type, uses);
            circle.removeIf(other -> !usedBy(other, uses).contains(type));
            assertThat(circle).hasSizeLessThanOrEqualTo(5);
        }
    }

    static Stream<String> packages() {
        return MAIN.stream().map(JavaClass::getPackageName).distinct();
    }

    private static String topLevel(JavaClass type) {
        return type.getName().replaceAll("[$].*", "");
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

    /** It shares the engine and what the engine sees, but not what runs scripts. */
    @Test
    void locksInMemoryNeedNothingOfSpringButItsLogging() {
        seesNothingOf(MEMORY, "org.springframework..");
        noClasses()
                .that()
                .resideInAnyPackage(MEMORY, ENGINE)
                .should()
                .dependOnClassesThat()
                .haveNameMatching(".*[.](LuaScript|ScriptStore)")
                .check(MAIN);
    }

    @Test
    void onlyAutoconfigureSeesBoot() {
        onlyIn(AUTOCONFIGURE + "..", "org.springframework.boot..");
    }

    @Test
    void onlyAopSeesProxiesAndExpressions() {
        onlyIn(AOP, "org.springframework.aop..", "org.aopalliance..");
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

    @Test
    void onlyAopSeesReactor() {
        onlyIn(AOP, "reactor..", "org.reactivestreams..");
    }

    /** They may be absent, so the classes that need them must be few and known. Where Spring's JDBC is, transactions are. */
    @Test
    void onlyGuardedClassesSeeTransactionsAndReactor() {
        onlyFrom("org.springframework.transaction..", "LockedCall|TransactionBoundLocks|CommitCheck|JdbcFence");
        onlyFrom("reactor..", "ReactiveCall");
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

    /** Nor does anything use the thread of the JDK for delays: it never ends, and keeps the class loader of who was first. */
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

    @Test
    void onlyRedisSeesLettuce() {
        onlyIn(REDIS + "..", "io.lettuce..");
    }

    /** The bean type of the connection factory is the one thing autoconfigure hands from the context to the registry. */
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
    void publicTypesAreTheseAndNoOthers() {
        assertThat(publicTypes(BASE))
                .containsExactly(
                        "DistributedLock",
                        "DistributedLocks",
                        "FencingToken",
                        "HeldLocks",
                        "Lease",
                        "LockAssert",
                        "LockContext",
                        "LockException",
                        "LockListener",
                        "LockLostException",
                        "LockNotAcquiredException",
                        "LockOptions",
                        "LockRegistry",
                        "LockRuntime",
                        "LockScope",
                        "LockSet",
                        "LockTemplate",
                        "LockUnavailableException",
                        "LockUse",
                        "NamedLock",
                        "NamedReadWriteLock",
                        "ScheduledLock",
                        "StaleTokenException");
        assertThat(publicTypes(AOP))
                .containsExactly(
                        "CommitCheck",
                        "DistributedLockAdvisor",
                        "DistributedLockValidator",
                        "InvalidLockDefinitionException",
                        "LockProxyRegistrar");
        assertThat(publicTypes(KEY)).containsExactly("KeyExpression", "KeyVariables");
        assertThat(publicTypes(REDIS))
                .containsExactly("Finding", "RedisFence", "RedisLockInspector", "RedisLockRegistry");
        assertThat(publicTypes(FENCING)).containsExactly("JdbcFence");
        assertThat(publicTypes(LEADER)).containsExactly("LeaderElection");
        assertThat(publicTypes(MEMORY)).containsExactly("MemoryLockRegistry");
        assertThat(publicTypes(OBSERVABILITY))
                .containsExactly("LockEvent", "LockEventPublisher", "LockMdc", "LockMetrics", "LockObservations");
        assertThat(publicTypes(AUTOCONFIGURE))
                .containsExactly(
                        "AutoConfigureMemoryLocks", "LockAutoConfiguration", "LockObservabilityAutoConfiguration");
        assertThat(publicTypes(ACTUATE))
                .containsExactly("LockHealthAutoConfiguration", "LocksEndpointAutoConfiguration");
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
