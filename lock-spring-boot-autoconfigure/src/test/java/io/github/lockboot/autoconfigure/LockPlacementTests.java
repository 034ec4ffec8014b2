package io.github.lockboot.autoconfigure;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.RecordingLockRegistry;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.description.modifier.Visibility;
import net.bytebuddy.dynamic.loading.ClassLoadingStrategy;
import net.bytebuddy.implementation.StubMethod;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.annotation.AliasFor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Where the annotation may stand, and how often. */
class LockPlacementTests {

    private final RecordingLockRegistry registry = new RecordingLockRegistry();

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(LockAutoConfiguration.class))
            .withBean(RecordingLockRegistry.class, () -> registry);

    @Test
    void aClassIsLockedInItsPublicMethodsUnlessTheyHaveTheirOwn() {
        runner.withBean(WholeClass.class).run(context -> {
            WholeClass bean = context.getBean(WholeClass.class);
            bean.one();
            bean.other("id");
            bean.hidden();
            assertThat(bean.toString()).isEqualTo("bean");
        });
        assertThat(registry.names()).containsExactly("class", "own:id");
    }

    /** Groovy code calls {@code getMetaClass} before each of its own calls. */
    @Test
    void aClassOfGroovyIsNotLockedInTheMethodsThatGroovyAdds() {
        Class<?> groovyObject = new ByteBuddy()
                .makeInterface()
                .name("groovy.lang.GroovyObject")
                .defineMethod("getMetaClass", Object.class, Visibility.PUBLIC)
                .withoutCode()
                .defineMethod("setProperty", void.class, Visibility.PUBLIC)
                .withParameters(String.class, Object.class)
                .intercept(StubMethod.INSTANCE)
                .make()
                .load(getClass().getClassLoader(), ClassLoadingStrategy.Default.WRAPPER)
                .getLoaded();
        Class<? extends OfGroovy> type = new ByteBuddy()
                .subclass(OfGroovy.class)
                .implement(groovyObject)
                .make()
                .load(groovyObject.getClassLoader(), ClassLoadingStrategy.Default.WRAPPER)
                .getLoaded();
        runner.withClassLoader(type.getClassLoader())
                .withInitializer(context -> ((GenericApplicationContext) context).registerBean(type))
                .run(context -> {
                    OfGroovy bean = context.getBean(OfGroovy.class);
                    assertThat(bean.getMetaClass()).isEqualTo("meta");
                    bean.pay("o1");
                });
        assertThat(registry.names()).containsExactly("groovy:o1");
    }

    @Test
    void aSubclassAndAnImplementationAreLockedAsWhatTheyExtend() {
        runner.withBean(Subclass.class).withBean(Implementation.class).run(context -> {
            context.getBean(Subclass.class).added();
            context.getBean(Implementation.class).run("id");
            context.getBean(Implementation.class).alsoLocked();
        });
        assertThat(registry.names()).containsExactly("class", "interface:id", "type");
    }

    @Test
    void anImplementationsOwnAnnotationReplacesThatOfItsInterface() {
        runner.withBean(Replacing.class)
                .run(context -> context.getBean(Replacing.class).run("id"));
        assertThat(registry.names()).containsExactly("replaced");
    }

    @Test
    void soDoesAnAnnotationOfTheApplicationOnAnImplementation() {
        runner.withBean(ReplacingByOwn.class)
                .run(context -> context.getBean(ReplacingByOwn.class).run("id"));
        assertThat(registry.names()).containsExactly("once:id");
    }

    @Test
    void anAnnotationOfOnesOwnStandsForIt() {
        runner.withBean(Composed.class)
                .run(context -> context.getBean(Composed.class).once("o1"));
        assertThat(registry.names()).containsExactly("once:o1");
        assertThat(registry.lastOptions().waitTime()).isZero();
    }

    @Test
    void severalLocksAreTakenByNameAndReleasedInReverse() {
        runner.withBean(Transfers.class).run(context -> {
            context.getBean(Transfers.class).transfer("b", "a");
            context.getBean(Transfers.class).transfer("c", "d");
        });
        assertThat(registry.events())
                .containsExactly(
                        "lock account:a",
                        "lock account:b",
                        "body",
                        "unlock account:b",
                        "unlock account:a",
                        "lock account:c",
                        "lock account:d",
                        "body",
                        "unlock account:d",
                        "unlock account:c");
    }

    @Test
    void theSameNameTwiceIsLockedOnce() {
        runner.withBean(Transfers.class)
                .run(context -> context.getBean(Transfers.class).transfer("a", "a"));
        assertThat(registry.events()).containsExactly("lock account:a", "body", "unlock account:a");
    }

    @Test
    void whenOneOfSeveralIsTakenTheOthersAreGivenBack() {
        registry.take("account:b");
        runner.withBean(Transfers.class)
                .run(context -> assertThatExceptionOfType(LockNotAcquiredException.class)
                        .isThrownBy(() -> context.getBean(Transfers.class).transfer("b", "a")));
        assertThat(registry.events()).containsExactly("lock account:a", "unlock account:a");
    }

    @DistributedLock(name = "class")
    static class WholeClass {
        public void one() {}

        @DistributedLock(name = "own", key = "#id")
        public void other(String id) {}

        void hidden() {}

        public static void unconcerned() {}

        @Override
        public String toString() {
            return "bean";
        }
    }

    @DistributedLock(name = "groovy", key = "#id")
    public static class OfGroovy {
        public Object getMetaClass() {
            return "meta";
        }

        public void pay(String id) {}
    }

    static class Subclass extends WholeClass {
        public void added() {}
    }

    @DistributedLock(name = "type")
    interface LockedJob {
        @DistributedLock(name = "interface", key = "#id")
        void run(String id);
    }

    static class Implementation implements LockedJob {
        @Override
        public void run(String id) {}

        public void alsoLocked() {}
    }

    static class Replacing implements LockedJob {
        @Override
        @DistributedLock(name = "replaced")
        public void run(String id) {}
    }

    @Target(ElementType.METHOD)
    @Retention(RetentionPolicy.RUNTIME)
    @DistributedLock(name = "once", waitTime = "0")
    @interface Once {
        @AliasFor(annotation = DistributedLock.class, attribute = "key")
        String[] value();
    }

    static class ReplacingByOwn implements LockedJob {
        @Override
        @Once("#id")
        public void run(String id) {}
    }

    static class Composed {
        @Once("#openid")
        public void once(String openid) {}
    }

    static class Transfers {

        private final RecordingLockRegistry registry;

        Transfers(RecordingLockRegistry registry) {
            this.registry = registry;
        }

        @DistributedLock(name = "account", key = "#from")
        @DistributedLock(name = "account", key = "#to")
        public void transfer(String from, String to) {
            registry.record("body");
        }
    }
}
