package org.example.docs.kotlin

import io.github.lockboot.DistributedLock
import io.github.lockboot.autoconfigure.LockAutoConfiguration
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flowOf
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.Tag
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.ValueSource
import org.springframework.boot.autoconfigure.AutoConfigurations
import org.springframework.boot.test.context.runner.ApplicationContextRunner
import org.springframework.util.ClassUtils

/** Without what makes a publisher of a coroutine nothing could hold the lock until its end: each run of these tests lacks one jar. */
class KotlinWithoutReactorTests {

    @ParameterizedTest
    @ValueSource(classes = [Suspends::class, SuspendsForUnit::class])
    @Tag("without-coroutines-reactor")
    @Tag("without-kotlin-reflect")
    fun aSuspendingFunctionIsRefused(type: Class<*>) {
        assertThat(listOf("kotlinx.coroutines.reactor.MonoKt", "kotlin.reflect.full.KClasses").filter { isPresent(it) }).hasSize(1)
        assertRefused(type, "suspends, for which Spring needs more Kotlin libraries: add kotlinx-coroutines-reactor and kotlin-reflect")
    }

    @ParameterizedTest
    @ValueSource(classes = [ReturnsFlow::class, ReturnsDeferred::class])
    @Tag("without-coroutines-reactor")
    fun whatACoroutineGivesLaterIsRefused(type: Class<*>) {
        assertThat(isPresent("kotlinx.coroutines.reactor.MonoKt")).isFalse()
        assertRefused(type, "so the lock would be released before the work is done: add kotlinx-coroutines-reactor")
    }

    private fun isPresent(type: String) = ClassUtils.isPresent(type, javaClass.classLoader)

    private fun assertRefused(type: Class<*>, because: String) {
        ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(LockAutoConfiguration::class.java))
            .withPropertyValues("lock.type=memory")
            .withUserConfiguration(type)
            .run { context ->
                assertThat(context).hasFailed()
                assertThat(context.startupFailure).hasMessageContaining(because)
            }
    }
}

open class Suspends {
    @DistributedLock(name = "x")
    open suspend fun run(): Int = 1
}

open class SuspendsForUnit {
    @DistributedLock(name = "x")
    open suspend fun run() {}
}

open class ReturnsFlow {
    @DistributedLock(name = "x")
    open fun run(): Flow<Int> = flowOf(1)
}

open class ReturnsDeferred {
    @DistributedLock(name = "x")
    open fun run(): Deferred<Int> = CompletableDeferred(1)
}
