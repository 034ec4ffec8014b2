package io.github.lockboot.autoconfigure.actuate;

import java.util.Objects;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.ConfigurationCondition;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.core.type.MethodMetadata;
import org.springframework.util.ClassUtils;

/** Matches if no other bean is an endpoint with the id of the one that the method creates. Spring Boot refuses two with the same id. */
class OnFreeEndpointId implements ConfigurationCondition {

    @Override
    public ConfigurationPhase getConfigurationPhase() {
        return ConfigurationPhase.REGISTER_BEAN;
    }

    @Override
    public boolean matches(ConditionContext context, AnnotatedTypeMetadata method) {
        ConfigurableListableBeanFactory beans = Objects.requireNonNull(context.getBeanFactory());
        Class<?> ours =
                ClassUtils.resolveClassName(((MethodMetadata) method).getReturnTypeName(), beans.getBeanClassLoader());
        Endpoint endpoint = Objects.requireNonNull(AnnotationUtils.findAnnotation(ours, Endpoint.class));
        for (String name : beans.getBeanDefinitionNames()) {
            Endpoint other = beans.getBeanDefinition(name).isAbstract()
                    ? null
                    : beans.findAnnotationOnBean(name, Endpoint.class, false);
            if (other != null && EndpointId.of(other.id()).equals(EndpointId.of(endpoint.id()))) {
                return false;
            }
        }
        return true;
    }
}
