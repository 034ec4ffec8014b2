package io.github.lockboot.aop;

import org.springframework.aop.config.AopConfigUtils;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotationMetadata;

/**
 * Registers the auto-proxy creator. Without aspectjweaver, Spring Boot may not register one, and the annotation would
 * have no effect. As everywhere in Spring Boot, proxies extend the class unless
 * {@code spring.aop.proxy-target-class=false}. The application may have another creator, too.
 */
public final class LockProxyRegistrar implements ImportBeanDefinitionRegistrar {

    private final boolean proxyTargetClass;

    /** @param environment has the property */
    LockProxyRegistrar(Environment environment) {
        proxyTargetClass = environment.getProperty("spring.aop.proxy-target-class", Boolean.class, true);
    }

    @Override
    public void registerBeanDefinitions(AnnotationMetadata importing, BeanDefinitionRegistry registry) {
        AopConfigUtils.registerAutoProxyCreatorIfNecessary(registry);
        if (proxyTargetClass) {
            AopConfigUtils.forceAutoProxyCreatorToUseClassProxying(registry);
        }
        RootBeanDefinition mark = new RootBeanDefinition(InnerProxy.Mark.class);
        mark.setRole(BeanDefinition.ROLE_INFRASTRUCTURE);
        registry.registerBeanDefinition("lockbootInnerProxyMark", mark);
    }
}
