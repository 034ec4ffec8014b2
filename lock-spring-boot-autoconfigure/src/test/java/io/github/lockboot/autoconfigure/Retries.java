package io.github.lockboot.autoconfigure;

import org.springframework.core.type.AnnotationMetadata;
import org.springframework.retry.annotation.RetryConfiguration;

/** Retries of Spring Retry without aspectjweaver, which {@code @EnableRetry} needs, although its advice does not. */
final class Retries {

    private Retries() {}

    /** {@return what it would import on the class, with the attributes that it has there} */
    static RetryConfiguration of(Class<?> enabled) {
        RetryConfiguration retries = new RetryConfiguration();
        retries.setImportMetadata(AnnotationMetadata.introspect(enabled));
        return retries;
    }
}
