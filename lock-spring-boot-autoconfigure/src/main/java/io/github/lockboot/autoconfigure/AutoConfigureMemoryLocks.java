package io.github.lockboot.autoconfigure;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.test.context.TestPropertySource;

/**
 * Gives a test locks in the memory of its process, whatever else it configures: a slice such as {@code @DataJpaTest} or
 * {@code @WebMvcTest}, which would run locked methods without their locks, or a whole application. It sets
 * {@code lock.enabled=true} and {@code lock.type=memory}, and the registry is a
 * {@link io.github.lockboot.memory.MemoryLockRegistry} bean.
 *
 * <pre>{@code
 * @DataJpaTest
 * @AutoConfigureMemoryLocks
 * @Import(OrderService.class)
 * class OrderServiceTests { ... }
 * }</pre>
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@ImportAutoConfiguration(LockAutoConfiguration.class)
@TestPropertySource(properties = {"lock.enabled=true", "lock.type=memory"})
public @interface AutoConfigureMemoryLocks {}
