package io.github.lockboot.autoconfigure;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.RecordingLockRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.bean.override.convention.TestBean;
import org.springframework.test.context.bean.override.mockito.MockitoBean;
import org.springframework.test.context.bean.override.mockito.MockitoSpyBean;
import org.springframework.test.context.junit.jupiter.SpringJUnitConfig;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

/** What a test puts in the place of a bean with locked methods locks nothing, and does not end the start. */
@SpringJUnitConfig(ReplacedBeanTests.Application.class)
class ReplacedBeanTests {

    @MockitoBean
    private Orders mocked;

    @MockitoBean
    private Payments mockedInterface;

    @MockitoSpyBean
    private Refunds spied;

    @TestBean
    private Packets own;

    @Autowired
    private RecordingLockRegistry registry;

    static Packets own() {
        return new Packets();
    }

    @Test
    void mocksAndOtherObjectsOfATestLockNothing() {
        when(mocked.take("o1")).thenReturn("mocked");
        when(mockedInterface.take("o1")).thenReturn("mocked");
        assertThat(mocked.take("o1")).isEqualTo("mocked");
        assertThat(mockedInterface.take("o1")).isEqualTo("mocked");
        assertThat(own.take("o1")).isEqualTo("o1");
        assertThat(registry.names()).doesNotContain("o1");
    }

    @Test
    void aSpyLocks() {
        assertThat(spied.take("o2")).isEqualTo("o2");
        verify(spied).take("o2");
        assertThat(registry.names()).containsOnlyOnce("o2");
    }

    /** As with @MockBean of Spring Boot 3. */
    @Test
    void aMockThatIsRegisteredInPlaceOfABeanLocksNothing() {
        new ApplicationContextRunner()
                .withUserConfiguration(Application.class)
                .withInitializer(context -> context.addBeanFactoryPostProcessor(
                        beans -> beans.registerSingleton(Orders.class.getName(), mock(Orders.class))))
                .run(context -> {
                    assertThat(context.getBean(Orders.class).take("o3")).isNull();
                    assertThat(context.getBean(RecordingLockRegistry.class).names())
                            .isEmpty();
                });
    }

    /** As springmockk and Spock do, each with doubles of its own. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aDoubleThatIsRegisteredInPlaceOfABeanLocksNothing(boolean byABean) {
        Orders own = new Orders();
        ApplicationContextRunner runner = new ApplicationContextRunner().withUserConfiguration(Application.class);
        (byABean
                        ? runner.withBean(BeanFactoryPostProcessor.class, () -> beans -> replace(own, beans))
                        : runner.withInitializer(
                                context -> context.addBeanFactoryPostProcessor(beans -> replace(own, beans))))
                .run(context -> {
                    assertThat(context.getBean(Orders.class)).isSameAs(own);
                    assertThat(own.take("o4")).isEqualTo("o4");
                    assertThat(context.getBean(RecordingLockRegistry.class).names())
                            .isEmpty();
                });
    }

    private static void replace(Orders own, ConfigurableListableBeanFactory beans) {
        beans.registerSingleton(Orders.class.getName(), own);
    }

    /** What a test puts elsewhere is no excuse for it. */
    @Test
    void aBeanThatIsMadeTooEarlyInSuchATestIsRefused() {
        new ApplicationContextRunner()
                .withUserConfiguration(Application.class)
                .withInitializer(context -> context.addBeanFactoryPostProcessor(beans -> replace(new Orders(), beans)))
                .withUserConfiguration(UsesItTooEarly.class)
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasMessageContaining("is never locked, because bean '" + Refunds.class.getName()
                                + "' was created before proxies were available"));
    }

    @Configuration(proxyBeanMethods = false)
    static class UsesItTooEarly {
        @Bean
        static BeanFactoryPostProcessor user(Refunds refunds) {
            return beans -> {};
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({PropertyPlaceholderAutoConfiguration.class, LockAutoConfiguration.class})
    @Import({Orders.class, Refunds.class, Packets.class})
    static class Application {

        @Bean
        LockRegistry registry() {
            return new RecordingLockRegistry();
        }

        @Bean
        Payments payments() {
            return new Cash();
        }
    }

    static class Orders {
        @DistributedLock(key = "#openid")
        public String take(String openid) {
            return openid;
        }
    }

    interface Payments {
        @DistributedLock(key = "#openid")
        String take(String openid);
    }

    static class Cash implements Payments {
        @Override
        public String take(String openid) {
            return openid;
        }
    }

    static class Refunds {
        @DistributedLock(key = "#openid")
        public String take(String openid) {
            return openid;
        }
    }

    static class Packets {
        @DistributedLock(key = "#openid")
        public String take(String openid) {
            return openid;
        }
    }
}
