package org.example.docs.kotlin

import io.github.lockboot.DistributedLock
import io.github.lockboot.LockNotAcquiredException
import io.github.lockboot.memory.MemoryLockRegistry
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import kotlinx.coroutines.yield
import org.assertj.core.api.Assertions.assertThat
import org.assertj.core.api.Assertions.assertThatExceptionOfType
import org.junit.jupiter.api.Test
import org.springframework.aop.framework.Advised
import org.springframework.aop.framework.autoproxy.DefaultAdvisorAutoProxyCreator
import org.springframework.aop.support.AopUtils
import org.springframework.boot.autoconfigure.AutoConfigurations
import org.springframework.boot.test.context.runner.ApplicationContextRunner
import org.springframework.context.annotation.Bean
import org.springframework.context.annotation.Configuration
import io.github.lockboot.autoconfigure.LockAutoConfiguration

/** A suspending function behind a proxy within a proxy. A second lease would not get the lock that the first one has. */
class KotlinTwoProxyCreatorsTests {

    private fun run(test: suspend (Shipping, MemoryLockRegistry) -> Unit) {
        ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(LockAutoConfiguration::class.java))
            .withUserConfiguration(AnotherProxyCreator::class.java)
            .withPropertyValues("lock.type=memory")
            .withBean(Shipping::class.java)
            .run { context ->
                val shipping = context.getBean(Shipping::class.java)
                assertThat(AopUtils.isAopProxy(innerOf(shipping))).isTrue()
                runBlocking { test(shipping, context.getBean(MemoryLockRegistry::class.java)) }
            }
    }

    private fun innerOf(outer: Shipping) = (outer as Advised).targetSource.target as Shipping

    @Test
    fun aSuspendingFunctionIsLockedOnce() = run { shipping, registry ->
        assertThat(shipping.ship("1") { registry.get("order:1").isLocked }).isEqualTo("shipped true")
        withContext(Dispatchers.Default) { assertThat(shipping.ship("2") { true }).isEqualTo("shipped true") }
        assertThat(registry.get("order:1").isLocked).isFalse()
    }

    @Test
    fun aFlowIsLockedOnce() = run { shipping, _ ->
        assertThat(shipping.steps("1").toList()).containsExactly("a", "b")
        assertThat(shipping.suspendedSteps("1").toList()).containsExactly("a", "b")
    }

    @Test
    fun aCallOfTheInnerProxyFromWithinTheFunctionIsLocked() = run { shipping, _ ->
        val inner = innerOf(shipping)
        assertThatExceptionOfType(LockNotAcquiredException::class.java)
            .isThrownBy { runBlocking { shipping.ship("1") { inner.ship("1") { true } == "" } } }
        assertThat(shipping.ship("1") { inner.ship("2") { true } == "shipped true" }).isEqualTo("shipped true")
    }

    open class Shipping {

        @DistributedLock(name = "order", key = ["#id"], waitTime = "0")
        open suspend fun ship(id: String, body: suspend () -> Boolean): String {
            yield()
            return "shipped ${body()}"
        }

        @DistributedLock(name = "order", key = ["#id"], waitTime = "0")
        open fun steps(id: String): Flow<String> = flow {
            emit("a")
            yield()
            emit("b")
        }

        @DistributedLock(name = "order", key = ["#id"], waitTime = "0")
        open suspend fun suspendedSteps(id: String): Flow<String> {
            yield()
            return flow {
                emit("a")
                yield()
                emit("b")
            }
        }
    }

    @Configuration(proxyBeanMethods = false)
    open class AnotherProxyCreator {

        companion object {

            @Bean
            @JvmStatic
            fun anotherProxyCreator() = DefaultAdvisorAutoProxyCreator().apply { isProxyTargetClass = true }
        }
    }
}
