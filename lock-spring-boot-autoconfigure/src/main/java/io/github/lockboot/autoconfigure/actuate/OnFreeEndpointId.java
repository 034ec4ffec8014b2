package io.github.lockboot.autoconfigure.actuate;

import java.util.Objects;
import java.util.Optional;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.ConfigurationCondition;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.core.type.MethodMetadata;
import org.springframework.util.ClassUtils;

/** Whether no other bean is an endpoint with the id of the one that the method makes. Spring Boot refuses two with one id. */
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
        EndpointId id =
                idOf(AnnotationUtils.findAnnotation(ours, Endpoint.class)).orElseThrow();
        for (String name : beans.getBeanDefinitionNames()) {
            if (!beans.getBeanDefinition(name).isAbstract()
                    && idOf(beans.findAnnotationOnBean(name, Endpoint.class, false))
                            .filter(id::equals)
                            .isPresent()) {
                return false;
            }
        }
        return true;
    }

    private static Optional<EndpointId> idOf(@Nullable Endpoint endpoint) {
        return Optional.ofNullable(endpoint).map(Endpoint::id).map(EndpointId::of);
    }
}
