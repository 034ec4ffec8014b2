package io.github.lockboot.autoconfigure;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.math.BigDecimal;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.chrono.ChronoLocalDate;
import java.time.temporal.Temporal;
import java.util.Date;
import java.util.List;
import java.util.ListIterator;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.IntStream;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.DistributedLock.IfNotAcquired;
import io.github.lockboot.DistributedLock.KeepOn;
import io.github.lockboot.DistributedLock.Mode;
import io.github.lockboot.FencingToken;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.PoorClassLoader;
import io.github.lockboot.RecordingLockRegistry;
import io.github.lockboot.ScheduledLock;
import io.github.lockboot.aop.InvalidLockDefinitionException;
import io.github.lockboot.autoconfigure.elsewhere.PackagePrivateMethod;
import io.github.lockboot.internal.Troubleshooting;
import jakarta.annotation.PostConstruct;
import jakarta.annotation.PreDestroy;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.CommandLineRunner;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.event.EventListener;
import org.springframework.context.support.ApplicationObjectSupport;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.context.request.async.WebAsyncTask;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;

import static org.assertj.core.api.Assertions.assertThat;

/** Each mistake ends the start with exactly one message, which names the method, the mistake and the mend. */
@SuppressWarnings("unused")
class WrongAnnotationTests {

    private static final String SEE = "; see " + Troubleshooting.PAGE + "invalidlockdefinitionexception";

