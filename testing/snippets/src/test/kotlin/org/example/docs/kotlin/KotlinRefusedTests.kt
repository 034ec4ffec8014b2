package org.example.docs.kotlin

import io.github.lockboot.DistributedLock
import io.github.lockboot.DistributedLock.IfNotAcquired
import io.github.lockboot.autoconfigure.LockAutoConfiguration
import io.github.lockboot.aop.InvalidLockDefinitionException
import java.util.concurrent.CompletableFuture
import java.util.stream.Stream
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.Job
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.channels.ReceiveChannel
import kotlinx.coroutines.flow.MutableStateFlow
import kotlinx.coroutines.flow.StateFlow
import kotlinx.coroutines.runBlocking
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.ValueSource
import org.springframework.boot.autoconfigure.AutoConfigurations
import org.springframework.boot.test.context.runner.ApplicationContextRunner
import org.springframework.core.NestedExceptionUtils
import reactor.core.publisher.Mono
import kotlin.reflect.KClass

/** What the lock could not cover is refused, at the start where the declaration shows it. */
class KotlinRefusedTests {

    private val runner = ApplicationContextRunner()
        .withConfiguration(AutoConfigurations.of(LockAutoConfiguration::class.java))
        .withPropertyValues("lock.type=memory")

    private fun refusalOf(type: KClass<*>): String {
        var message = "started"
        runner.withUserConfiguration(type.java).run { context ->
            context.startupFailure?.let { message = NestedExceptionUtils.getMostSpecificCause(it).message.orEmpty() }
        }
        return message
    }

    @Test
    fun aFinalClassIsRefused() {
        assertThat(refusalOf(Closed::class)).contains("Cannot subclass final class", Closed::class.java.name)
    }

    @Test
    fun aFinalFunctionOfAnOpenClassIsRefused() {
        assertThat(refusalOf(HalfOpen::class)).contains("HalfOpen.run(): is final, so no proxy can lock it")
    }

    @ParameterizedTest
    @ValueSource(classes = [SkipsNumber::class, SkipsText::class])
    fun aResultThatIsNeverNullCannotBeSkipped(type: Class<*>) {
        assertThat(refusalOf(type.kotlin))
            .contains("so there is no value for a call that was skipped: make that type nullable, or use a fallback")
    }

    @Test
    fun whatMayBeNullAndWhatHasNoResultCanBeSkipped() {
        assertThat(refusalOf(SkipsWithoutResult::class)).isEqualTo("started")
    }

    @ParameterizedTest
    @ValueSource(
        classes = [SuspendsForJob::class, SuspendsForDeferred::class, SuspendsForFuture::class, SuspendsForMono::class,
            SuspendsForState::class, SuspendsForSequence::class, SuspendsForStream::class, ReturnsJob::class,
            ReturnsChannel::class, ReturnsSequence::class, ReturnsFunction::class, ReturnsLazy::class],
    )
    fun aResultWhoseWorkIsDoneLaterIsRefused(type: Class<*>) {
        assertThat(refusalOf(type.kotlin)).contains("so the lock would be released before the work is done")
    }

    @Test
    fun whatComesLaterBehindAnyIsNotUnlockedInSilence() {
        runner.withUserConfiguration(Hiding::class.java).run { context ->
            val hiding = context.getBean(Hiding::class.java)
            val later = listOf(CompletableFuture<Int>(), CompletableDeferred<Int>(), Job(), Mono.just(1), sequenceOf(1), Stream.of(1))
            for (result in later) {
                for (call in listOf<suspend () -> Any>({ hiding.any(result) }, { hiding.suspended(result) })) {
                    val failure = runCatching { runBlocking { call() } }.exceptionOrNull()
                    assertThat(failure).`as`(result.toString()).isInstanceOf(InvalidLockDefinitionException::class.java)
                        .hasMessageContaining("so the lock is released before the work is done")
                }
            }
        }
    }
}

class Closed {
    @DistributedLock(name = "x")
    fun run() {}
}

open class HalfOpen {
    @DistributedLock(name = "x")
    fun run() {}
}

open class SkipsNumber {
    @DistributedLock(name = "x", ifNotAcquired = IfNotAcquired.SKIP)
    open suspend fun run(): Int = 1
}

open class SkipsText {
    @DistributedLock(name = "x", ifNotAcquired = IfNotAcquired.SKIP)
    open fun run(): String = "1"
}

open class SkipsWithoutResult {
    @DistributedLock(name = "x", ifNotAcquired = IfNotAcquired.SKIP)
    open suspend fun suspends() {}

    @DistributedLock(name = "x", ifNotAcquired = IfNotAcquired.SKIP)
    open fun blocks() {}

    @DistributedLock(name = "x", ifNotAcquired = IfNotAcquired.SKIP)
    open suspend fun number(): Int? = 1

    @DistributedLock(name = "x", ifNotAcquired = IfNotAcquired.SKIP)
    open fun future(): CompletableFuture<Int> = CompletableFuture()
}

open class SuspendsForJob {
    @DistributedLock(name = "x")
    open suspend fun run(): Job = Job()
}

open class SuspendsForDeferred {
    @DistributedLock(name = "x")
    open suspend fun run(): Deferred<Int> = CompletableDeferred(1)
}

open class SuspendsForFuture {
    @DistributedLock(name = "x")
    open suspend fun run(): CompletableFuture<Int> = CompletableFuture()
}

open class SuspendsForMono {
    @DistributedLock(name = "x")
    open suspend fun run(): Mono<Int> = Mono.just(1)
}

open class SuspendsForState {
    @DistributedLock(name = "x")
    open suspend fun run(): StateFlow<Int> = MutableStateFlow(1)
}

open class SuspendsForSequence {
    @DistributedLock(name = "x")
    open suspend fun run(): Sequence<Int> = sequenceOf(1)
}

open class SuspendsForStream {
    @DistributedLock(name = "x")
    open suspend fun run(): Stream<Int> = Stream.of(1)
}

open class ReturnsJob {
    @DistributedLock(name = "x")
    open fun run(): Job = Job()
}

open class ReturnsChannel {
    @DistributedLock(name = "x")
    open fun run(): ReceiveChannel<Int> = Channel()
}

open class ReturnsSequence {
    @DistributedLock(name = "x")
    open fun run(): Sequence<Int> = sequenceOf(1)
}

open class ReturnsFunction {
    @DistributedLock(name = "x")
    open fun run(): () -> Int = { 1 }
}

open class ReturnsLazy {
    @DistributedLock(name = "x")
    open fun run(): Lazy<Int> = lazy { 1 }
}

open class Hiding {
    @DistributedLock(name = "x")
    open fun any(result: Any): Any = result

    @DistributedLock(name = "x")
    open suspend fun suspended(result: Any): Any = result
}
