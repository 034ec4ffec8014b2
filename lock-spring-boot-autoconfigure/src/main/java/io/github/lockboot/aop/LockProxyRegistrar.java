package io.github.lockboot.aop;

import org.springframework.aop.config.AopConfigUtils;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.context.EnvironmentAware;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotationMetadata;

/**
 * Registers what makes proxies: without aspectjweaver, Spring Boot alone may register nothing that does, and the
 * annotation would silently mean nothing. Proxies are made of the class unless
 * {@code spring.aop.proxy-target-class=false}, as everywhere in Spring Boot.
 */
public final class LockProxyRegistrar implements ImportBeanDefinitionRegistrar, EnvironmentAware {

    private boolean proxyTargetClass = true;

    @Override
    public void setEnvironment(Environment environment) {
        proxyTargetClass = environment.getProperty("spring.aop.proxy-target-class", Boolean.class, true);
    }

    @Override
    public void registerBeanDefinitions(AnnotationMetadata importing, BeanDefinitionRegistry registry) {
        AopConfigUtils.registerAutoProxyCreatorIfNecessary(registry);
        if (proxyTargetClass) {
            AopConfigUtils.forceAutoProxyCreatorToUseClassProxying(registry);
        }
    }
}