    private static final String CALLED_BY_THE_CONTAINER =
            "is called on the bean itself when the bean is initialized or destroyed, so this call is never locked: use"
                    + " LockTemplate in it, or lock an @EventListener(ApplicationReadyEvent.class) method instead";

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(PropertyPlaceholderAutoConfiguration.class, LockAutoConfiguration.class))
            .withBean(LockRegistry.class, RecordingLockRegistry::new);

    @Test
    void neitherKeyNorName() {
        assertRefused(
                NeitherKeyNorName.class,
                "run()",
                "has neither key nor name: write key = \"#id\" for a lock per argument, or name = \"...\" for one lock");
    }

    @Test
    void blankName() {
        assertRefused(
                BlankName.class, "run(String)", "name = \" \" is blank: write a name, or leave the attribute out");
    }

    @Test
    void emptyExpression() {
        assertRefused(
                EmptyExpression.class,
                "run(String)",
                "key expression \"\" is empty: write an expression such as \"#id\"");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            KeyInTheName              | run(String)         | order:#id      | #id            | leave only text in the name, and write key = "#id"
            KeyAsTheName              | run(String)         | #id            | #id            | leave only text in the name, and write key = "#id"
            KeyInAnExpression         | run(String)         | o:#{#id}       | #id            | leave only text in the name, and write key = "#id"
            KeyInTheMiddle            | run(String)         | order:#id:pay  | #id            | leave only text in the name, and write key = "#id"
            KeyGluedToTheName         | run(String)         | order#id       | #id            | leave only text in the name, and write key = "#id"
            TwoKeysInTheName          | run(String, String) | t-#from-#p1    | #from          | leave only text in the name, and write key = "#from"
            KeyInTheNameBesideAKey    | run(String, String) | order:#id      | #id            | leave only text in the name, and write key = "#id"
            PropertyInTheName         | run(String)         | n:#id.length() | #id            | leave only text in the name, and write key = "#id"
            RootInTheName             | run(String)         | #root.args[0]  | #root          | leave only text in the name, and write key = "#root"
            KeyInTheNameOfAnOwnOne    | run(String)         | own:#id        | #id            | leave only text in the name, and write key = "#id"
            """)
    void keyThatIsWrittenIntoTheName(String bean, String method, String name, String found, String line)
            throws Exception {
        Class<?> type = Class.forName(WrongAnnotationTests.class.getName() + "$" + bean);
        assertRefused(
                type,
                method,
                "name = \"" + name + "\" has " + found
                        + " in it, which is not evaluated there, so that all calls would share one lock: " + line);
    }

    @Test
    void keyThatIsWrittenIntoTheNameByAPlaceholder() {
        assertRefused(
                runner.withPropertyValues("lock-name=order:#id"),
                NameFromAProperty.class,
                "run(String)",
                "name = \"${lock-name}\" (order:#id) has #id in it, which is not evaluated there,"
                        + " so that all calls would share one lock: leave only text in the name, and write key = \"#id\"");
    }

    @Test
    void keyThatIsWrittenIntoWhatAnExpressionGives() {
        assertRefused(
                runner.withPropertyValues("lock-name=order:#id"),
                NameFromTheEnvironment.class,
                "run(String)",
                "name = \"#{environment['lock-name']}\" (order:#id) has #id in it, which is not evaluated there,"
                        + " so that all calls would share one lock: leave only text in the name, and write key = \"#id\"");
    }

    @Test
    void keyThatIsWrittenIntoTheNameOfAJob() {
        assertRefused(
                KeyInTheNameOfAJob.class,
                "run(String)",
                "name = \"job:#id\" has #id in it, which is not evaluated there, so that all calls would share one lock:"
                        + " write @DistributedLock with key = \"#id\": a @ScheduledLock is one lock");
    }

    @Test
    void variableInTheNameOfAMethodWithoutParameters() {
        assertRefused(
                VariableInTheNameWithoutParameters.class,
                "run()",
                "name = \"job:#tenant\" has #tenant in it, which is not evaluated there, so that all calls would share one"
                        + " lock: leave only text in the name, and write key = \"#tenant\"");
    }

    @Test
    void misspeltKeyInTheName() {
        assertRefused(
                MisspeltKeyInTheName.class,
                "run(String)",
                "name = \"order:#idd\" has #idd in it, which is not evaluated there, so that all calls would share one lock:"
                        + " leave only text in the name, and write key = \"#idd\"");
    }

    @Test
    void namesWithWhatIsNoKeyAreFine() {
        runner.withPropertyValues("place=here").withBean(NamesWithoutKeys.class).run(context -> {
            assertThat(context).hasNotFailed();
            NamesWithoutKeys bean = context.getBean(NamesWithoutKeys.class);
            bean.number("a");
            bean.language("a");
            bean.computed("a");
            assertThat(((RecordingLockRegistry) context.getBean(LockRegistry.class)).names())
                    .containsExactly("issue#1:a", "c#:a", "v2here:a");
        });
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            OptionalKey      | run(Optional)    | key expression "#id" gives a java.util.Optional: use its value, such as #id.orElse('none')
            OptionalLongKey  | run(OptionalLong)| key expression "#id" gives a java.util.OptionalLong: use its value, such as #id.orElse('none')
            RecordKey        | run(Pair)        | key expression "#id" gives a {Pair}: {property}
            ClassKey         | run(Order)       | key expression "#id" gives a {Order}: {property}
            DateKey          | run(Date)        | key expression "#id" gives a java.util.Date: {property}
            ClockKey         | run(Clock)       | key expression "#id" gives a java.time.Clock: {property}
            ListKey          | run(List)        | key expression "#ids" gives a java.util.List: {property}, or perElement = true for a lock per element
            MapKey           | run(Map)         | key expression "#ids" gives a java.util.Map: {property}
            ArrayKey         | run(long[])      | key expression "#ids" gives a long[]: {property}, or perElement = true for a lock per element
            SealedKey        | run(Shape)       | key expression "#id" gives a {Shape}: {property}
            AtomicKey        | run(AtomicLong)  | key expression "#id" gives a java.util.concurrent.atomic.AtomicLong: {property}
            GenericKey       | run(Object)      | key expression "#id" gives a {Pair}: {property}
            BoundedKey       | run(Order)       | key expression "#id" gives a {Order}: {property}
            OperandKey       | run(String, Pair)| key expression "#a + ':' + #b" has the operand #b, which gives a {Pair}: {property}
            BranchKey        | run(String, Pair)| key expression "#a == 'x' ? #b : #a" has the operand #b, which gives a {Pair}: {property}
            InsteadOfNull    | run(String, Pair)| key expression "#a ?: #b" has the operand #b, which gives a {Pair}: {property}
            ListOfKeys       | run(String)      | key expression "{#a, 'x'}" gives a java.util.List: {property}, or perElement = true for a lock per element
            ElementsOfText   | run(String)      | key expression "#ids" gives a java.lang.String: pass a collection or an array, or leave out perElement
            ElementsOfOne    | run(Optional)    | key expression "#ids" gives a java.util.Optional: pass a collection or an array, or leave out perElement
            ElementsOfRecord | run(List)        | key expression "#ids" has an element that is a {Pair}: {property}
            ElementsOfArray  | run(Order[])     | key expression "#ids" has an element that is a {Order}: {property}
            """)
    void typeThatIsNeverAKey(String bean, String method, String message) throws Exception {
        Class<?> type = Class.forName(KeysOfTypes.class.getName() + "$" + bean);
        Class<?> declaring = bean.equals("GenericKey") ? KeysOfTypes.GenericBase.class : type;
        String expected = message.replaceAll(
                        "\\{([A-Z]\\w+)}", KeysOfTypes.class.getName().replace("$", "\\$") + "\\$$1")
                .replace(
                        "{property}",
                        "use a property of it that is text, a number, a date or time, an enum constant or a UUID");
        runner.withInitializer(context -> ((GenericApplicationContext) context).registerBean(type))
                .run(context -> assertThat(context)
                        .getFailure()
                        .isInstanceOf(InvalidLockDefinitionException.class)
                        .hasMessage(declaring.getName() + "." + method + ": " + expected + SEE));
    }

    @Test
    void typesOfWhichAValueMayBeAKeyAreFine() {
        runner.withBean(KeysOfTypes.Possible.class)
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void expressionThatCannotBeParsed() {
        assertRefused(
                ExpressionThatCannotBeParsed.class,
                "run(String)",
                "key expression \"#id +\" cannot be parsed (EL1042E: Problem parsing right operand): "
                        + "write a SpEL expression such as \"#id\"");
    }

    @Test
    void unknownVariable() {
        assertRefused(
                UnknownVariable.class,
                "run(String, long)",
                "key expression \"#nosuch\" names #nosuch, which does not exist: "
                        + "use one of #openid, #packet, or #p0 for the first parameter");
    }

    @Test
    void unknownVariableDeepInside() {
        assertRefused(
                UnknownVariableDeepInside.class,
                "run(String)",
                "key expression \"#openid.concat(#nosuch.toString())\" names #nosuch, which does not exist: "
                        + "use one of #openid, or #p0 for the first parameter");
    }

    @Test
    void positionBeyondTheParameters() {
        assertRefused(
                PositionBeyondTheParameters.class,
                "run(String)",
                "key expression \"#p1\" names #p1, which does not exist: "
                        + "use one of #openid, or #p0 for the first parameter");
    }

    @Test
    void variableOfAMethodWithoutParameters() {
        assertRefused(
                VariableOfAMethodWithoutParameters.class,
                "run()",
                "key expression \"#id\" names #id, which does not exist: the method has no parameters, use name");
    }

    @Test
    void unknownFunction() {
        assertRefused(
                UnknownFunction.class,
                "run(String)",
                "key expression \"#hash(#id)\" names #hash, which does not exist: "
                        + "use one of #id, or #p0 for the first parameter");
    }

    @Test
    void parameterWithoutHash() {
        assertRefused(
                ParameterWithoutHash.class,
                "run(String)",
                "key expression \"openid\" names openid, which is not a property of #root: write #openid");
    }

    @Test
    void bareText() {
        assertRefused(
                BareText.class,
                "run(String)",
                "key expression \"orders\" names orders, which is not a property of #root: "
                        + "write #root.method, #root.target or #root.args, or 'orders' for text");
    }

    @Test
    void methodOfNothing() {
        assertRefused(
                MethodOfNothing.class,
                "run(String)",
                "key expression \"hash(#id)\" calls hash(...) without a target: "
                        + "write #root.target.hash(...) or @bean.hash(...)");
    }

    @Test
    void unknownBean() {
        assertRefused(
                UnknownBean.class,
                "run(String)",
                "key expression \"@nosuch.of(#id)\" names the bean 'nosuch', which does not exist: "
                        + "define it, or name another bean");
    }

    @Test
    void unknownType() {
        assertRefused(
                UnknownType.class,
                "run(String)",
                "key expression \"T(com.example.NoSuch).of(#id)\" names the type T(com.example.NoSuch), "
                        + "which is not found: write its full class name");
    }

    @Test
    void additionOfNumbers() {
        assertRefused(
                AdditionOfNumbers.class,
                "run(long, Integer)",
                "key expression \"#a+#b\" adds two numbers, so that different arguments share a lock: "
                        + "use key = {\"#a\", \"#b\"} instead");
    }

    @Test
    void additionOfNumbersBeforeText() {
        assertRefused(
                AdditionOfNumbersBeforeText.class,
                "run(long)",
                "key expression \"#a + 1 + ':x'\" adds two numbers, so that different arguments share a lock: "
                        + "use key = {\"#a\", \"1\"} instead");
    }

    @Test
    void subtractionOfParameters() {
        assertRefused(
                SubtractionOfParameters.class,
                "run(long, String)",
                "key expression \"'m:' + (#a-#b)\" calculates with several parameters, so that different arguments share a lock: "
                        + "use key = {\"#a\", \"#b\"} instead");
    }

    @Test
    void remainderOfParameters() {
        assertRefused(
                RemainderOfParameters.class,
                "run(long, long, long)",
                "key expression \"#a % #b * #p2\" calculates with several parameters, so that different arguments share a lock: "
                        + "use key = {\"#a\", \"#b\", \"#p2\"} instead");
    }

    @Test
    void rootOfCaches() {
        assertRefused(
                MethodNameOfRoot.class,
                "run(String)",
                "key expression \"#root.methodName + #id\" names methodName, which is not a property of #root: "
                        + "write #root.method.name");
        assertRefused(
                TargetClassOfRoot.class,
                "run(String)",
                "key expression \"#root.targetClass.name\" names targetClass, which is not a property of #root: "
                        + "write #root.target.class.name");
        assertRefused(
                CachesOfRoot.class,
                "run(String)",
                "key expression \"#root.caches[0]\" names caches, which is not a property of #root: "
                        + "write #root.method, #root.target or #root.args, or 'caches' for text");
        assertRefused(
                ParameterOfRoot.class,
                "run(String)",
                "key expression \"#root.id\" names id, which is not a property of #root: write #id");
    }

    @Test
    void additionInsideAnArgument() {
        assertRefused(
                AdditionInsideAnArgument.class,
                "run(long, long)",
                "key expression \"T(String).valueOf(#a + #b)\" has a + inside T(String).valueOf((#a + #b)), where it may "
                        + "add numbers or include a null: write + only between the parts of a key");
    }

    @Test
    void durationWithoutUnit() {
        assertRefused(
                DurationWithoutUnit.class,
                "run()",
                "waitTime = \"500\" is not a duration: write a number with a unit such as 500ms, 10s or PT5S");
    }

    @Test
    void durationThatIsNone() {
        assertRefused(
                DurationThatIsNone.class,
                "run()",
                "ttl = \"soon\" is not a duration: write a number with a unit such as 500ms, 10s or PT5S");
    }

    @Test
    void negativeWaitTime() {
        assertRefused(
                NegativeWaitTime.class,
                "run()",
                "waitTime = \"-1s\" is out of range: waitTime is PT-1S; it must not be negative");
    }

    @Test
    void ttlBelowOneSecond() {
        assertRefused(
                runner.withPropertyValues("short=999ms"),
                TtlBelowOneSecond.class,
                "run()",
                "ttl = \"${short}\" (999ms) is out of range: ttl is PT0.999S; it must be at least 1000 ms");
    }

    @Test
    void placeholderWithoutValue() {
        assertRefused(
                PlaceholderWithoutValue.class,
                "run()",
                "name = \"${nosuch}\" has a placeholder without a value: "
                        + "set the property, or give a default as in ${property:default}");
    }

    @Test
    void placeholderWithoutValueInTheKey() {
        assertRefused(
                PlaceholderWithoutValueInTheKey.class,
                "run(String)",
                "key = \"'${nosuch}' + #id\" has a placeholder without a value: "
                        + "set the property, or give a default as in ${property:default}");
    }

    @Test
    void privateMethod() {
        assertRefused(PrivateMethod.class, "run()", "is private, so no proxy can lock it: make it public");
    }

    @Test
    void finalMethod() {
        assertRefused(FinalMethod.class, "run()", "is final, so no proxy can lock it: remove final");
    }

    @Test
    void packagePrivateMethodOfAClassInAnotherPackage() {
        runner.withBean("heir", HeirOfAnotherPackage.class)
                .run(context -> assertThat(context)
                        .getFailure()
                        .isInstanceOf(InvalidLockDefinitionException.class)
                        .hasMessage(PackagePrivateMethod.class.getName()
                                + ".run(): is package-private, and bean 'heir' is in another package,"
                                + " so no proxy can lock it: make it protected or public" + SEE));
    }

    @Test
    void packagePrivateMethodOfAClassInTheSamePackageIsFine() {
        runner.withBean(HeirOfThisPackage.class)
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void staticMethod() {
        assertRefused(StaticMethod.class, "run()", "is static, so no proxy can lock it: make it an instance method");
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                MethodThatMakesABean.class,
                MethodThatMakesABeanOfALiteConfiguration.class,
                StaticMethodThatMakesABean.class,
                JobThatMakesABean.class
            })
    void methodThatMakesABean(Class<?> configuration) {
        assertRefused(
                configuration,
                "orders()",
                "makes a bean, so only its creation is locked: annotate the method of the bean instead, or use LockTemplate"
                        + " in it");
    }

    @Test
    void methodThatMakesABeanOfALockedConfiguration() {
        assertRefused(
                LockedConfiguration.class,
                "orders()",
                "makes a bean, so only its creation is locked: annotate the methods to lock instead of their class");
    }

    @Test
    void jobOfAConfigurationIsFine() {
        runner.withUserConfiguration(ConfigurationWithAJob.class).run(context -> {
            assertThat(context).hasNotFailed();
            context.getBean(ConfigurationWithAJob.class).settle();
            assertThat(((RecordingLockRegistry) context.getBean(LockRegistry.class)).names())
                    .containsExactly("settle");
        });
    }

    @ParameterizedTest
    @CsvSource({
        "CalledAfterConstruction, run",
        "CalledBeforeDestruction, run",
        "CalledAsItsBaseSays, run",
        "CalledAsInitializingBean, afterPropertiesSet",
        "CalledAsDisposableBean, destroy"
    })
    void methodThatTheContainerCallsOnTheBeanItself(String bean, String method) throws Exception {
        Class<?> type = Class.forName(WrongAnnotationTests.class.getName() + "$" + bean);
        assertRefused(type, method + "()", CALLED_BY_THE_CONTAINER);
    }

    @ParameterizedTest
    @ValueSource(classes = {InitMethod.class, DestroyMethod.class})
    void methodThatTheDefinitionNamesForTheContainerToCall(Class<?> configuration) {
        runner.withUserConfiguration(configuration)
                .run(context -> assertThat(context)
                        .getFailure()
                        .isInstanceOf(InvalidLockDefinitionException.class)
                        .hasMessage(Started.class.getName() + ".run(): " + CALLED_BY_THE_CONTAINER + SEE));
    }

    @ParameterizedTest
    @ValueSource(classes = {CalledAtTheStart.class, LockedClassWithCallbacks.class})
    void methodThatTheContainerCallsThroughTheProxyOrThatIsNotAnnotatedItselfIsFine(Class<?> type) {
        runner.withInitializer(context -> ((GenericApplicationContext) context).registerBean(type))
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void finalMethodThatALockedClassInherits() {
        runner.withBean(LockedServiceOfAGeneratedBase.class)
                .run(context -> assertThat(context)
                        .getFailure()
                        .isInstanceOf(InvalidLockDefinitionException.class)
                        .hasMessage(
                                GeneratedBase.class.getName() + ".bindService(): is final, so no proxy can lock it: "
                                        + "annotate the methods to lock instead of their class" + SEE));
    }

    @Test
    void finalMethodOfAClassWhoseBaseIsLocked() {
        assertRefused(FinalMethodUnderALockedBase.class, "run()", "is final, so no proxy can lock it: remove final");
    }

    @Test
    void methodInNoInterface() {
        assertRefused(
                runner.withPropertyValues("spring.aop.proxy-target-class=false"),
                BesideInterface.class,
                "other()",
                "is in no interface, so the interface proxy of its bean cannot lock it: "
                        + "declare it in an interface, or remove spring.aop.proxy-target-class=false");
    }

    @Test
    void resultWhoseEndCannotBeWaitedFor() {
        assertRefused(
                FutureResult.class,
                "run()",
                "returns Future, so the lock would be released before the work is done: return CompletableFuture");
    }

    @ParameterizedTest
    @CsvSource({
        "SupplierResult, Supplier, return what it gives",
        "CallableResult, Callable, return what it gives",
        "StreamResult, IntStream, return a collection",
        "IteratorResult, ListIterator, return a collection",
        "DeferredResultResult, DeferredResult, return CompletableFuture",
        "WebAsyncTaskResult, WebAsyncTask, return CompletableFuture",
        "BodyResult, StreamingResponseBody, lock a method that is called while the response is written",
        "EmitterResult, SseEmitter, lock a method that is called while the response is written",
        "OfItsClass, Supplier, return what it gives"
    })
    void resultOfWorkThatIsDoneLater(String bean, String result, String mend) throws Exception {
        Class<?> type = Class.forName(WrongAnnotationTests.class.getName() + "$" + bean);
        runner.withInitializer(context -> ((GenericApplicationContext) context).registerBean(type))
                .run(context -> assertThat(context)
                        .getFailure()
                        .isInstanceOf(InvalidLockDefinitionException.class)
                        .hasMessageEndingWith(".run(): returns " + result
                                + ", so the lock would be released before the work is done: " + mend + SEE));
    }

    @Test
    void valuesThatAreNoWorkOfLater() {
        runner.withBean(ValueThatIsASupplier.class)
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void stageThatCannotBeMade() {
        assertRefused(
                OwnStageResult.class,
                "run()",
                "returns OwnStage, which cannot be made here: return CompletableFuture or CompletionStage");
    }

    @Test
    void perElementOfSeveralExpressions() {
        assertRefused(
                PerElementOfTwo.class,
                "run(List, String)",
                "has perElement = true and 2 key expressions: "
                        + "write one key expression that gives a collection or an array, such as key = \"#ids\"");
    }

    @Test
    void conditionThatIsNoCondition() {
        assertRefused(
                ConditionOfText.class,
                "run(String)",
                "condition expression \"#id\" gives a String, not true or false: use a comparison such as #amount > 100");
    }

    @Test
    void conditionThatCannotBeParsed() {
        assertRefused(
                ConditionThatCannotBeParsed.class,
                "run(int)",
                "condition expression \"#amount >\" cannot be parsed (EL1042E: Problem parsing right operand): "
                        + "write a SpEL expression such as \"#amount > 100\"");
    }

    @Test
    void conditionWithUnknownVariable() {
        assertRefused(
                ConditionWithUnknownVariable.class,
                "run(int)",
                "condition expression \"#limit > 1\" names #limit, which does not exist: "
                        + "use one of #amount, or #p0 for the first parameter");
    }

    @Test
    void blankCondition() {
        assertRefused(
                BlankCondition.class,
                "run()",
                "condition expression \" \" is empty: write an expression such as \"#amount > 100\"");
    }

    @Test
    void maxHoldOfZero() {
        assertRefused(
                MaxHoldOfZero.class, "run()", "maxHold = \"0\" is out of range: maxHold is PT0S; it must be positive");
    }

    @Test
    void permitsOfZero() {
        assertRefused(
                runner.withPropertyValues("calls=0"),
                PermitsFromAProperty.class,
                "run()",
                "permits = \"${calls}\" (0) is out of range: permits is 0; it must be at least 1");
    }

    @Test
    void permitsThatAreNoNumber() {
        assertRefused(
                PermitsThatAreNoNumber.class,
                "run()",
                "permits = \"some\" is not a whole number: write a number such as 5, or a placeholder such as ${calls}");
    }

    @Test
    void maxWaitingOfZero() {
        assertRefused(
                MaxWaitingOfZero.class,
                "run()",
                "maxWaiting = \"0\" is out of range: maxWaiting is 0; it must be at least 1");
    }

    @Test
    void permitsOfASharedLock() {
        assertRefused(
                PermitsOfASharedLock.class,
                "run()",
                "has permits and mode = SHARED, which allows any number of holders: remove one of them");
    }

    @Test
    void lingeringOfALockWithPermits() {
        assertRefused(
                LingeringWithPermits.class,
                "run()",
                "linger = \"1s\" is out of range: linger is PT1S; it must be left out for a lock with permits");
    }

    @Test
    void keepForOfZero() {
        assertRefused(
                KeepForOfZero.class, "run()", "keepFor = \"0s\" is out of range: keepFor is PT0S; it must be positive");
    }

    @Test
    void keepOnWithoutKeepFor() {
        assertRefused(
                KeepOnWithoutKeepFor.class,
                "run()",
                "has keepOn without keepFor: add keepFor, such as keepFor = \"5s\"");
    }

    @Test
    void skipOfAPrimitive() {
        assertRefused(
                SkipOfAPrimitive.class,
                "run()",
                "returns int, so there is no value for a call that was skipped: "
                        + "return Integer or Optional, or use a fallback");
    }

    @Test
    void skipAndFallback() {
        assertRefused(SkipAndFallback.class, "run()", "has both fallback and ifNotAcquired = SKIP: remove one of them");
    }

    @Test
    void fallbackThatDoesNotExist() {
        assertRefused(
                NoFallback.class,
                "run(String)",
                "names the fallback other, but no method other of " + NoFallback.class.getName()
                        + " has its parameters: write other(String) or other(String, LockNotAcquiredException)");
    }

    @Test
    void fallbackThatReturnsSomethingElse() {
        assertRefused(
                FallbackOfAnotherType.class,
                "run()",
                "names the fallback other, which returns String: make it return Integer");
    }

    @Test
    void registryThatDoesNotExist() {
        assertRefused(
                NoRegistry.class,
                "run()",
                "names the registry 'nosuch', but no bean has that name: "
                        + "define a LockRegistry bean of that name, or name another");
    }

    @Test
    void registryThatIsNone() {
        assertRefused(
                RegistryThatIsNone.class,
                "run()",
                "names the registry 'lockbootLockTemplate', which is not a LockRegistry: name a LockRegistry bean");
    }

    @Test
    void tokenOfAnotherType() {
        assertRefused(
                TokenOfAnotherType.class,
                "run(int)",
                "has a @FencingToken parameter of type int: make it a long or a Long");
    }

    @Test
    void tokenOfSeveralLocks() {
        assertRefused(
                TokenOfSeveralLocks.class,
                "run(long)",
                "has a @FencingToken parameter and several locks: "
                        + "use LockContext.current(name).fencingToken() instead");
    }

    @Test
    void primitiveTokenWithACondition() {
        assertRefused(
                PrimitiveTokenWithACondition.class,
                "run(long)",
                "has a @FencingToken parameter of type long and a condition, without which there is no token: "
                        + "make it a Long, which is null then");
    }

    @Test
    void twoTokens() {
        assertRefused(TwoTokens.class, "run(long, long)", "has two @FencingToken parameters: remove one");
    }

    @Test
    void finalMethodOfALockedClass() {
        assertRefused(FinalMethodOfALockedClass.class, "run()", "is final, so no proxy can lock it: remove final");
    }

    @Test
    void finalMethodOfSpringInALockedClass() {
        runner.withBean(HeirOfSpring.class)
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasMessageContaining(".setApplicationContext(ApplicationContext): is final, so no proxy can"
                                + " lock it: annotate the methods to lock instead of their class"));
    }

    @Test
    void oneOfSeveral() {
        assertRefused(
                OneOfSeveral.class,
                "run(String)",
                "has neither key nor name: "
                        + "write key = \"#id\" for a lock per argument, or name = \"...\" for one lock");
    }

    @Test
    void secondBeanOfItsClassThatIsMadeBeforeProxiesCanBe() {
        assertEarlyRefused(runner.withBean("healthy", Early.class));
    }

    @Test
    void beanThatIsMadeBeforeProxiesCanBe() {
        assertEarlyRefused(runner);
    }

    private static void assertEarlyRefused(ApplicationContextRunner runner) {
        runner.withUserConfiguration(EarlyConfiguration.class)
                .run(context -> assertThat(context)
                        .getFailure()
                        .isInstanceOf(InvalidLockDefinitionException.class)
                        .hasMessage(Early.class.getName()
                                + ".run(): is never locked, because bean 'early' was created before proxies were available: "
                                + "do not inject it into a BeanPostProcessor or BeanFactoryPostProcessor" + SEE));
    }

    @ParameterizedTest
    @ValueSource(classes = {NamesAbsentClass.class, NamesAbsentClassAndLocks.class})
    void lazyBeanThatNamesAnAbsentClassEndsNoStart(Class<?> type) throws ClassNotFoundException {
        ClassLoader poor = new PoorClassLoader(type.getName(), AbsentClass.class.getName());
        Class<?> unresolvable = poor.loadClass(type.getName());
        RootBeanDefinition lazy = new RootBeanDefinition(unresolvable);
        lazy.setLazyInit(true);
        runner.withInitializer(context -> context.addBeanFactoryPostProcessor(
                        beans -> ((BeanDefinitionRegistry) beans).registerBeanDefinition("never", lazy)))
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void lazyBeansAreCheckedToo() {
        runner.withUserConfiguration(LazyConfiguration.class)
                .run(context -> assertThat(context)
                        .getFailure()
                        .isInstanceOf(InvalidLockDefinitionException.class)
                        .hasMessageStartingWith(LazyBad.class.getName() + ".run(): has neither key nor name"));
    }

    @Test
    void allMistakesAreInOneFailureAndItsAnalysis() {
        runner.withBean(ThreeMistakes.class, ThreeMistakes::new)
                .withBean(OneMistake.class, OneMistake::new)
                .run(context -> {
                    Throwable failure = context.getStartupFailure();
                    assertThat(failure)
                            .isInstanceOfSatisfying(
                                    InvalidLockDefinitionException.class,
                                    invalid -> assertThat(invalid.getFindings()).hasSize(4));
                    FailureAnalysis analysis = new LockFailureAnalyzer().analyze(failure);
                    assertThat(analysis.getDescription())
                            .startsWith("Methods annotated with @DistributedLock cannot be locked as written:")
                            .contains("  - " + OneMistake.class.getName() + ".run(): has neither key nor name");
                    assertThat(analysis.getAction())
                            .startsWith("Change them:")
                            .contains(
                                    "  - " + ThreeMistakes.class.getName() + ".run(String): write a number with a unit")
                            .endsWith("\n\nSee " + Troubleshooting.PAGE + "invalidlockdefinitionexception");
                });
    }

    private void assertRefused(Class<?> type, String method, String message) {
        assertRefused(runner, type, method, message);
    }

    private static void assertRefused(ApplicationContextRunner runner, Class<?> type, String method, String message) {
        runner.withInitializer(context -> ((GenericApplicationContext) context).registerBean(type))
                .run(context -> assertThat(context)
                        .getFailure()
                        .isInstanceOf(InvalidLockDefinitionException.class)
                        .hasMessage(type.getName() + "." + method + ": " + message + SEE));
    }

    static class HeirOfAnotherPackage extends PackagePrivateMethod {}

    static class HeirOfThisPackage extends FineMethod {}

    static class FineMethod {
        @DistributedLock(name = "x")
        void run() {}
    }

    static class StaticMethod {
        @DistributedLock(name = "x")
        public static void run() {}
    }

    static class BesideInterface implements Runnable {
        @Override
        public void run() {}

        @DistributedLock(name = "x")
        public void other() {}
    }

    static class Early {
        @DistributedLock(name = "x")
        public void run() {}
    }

    @Configuration
    static class MethodThatMakesABean {
        @Bean
        @DistributedLock(name = "orders")
        Consumer<String> orders() {
            return order -> {};
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class MethodThatMakesABeanOfALiteConfiguration {
        @Bean
        @DistributedLock(name = "orders")
        public CommandLineRunner orders() {
            return args -> {};
        }
    }

    static class StaticMethodThatMakesABean {
        @Bean
        @DistributedLock(name = "orders")
        static Consumer<String> orders() {
            return order -> {};
        }
    }

    @Configuration
    static class JobThatMakesABean {
        @Bean
        @ScheduledLock(name = "orders")
        Runnable orders() {
            return () -> {};
        }
    }

    @Configuration
    @DistributedLock(name = "orders")
    static class LockedConfiguration {
        @Bean
        public Consumer<String> orders() {
            return order -> {};
        }

        public void run() {}
    }

    @Configuration
    static class ConfigurationWithAJob {
        @Scheduled(fixedRate = 1, timeUnit = TimeUnit.DAYS)
        @ScheduledLock(name = "settle")
        public void settle() {}

        @Bean
        Consumer<String> orders() {
            return order -> {};
        }
    }

    static class CalledAfterConstruction {
        @PostConstruct
        @DistributedLock(name = "x")
        public void run() {}
    }

    static class CalledBeforeDestruction {
        @PreDestroy
        @DistributedLock(name = "x")
        public void run() {}
    }

    static class CalledAsItsBaseSays extends CalledAtTheStart {
        @Override
        @DistributedLock(name = "x")
        public void run() {}
    }

    static class CalledAsInitializingBean implements InitializingBean {
        @Override
        @DistributedLock(name = "x")
        public void afterPropertiesSet() {}
    }

    static class CalledAsDisposableBean implements DisposableBean {
        @Override
        @DistributedLock(name = "x")
        public void destroy() {}
    }

    static class Started {
        @DistributedLock(name = "x")
        public void run() {}
    }

    static class InitMethod {
        @Bean(initMethod = "run")
        Started started() {
            return new Started();
        }
    }

    static class DestroyMethod {
        @Bean(destroyMethod = "run")
        Started started() {
            return new Started();
        }
    }

    static class CalledAtTheStart {
        @PostConstruct
        public void run() {}

        @EventListener(ApplicationReadyEvent.class)
        @DistributedLock(name = "x")
        public void ready() {}
    }

    @DistributedLock(name = "x")
    static class LockedClassWithCallbacks implements InitializingBean {
        @PostConstruct
        public void run() {}

        @Override
        public void afterPropertiesSet() {}
    }

    /** Such as that of a gRPC service. */
    abstract static class GeneratedBase {
        public final void bindService() {}
    }

    @DistributedLock(name = "x")
    static class LockedServiceOfAGeneratedBase extends GeneratedBase {
        public void run() {}
    }

    @DistributedLock(name = "x")
    abstract static class LockedBase {}

    static class FinalMethodUnderALockedBase extends LockedBase {
        public final void run() {}
    }

    static class EarlyConfiguration {
        @Bean
        static Early early() {
            return new Early();
        }

        @Bean
        static BeanFactoryPostProcessor wakesIt() {
            return beanFactory -> beanFactory.getBean("early");
        }
    }

    static class AbsentClass {}

    @DistributedLock(name = "export")
    static class NamesAbsentClassAndLocks {
        public void export(AbsentClass text) {}
    }

    static class NamesAbsentClass {
        public void export(AbsentClass text) {}
    }

    static class LazyBad {
        @DistributedLock
        public void run() {}
    }

    @Configuration(proxyBeanMethods = false)
    static class LazyConfiguration {
        @Bean
        @Lazy
        LazyBad lazyBad() {
            throw new IllegalStateException("must not be made");
        }
    }

    static class NeitherKeyNorName {
        @DistributedLock
        public void run() {}
    }

    static class BlankName {
        @DistributedLock(name = " ", key = "#id")
        public void run(String id) {}
    }

    static class EmptyExpression {
        @DistributedLock(key = "")
        public void run(String id) {}
    }

    static class KeyInTheName {
        @DistributedLock(name = "order:#id")
        public void run(String id) {}
    }

    static class KeyAsTheName {
        @DistributedLock(name = "#id")
        public void run(String id) {}
    }

    static class KeyInAnExpression {
        @DistributedLock(name = "o:#{#id}")
        public void run(String id) {}
    }

    static class KeyInTheMiddle {
        @DistributedLock(name = "order:#id:pay")
        public void run(String id) {}
    }

    static class KeyGluedToTheName {
        @DistributedLock(name = "order#id")
        public void run(String id) {}
    }

    static class TwoKeysInTheName {
        @DistributedLock(name = "t-#from-#p1")
        public void run(String from, String to) {}
    }

    static class KeyInTheNameBesideAKey {
        @DistributedLock(name = "order:#id", key = "#line")
        public void run(String id, String line) {}
    }

    static class PropertyInTheName {
        @DistributedLock(name = "n:#id.length()")
        public void run(String id) {}
    }

    static class RootInTheName {
        @DistributedLock(name = "#root.args[0]")
        public void run(String id) {}
    }

    @Target(ElementType.METHOD)
    @Retention(RetentionPolicy.RUNTIME)
    @DistributedLock(name = "own:#id")
    @interface OwnWithKeyInTheName {}

    static class KeyInTheNameOfAnOwnOne {
        @OwnWithKeyInTheName
        public void run(String id) {}
    }

    static class NameFromAProperty {
        @DistributedLock(name = "${lock-name}")
        public void run(String id) {}
    }

    static class NameFromTheEnvironment {
        @DistributedLock(name = "#{environment['lock-name']}")
        public void run(String id) {}
    }

    static class KeyInTheNameOfAJob {
        @ScheduledLock(name = "job:#id")
        public void run(String id) {}
    }

    static class VariableInTheNameWithoutParameters {
        @DistributedLock(name = "job:#tenant")
        public void run() {}
    }

    static class MisspeltKeyInTheName {
        @DistributedLock(name = "order:#idd")
        public void run(String id) {}
    }

    static class NamesWithoutKeys {
        @DistributedLock(name = "issue#1", key = "#id")
        public void number(String id) {}

        @DistributedLock(name = "c#", key = "#id")
        public void language(String id) {}

        @DistributedLock(name = "#{{1, 2}.![#this + 0][1] > 1 ? 'v2' : 'v1'}${place}", key = "#id")
        public void computed(String id) {}
    }

    /** What the declared type of a parameter shows. */
    static class KeysOfTypes {

        record Pair(String one, String other) {}

        static class Order {}

        sealed interface Shape permits Circle {}

        static final class Circle implements Shape {}

        static class OptionalKey {
            @DistributedLock(key = "#id")
            public void run(Optional<String> id) {}
        }

        static class OptionalLongKey {
            @DistributedLock(key = "#id")
            public void run(OptionalLong id) {}
        }

        static class RecordKey {
            @DistributedLock(key = "#id")
            public void run(Pair id) {}
        }

        static class ClassKey {
            @DistributedLock(key = "#id")
            public void run(Order id) {}
        }

        static class DateKey {
            @DistributedLock(key = "#id")
            public void run(Date id) {}
        }

        static class ClockKey {
            @DistributedLock(key = "#id")
            public void run(Clock id) {}
        }

        static class ListKey {
            @DistributedLock(key = "#ids")
            public void run(List<String> ids) {}
        }

        static class MapKey {
            @DistributedLock(key = "#ids")
            public void run(Map<String, String> ids) {}
        }

        static class ArrayKey {
            @DistributedLock(key = "#ids")
            public void run(long[] ids) {}
        }

        static class SealedKey {
            @DistributedLock(key = "#id")
            public void run(Shape id) {}
        }

        static class AtomicKey {
            @DistributedLock(key = "#id")
            public void run(AtomicLong id) {}
        }

        abstract static class GenericBase<T> {
            @DistributedLock(key = "#id")
            public void run(T id) {}
        }

        static class GenericKey extends GenericBase<Pair> {}

        static class BoundedKey {
            @DistributedLock(key = "#id")
            public <T extends Order> void run(T id) {}
        }

        static class OperandKey {
            @DistributedLock(key = "#a + ':' + #b")
            public void run(String a, Pair b) {}
        }

        static class BranchKey {
            @DistributedLock(key = "#a == 'x' ? #b : #a")
            public void run(String a, Pair b) {}
        }

        static class InsteadOfNull {
            @DistributedLock(key = "#a ?: #b")
            public void run(String a, Pair b) {}
        }

        static class ListOfKeys {
            @DistributedLock(key = "{#a, 'x'}")
            public void run(String a) {}
        }

        static class ElementsOfText {
            @DistributedLock(key = "#ids", perElement = true)
            public void run(String ids) {}
        }

        static class ElementsOfOne {
            @DistributedLock(key = "#ids", perElement = true)
            public void run(Optional<List<String>> ids) {}
        }

        static class ElementsOfRecord {
            @DistributedLock(key = "#ids", perElement = true)
            public void run(List<? extends Pair> ids) {}
        }

        static class ElementsOfArray {
            @DistributedLock(key = "#ids", perElement = true)
            public void run(Order[] ids) {}
        }

        sealed interface Level permits Low {}

        enum Low implements Level {
            ONE
        }

        static class Possible {
            @DistributedLock(key = {"#a", "#b", "#c", "#d", "#e", "#f", "#g"})
            public <T> void objects(
                    Object a, Comparable<?> b, Number c, CharSequence d, Enum<?> e, Supplier<?> f, T g) {}

            @DistributedLock(key = {"#a", "#b", "#c", "#d", "#e", "#f", "#g", "#h", "#i"})
            public void values(
                    String a, long b, char c, boolean d, UUID e, Low f, Level g, BigDecimal h, StringBuilder i) {}

            @DistributedLock(key = {"#a", "#b", "#c", "#d", "#e", "#f"})
            public void times(LocalDate a, Instant b, Temporal c, ChronoLocalDate d, Duration e, ZoneId f) {}

            @DistributedLock(key = "#order.toString() + #ids.size() + #maybe.orElse('none')")
            public void properties(Order order, List<Order> ids, Optional<String> maybe) {}

            @DistributedLock(key = "#ids", perElement = true)
            public void elements(List<String> ids) {}

            @DistributedLock(key = "#ids", perElement = true)
            public void any(Object ids) {}

            @DistributedLock(key = "#ids", perElement = true)
            public void iterable(Iterable<?> ids) {}

            @DistributedLock(key = "#ids", perElement = true)
            public void numbers(long[] ids) {}

            @DistributedLock(key = "#ids", perElement = true)
            public void raw(Set<?> ids) {}

            @DistributedLock(key = "{#from, #to}", perElement = true)
            public void inline(String from, String to) {}

            @DistributedLock(name = "x", condition = "#order != null")
            public void unneeded(Order order) {}
        }
    }

    static class ExpressionThatCannotBeParsed {
        @DistributedLock(key = "#id +")
        public void run(String id) {}
    }

    static class UnknownVariable {
        @DistributedLock(key = "#nosuch")
        public void run(String openid, long packet) {}
    }

    static class UnknownVariableDeepInside {
        @DistributedLock(key = "#openid.concat(#nosuch.toString())")
        public void run(String openid) {}
    }

    static class PositionBeyondTheParameters {
        @DistributedLock(key = "#p1")
        public void run(String openid) {}
    }

    static class VariableOfAMethodWithoutParameters {
        @DistributedLock(key = "#id")
        public void run() {}
    }

    static class UnknownFunction {
        @DistributedLock(key = "#hash(#id)")
        public void run(String id) {}
    }

    static class ParameterWithoutHash {
        @DistributedLock(key = "openid")
        public void run(String openid) {}
    }

    static class BareText {
        @DistributedLock(key = "orders")
        public void run(String openid) {}
    }

    static class MethodOfNothing {
        @DistributedLock(key = "hash(#id)")
        public void run(String id) {}
    }

    static class UnknownBean {
        @DistributedLock(key = "@nosuch.of(#id)")
        public void run(String id) {}
    }

    static class UnknownType {
        @DistributedLock(key = "T(com.example.NoSuch).of(#id)")
        public void run(String id) {}
    }

    static class AdditionOfNumbers {
        @DistributedLock(key = "#a+#b")
        public void run(long a, Integer b) {}
    }

    static class AdditionOfNumbersBeforeText {
        @DistributedLock(key = "#a + 1 + ':x'")
        public void run(long a) {}
    }

    static class SubtractionOfParameters {
        @DistributedLock(key = "'m:' + (#a-#b)")
        public void run(long a, String b) {}
    }

    static class RemainderOfParameters {
        @DistributedLock(key = "#a % #b * #p2")
        public void run(long a, long b, long c) {}
    }

    static class MethodNameOfRoot {
        @DistributedLock(key = "#root.methodName + #id")
        public void run(String id) {}
    }

    static class TargetClassOfRoot {
        @DistributedLock(key = "#root.targetClass.name")
        public void run(String id) {}
    }

    static class CachesOfRoot {
        @DistributedLock(key = "#root.caches[0]")
        public void run(String id) {}
    }

    static class ParameterOfRoot {
        @DistributedLock(key = "#root.id")
        public void run(String id) {}
    }

    static class AdditionInsideAnArgument {
        @DistributedLock(key = "T(String).valueOf(#a + #b)")
        public void run(long a, long b) {}
    }

    static class DurationWithoutUnit {
        @DistributedLock(name = "x", waitTime = "500")
        public void run() {}
    }

    static class DurationThatIsNone {
        @DistributedLock(name = "x", ttl = "soon")
        public void run() {}
    }

    static class NegativeWaitTime {
        @DistributedLock(name = "x", waitTime = "-1s")
        public void run() {}
    }

    static class TtlBelowOneSecond {
        @DistributedLock(name = "x", ttl = "${short}")
        public void run() {}
    }

    static class PlaceholderWithoutValue {
        @DistributedLock(name = "${nosuch}")
        public void run() {}
    }

    static class PlaceholderWithoutValueInTheKey {
        @DistributedLock(key = "'${nosuch}' + #id")
        public void run(String id) {}
    }

    static class PrivateMethod {
        @DistributedLock(name = "x")
        private void run() {}
    }

    static class FinalMethod {
        @DistributedLock(name = "x")
        public final void run() {}
    }

    static class OwnStage extends CompletableFuture<String> {}

    static class OwnStageResult {
        @DistributedLock(name = "x")
        public OwnStage run() {
            return new OwnStage();
        }
    }

    static class PerElementOfTwo {
        @DistributedLock(
                key = {"#ids", "#id"},
                perElement = true)
        public void run(List<String> ids, String id) {}
    }

    static class FutureResult {
        @DistributedLock(name = "x")
        public Future<String> run() {
            return new CompletableFuture<>();
        }
    }

    static class SupplierResult {
        @DistributedLock(name = "x")
        public Supplier<String> run() {
            return () -> "";
        }
    }

    static class CallableResult {
        @DistributedLock(name = "x")
        public Callable<String> run() {
            return () -> "";
        }
    }

    static class StreamResult {
        @DistributedLock(name = "x")
        public IntStream run() {
            return IntStream.of(1);
        }
    }

    static class IteratorResult {
        @DistributedLock(name = "x")
        public ListIterator<String> run() {
            return List.<String>of().listIterator();
        }
    }

    static class DeferredResultResult {
        @DistributedLock(name = "x")
        public DeferredResult<String> run() {
            return new DeferredResult<>();
        }
    }

    static class WebAsyncTaskResult {
        @DistributedLock(name = "x")
        public WebAsyncTask<String> run() {
            return new WebAsyncTask<>(() -> "");
        }
    }

    static class BodyResult {
        @DistributedLock(name = "x")
        public StreamingResponseBody run() {
            return out -> {};
        }
    }

    static class EmitterResult {
        @DistributedLock(name = "x")
        public SseEmitter run() {
            return new SseEmitter();
        }
    }

    abstract static class OfAnyClass<R> {
        @DistributedLock(name = "x")
        public R run() {
            throw new IllegalStateException();
        }
    }

    static class OfItsClass extends OfAnyClass<Supplier<String>> {}

    static class ValueThatIsASupplier {

        record Price(long cents) implements Supplier<Long> {
            @Override
            public Long get() {
                return cents;
            }
        }

        @DistributedLock(name = "x")
        public Price run() {
            return new Price(1);
        }
    }

    static class ConditionOfText {
        @DistributedLock(name = "x", condition = "#id")
        public void run(String id) {}
    }

    static class ConditionThatCannotBeParsed {
        @DistributedLock(name = "x", condition = "#amount >")
        public void run(int amount) {}
    }

    static class ConditionWithUnknownVariable {
        @DistributedLock(name = "x", condition = "#limit > 1")
        public void run(int amount) {}
    }

    static class BlankCondition {
        @DistributedLock(name = "x", condition = " ")
        public void run() {}
    }

    static class MaxHoldOfZero {
        @DistributedLock(name = "x", maxHold = "0")
        public void run() {}
    }

    static class PermitsFromAProperty {
        @DistributedLock(name = "x", permits = "${calls}")
        public void run() {}
    }

    static class PermitsThatAreNoNumber {
        @DistributedLock(name = "x", permits = "some")
        public void run() {}
    }

    static class MaxWaitingOfZero {
        @DistributedLock(name = "x", maxWaiting = "0")
        public void run() {}
    }

    static class LingeringWithPermits {
        @DistributedLock(name = "partner", permits = "5", linger = "1s")
        void run() {}
    }

    static class PermitsOfASharedLock {
        @DistributedLock(name = "x", mode = Mode.SHARED, permits = "5")
        public void run() {}
    }

    static class KeepForOfZero {
        @DistributedLock(name = "x", keepFor = "0s")
        public void run() {}
    }

    static class KeepOnWithoutKeepFor {
        @DistributedLock(name = "x", keepOn = KeepOn.SUCCESS)
        public void run() {}
    }

    static class SkipOfAPrimitive {
        @DistributedLock(name = "x", ifNotAcquired = IfNotAcquired.SKIP)
        public int run() {
            return 1;
        }
    }

    static class SkipAndFallback {
        @DistributedLock(name = "x", ifNotAcquired = IfNotAcquired.SKIP, fallback = "other")
        public void run() {}

        void other() {}
    }

    static class NoFallback {
        @DistributedLock(name = "x", fallback = "other")
        public void run(String id) {}

        void other(Object id) {}
    }

    static class FallbackOfAnotherType {
        @DistributedLock(name = "x", fallback = "other")
        public Integer run() {
            return 1;
        }

        String other() {
            return "";
        }
    }

    static class NoRegistry {
        @DistributedLock(name = "x", registry = "nosuch")
        public void run() {}
    }

    static class RegistryThatIsNone {
        @DistributedLock(name = "x", registry = "lockbootLockTemplate")
        public void run() {}
    }

    static class TokenOfAnotherType {
        @DistributedLock(name = "x")
        public void run(@FencingToken int token) {}
    }

    static class TokenOfSeveralLocks {
        @DistributedLock(name = "x")
        @DistributedLock(name = "y")
        public void run(@FencingToken long token) {}
    }

    static class PrimitiveTokenWithACondition {
        @DistributedLock(name = "x", condition = "true")
        public void run(@FencingToken long token) {}
    }

    static class TwoTokens {
        @DistributedLock(name = "x")
        public void run(@FencingToken long token, @FencingToken long same) {}
    }

    @DistributedLock(name = "x")
    static class FinalMethodOfALockedClass {
        public final void run() {}
    }

    @DistributedLock(name = "x")
    static class HeirOfSpring extends ApplicationObjectSupport {
        public void run() {}
    }

    static class OneOfSeveral {
        @DistributedLock(name = "x")
        @DistributedLock
        public void run(String id) {}
    }

    static class ThreeMistakes {
        @DistributedLock(
                key = {"#x", "#y"},
                ttl = "1")
        public void run(String id) {}
    }

    static class OneMistake {
        @DistributedLock
        public void run() {}
    }
}
