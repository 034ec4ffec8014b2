package io.github.lockboot.autoconfigure;

import java.lang.annotation.Annotation;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.function.Function;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.OwnThread;
import io.github.lockboot.RecordingLockRegistry;
import io.github.lockboot.aop.InvalidLockDefinitionException;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.TargetClassAware;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.framework.autoproxy.BeanNameAutoProxyCreator;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.AnnotatedBeanDefinitionReader;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ClassUtils;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.service.annotation.GetExchange;
import org.springframework.web.service.annotation.PostExchange;
import org.springframework.web.service.invoker.HttpExchangeAdapter;
import org.springframework.web.service.invoker.HttpRequestValues;
import org.springframework.web.service.invoker.HttpServiceProxyFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

/** Clients that are made of an interface, by Spring or another library, are locked as the interface says. */
@OwnThread
class BeansThatAreProxiesTests {

    private final RecordingLockRegistry registry = new RecordingLockRegistry();

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(LockAutoConfiguration.class))
            .withBean(RecordingLockRegistry.class, () -> registry);

    /** The libraries that make a bean of an interface. */
    enum Maker {

        /** Such as Feign, Retrofit and Dubbo. */
        PROXY {
            @Override
            <T> T make(Class<T> type) {
                return type.cast(Proxy.newProxyInstance(
                        type.getClassLoader(),
                        new Class<?>[] {type},
                        (self, method, args) ->
                                method.getDeclaringClass() == Object.class ? method.invoke(type, args) : "paid"));
            }
        },
        PROXY_FACTORY {
            @Override
            <T> T make(Class<T> type) {
                return ProxyFactory.getProxy(type, (MethodInterceptor) invocation -> "paid");
            }
        },
        HTTP_SERVICE {
            @Override
            <T> T make(Class<T> type) {
                HttpExchangeAdapter http = mock(HttpExchangeAdapter.class);
                when(http.exchangeForBody(any(HttpRequestValues.class), any())).thenReturn("paid");
                return HttpServiceProxyFactory.builderFor(http).build().createClient(type);
            }
        };

        abstract <T> T make(Class<T> type);
    }

    @ParameterizedTest
    @EnumSource
    void aMethodIsLockedAsItsInterfaceSays(Maker maker) {
        runner.withBean(Bank.class, () -> maker.make(Bank.class)).run(context -> {
            Bank bank = context.getBean(Bank.class);
            assertThat(bank.pay("a")).isEqualTo("paid");
            assertThat(bank.balance()).isEqualTo("paid");
            assertThat(registry.events()).containsExactly("lock bank:a", "unlock bank:a");
            registry.take("bank:b");
            assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> bank.pay("b"));
        });
    }

    @ParameterizedTest
    @EnumSource
    void anInterfaceIsLockedInItsOwnMethodsAlone(Maker maker) {
        runner.withBean(LockedBank.class, () -> maker.make(LockedBank.class)).run(context -> {
            LockedBank bank = context.getBean(LockedBank.class);
            ((TargetClassAware) bank).getTargetClass();
            assertThat(((Advised) bank).getAdvisors()).isNotEmpty();
            assertThat(registry.names()).isEmpty();
            assertThat(bank.pay("a")).isEqualTo("paid");
            assertThat(registry.names()).containsExactly("bank");
        });
    }

    @ParameterizedTest
    @EnumSource
    void oneThatIsMadeTooEarlyIsRefused(Maker maker) {
        runner.withBean("bank", Bank.class, () -> maker.make(Bank.class))
                .withUserConfiguration(UsesItTooEarly.class)
                .run(context -> assertThat(context)
                        .getFailure()
                        .isInstanceOf(InvalidLockDefinitionException.class)
                        .hasMessageStartingWith(Bank.class.getName()
                                + ".pay(String): is never locked, because bean 'bank' was created before proxies were"
                                + " available: do not inject it into a BeanPostProcessor"));
    }

    /** All three proxies have one class. */
    @Test
    void oneWithAThirdProxyAroundItStarts() {
        runner.withBean("bank", Bank.class, () -> Maker.PROXY_FACTORY.make(Bank.class))
                .withUserConfiguration(ThirdProxy.class)
                .run(context -> {
                    context.getBean(Bank.class).pay("a");
                    assertThat(registry.names()).containsExactly("bank:a");
                });
    }

    @Test
    void anInheritedMethodOfTheJdkIsLocked() {
        runner.withBean(Rates.class, () -> Maker.PROXY.make(Rates.class)).run(context -> {
            assertThat(context.getBean(Rates.class).apply("EUR")).isEqualTo("paid");
            assertThat(registry.names()).containsExactly("rates");
        });
    }

    @ParameterizedTest
    @ValueSource(classes = {Bank.class, LockedBank.class})
    void aClientOfImportHttpServicesIsLocked(Class<? extends Payments> type) {
        String annotation = "org.springframework.web.service.registry.ImportHttpServices";
        assumeTrue(
                ClassUtils.isPresent(annotation, null),
                "@ImportHttpServices of Spring Framework 7 with locks: this is Spring Framework 6; run"
                        + " testing/matrix/run 4.1.2");
        runner.withInitializer(context -> importHttpService(annotation, type, (GenericApplicationContext) context))
                .run(context -> {
                    registry.take(type == Bank.class ? "bank:a" : "bank");
                    assertThatExceptionOfType(LockNotAcquiredException.class)
                            .isThrownBy(() -> context.getBean(type).pay("a"));
                });
    }

    @SuppressWarnings("unchecked")
    private static void importHttpService(String annotation, Class<?> service, GenericApplicationContext context) {
        Class<? extends Annotation> type = (Class<? extends Annotation>) ClassUtils.resolveClassName(annotation, null);
        Class<?> configuration = Framework7.subclass(
                NoMethods.class,
                AnnotationUtils.synthesizeAnnotation(Map.of("types", new Class<?>[] {service}), type, null));
        new AnnotatedBeanDefinitionReader(context).register(configuration);
    }

    static class NoMethods {}

    interface Payments {
        String pay(String id);
    }

    interface Bank extends Payments {
        @Override
        @PostExchange("/payments")
        @DistributedLock(name = "bank", key = "#id")
        String pay(@RequestParam("id") String id);

        @GetExchange("/balance")
        String balance();
    }

    @DistributedLock(name = "bank")
    interface LockedBank extends Payments {
        @Override
        @PostExchange("/payments")
        String pay(@RequestParam("id") String id);
    }

    @DistributedLock(name = "rates")
    interface Rates extends Function<String, String> {}

    @Configuration(proxyBeanMethods = false)
    static class UsesItTooEarly {
        @Bean
        static BeanFactoryPostProcessor user(Bank bank) {
            return beans -> {};
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class ThirdProxy {
        @Bean
        static BeanNameAutoProxyCreator thirdProxy() {
            BeanNameAutoProxyCreator creator = new BeanNameAutoProxyCreator();
            creator.setBeanNames("bank");
            creator.setInterceptorNames("timing");
            return creator;
        }

        @Bean
        static MethodInterceptor timing() {
            return invocation -> invocation.proceed();
        }
    }
}
