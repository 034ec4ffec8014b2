package org.example.docs.kotlin

import io.github.lockboot.DistributedLock
import io.github.lockboot.DistributedLock.IfNotAcquired
import io.github.lockboot.LockContext
import io.github.lockboot.LockNotAcquiredException
import io.github.lockboot.LockRegistry
import io.github.lockboot.ScheduledLock
import io.github.lockboot.fixture.Await
import java.util.Optional
import java.util.concurrent.BlockingQueue
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.TimeUnit
import kotlin.concurrent.thread
import kotlin.coroutines.CoroutineContext
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.DelicateCoroutinesApi
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.GlobalScope
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.flow.flowOf
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.launch
import kotlinx.coroutines.reactor.ReactorContext
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import kotlinx.coroutines.yield
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout
import org.springframework.beans.factory.annotation.Autowired
import org.springframework.boot.autoconfigure.EnableAutoConfiguration
import org.springframework.context.annotation.Bean
import org.springframework.context.annotation.Configuration
import org.springframework.context.annotation.Import
import org.springframework.scheduling.annotation.EnableScheduling
import org.springframework.scheduling.annotation.Scheduled
import org.springframework.stereotype.Component
import org.springframework.stereotype.Service

/** A suspending function is locked until it returns, on whatever thread, or fails or is cancelled. */
@Timeout(120)
class KotlinSuspendTests(
    @Autowired private val orders: Orders,
    @Autowired private val registry: LockRegistry,
    @Autowired private val runs: BlockingQueue<ScheduledLock.Run>,
) : KotlinOnRedis() {

    private fun isLocked(id: String) = registry.get("order:$id").isLocked

    @Test
    fun theLockIsHeldUntilTheFunctionReturnsOnAnotherThread() = runBlocking<Unit> {
        val work = Work()
        val result = async(AThreadForEachStep) { orders.ship("1", work) }
        work.begun.await()
        assertThat(isLocked("1")).isTrue()
        work.goOn.complete(Unit)
        result.await()
        assertThat(work.threads).doesNotHaveDuplicates().hasSize(2)
        assertThat(isLocked("1")).isFalse()
    }

    @Test
    fun aSecondCoroutineWaits() = runBlocking<Unit> {
        val first = Work()
        val second = Work()
        val one = async(start = CoroutineStart.UNDISPATCHED) { orders.ship("2", first) }
        val two = async(start = CoroutineStart.UNDISPATCHED) { orders.ship("2", second) } // has asked for the lock when this returns
        first.begun.await()
        second.goOn.complete(Unit)
        yield()
        assertThat(second.begun.isCompleted).isFalse()
        first.goOn.complete(Unit)
        awaitAll(one, two)
        assertThat(second.begun.isCompleted).isTrue()
    }

    @Test
    fun manyCoroutinesRunOneAtATime() = runBlocking<Unit> {
        (1..50).map { async(Dispatchers.Default) { orders.count() } }.awaitAll()
        assertThat(orders.counted).isEqualTo(50)
    }

    @Test
    fun aFailureReleasesTheLockAndComesOutAsItIs() = runBlocking<Unit> {
        val failure = runCatching { orders.fail("3") }.exceptionOrNull()
        assertThat(failure).isInstanceOf(UnsupportedOperationException::class.java).hasMessage("no such order")
        assertThat(isLocked("3")).isFalse()
    }

    @Test
    fun cancellationReleasesTheLock() = runBlocking<Unit> {
        val work = Work()
        val job = launch(Dispatchers.Default) { orders.ship("4", work) }
        work.begun.await()
        job.cancelAndJoin()
        Await.until("the release") { !isLocked("4") }
        assertThat(work.ended.await()).isEqualTo("cancelled")
    }

    @Test
    fun whatACancelledFunctionStillDoesItDoesWithoutTheLock() = runBlocking<Unit> {
        val work = Work()
        val job = launch(Dispatchers.Default) {
            orders.cleanUp("5", work)
        }
        work.begun.await()
        job.cancelAndJoin()
        Await.until("the release") { !isLocked("5") }
        assertThat(work.ended.isCompleted).isFalse()
        work.goOn.complete(Unit)
        work.ended.await()
    }

    @Test
    fun cancellationOfAWaiterLeavesTheQueueAndTheFunctionDoesNotRun() = runBlocking<Unit> {
        val held = registry.acquire("order:6")
        val work = Work()
        val job = launch(start = CoroutineStart.UNDISPATCHED) { orders.ship("6", work) }
        job.cancelAndJoin()
        held.close()
        registry.acquire("order:6").close()
        assertThat(work.begun.isCompleted).isFalse()
    }

    @Test
    fun contentionIsAnExceptionAndTheFunctionDoesNotRun() = runBlocking<Unit> {
        registry.acquire("order:7").use {
            assertThat(runCatching { orders.once("7") }.exceptionOrNull()).isInstanceOf(LockNotAcquiredException::class.java)
            assertThat(orders.onceOrNull("7")).isNull()
            assertThat(orders.onceOrEmpty("7")).isEmpty()
            assertThat(orders.onceOr("7")).isEqualTo("busy")
            assertThat(orders.onceOrWhy("7")).isEqualTo("order:7")
        }
        assertThat(orders.onceOrNull("7")).isEqualTo("done")
    }

    @Test
    fun unitNullAndValuesComeOut() = runBlocking<Unit> {
        orders.unit("8")
        assertThat(orders.orNull("8", null)).isNull()
        assertThat(orders.orNull("8", 8)).isEqualTo(8)
        assertThat(orders.hidden("8") { "a value" }).isEqualTo("a value")
    }

    @Test
    fun aFlowIsLockedAtEachCollection() = runBlocking<Unit> {
        for (flow in listOf(orders.events("9"), orders.laterEvents("9"))) {
            repeat(2) { assertThat(flow.toList()).containsExactly("locked true") }
            assertThat(isLocked("9")).isFalse()
        }
    }

    @Test
    fun aDeferredIsLockedUntilItCompletes() = runBlocking<Unit> {
        val work = Work()
        val result = orders.start("10", work)
        work.begun.await()
        assertThat(isLocked("10")).isTrue()
        work.goOn.complete(Unit)
        result.await()
        assertThat(isLocked("10")).isFalse()
    }

    @Test
    fun theLockIsInTheContextOfTheCoroutine() = runBlocking<Unit> {
        assertThat(orders.told("11")).isEqualTo("order:11, of a thread: false")
    }

    @Test
    fun aScheduledFunctionIsAJob() {
        val run = runs.poll(60, TimeUnit.SECONDS)
        assertThat(run?.job()).isEqualTo("nightly")
        assertThat(run?.outcome()).isEqualTo(ScheduledLock.Outcome.RAN)
    }

    /** Runs whatever is resumed on a thread of its own. */
    private object AThreadForEachStep : CoroutineDispatcher() {

        override fun dispatch(context: CoroutineContext, block: Runnable) {
            thread { block.run() }
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @EnableScheduling
    @Import(Orders::class, Nightly::class)
    class Application {

        @Bean
        fun runs(): BlockingQueue<ScheduledLock.Run> = LinkedBlockingQueue()

        @Bean
        fun listener(runs: BlockingQueue<ScheduledLock.Run>) = ScheduledLock.Listener { runs.add(it) }
    }
}

@Component
class Nightly {

    @Scheduled(fixedDelay = 3_600_000)
    @ScheduledLock(name = "nightly")
    suspend fun run() = yield()
}

@Service
class Orders(private val registry: LockRegistry) {

    var counted = 0

    @DistributedLock(name = "order", key = ["#id"])
    suspend fun ship(id: String, work: Work) = work.run()

    @DistributedLock(name = "order", key = ["'count'"])
    suspend fun count() {
        val before = counted
        yield()
        counted = before + 1
    }

    @DistributedLock(name = "order", key = ["#id"])
    suspend fun fail(id: String): String {
        yield()
        throw UnsupportedOperationException("no such order")
    }

    @DistributedLock(name = "order", key = ["#id"])
    suspend fun cleanUp(id: String, work: Work) {
        try {
            work.begun.complete(Unit)
            CompletableDeferred<Unit>().await()
        } finally {
            withContext(NonCancellable) { work.run() }
        }
    }

    @DistributedLock(name = "order", key = ["#id"], waitTime = "0")
    suspend fun once(id: String): Int = 1

    @DistributedLock(name = "order", key = ["#id"], waitTime = "0", ifNotAcquired = IfNotAcquired.SKIP)
    suspend fun onceOrNull(id: String): String? = "done"

    @DistributedLock(name = "order", key = ["#id"], waitTime = "0", ifNotAcquired = IfNotAcquired.SKIP)
    suspend fun onceOrEmpty(id: String): Optional<Int> = Optional.of(1)

    @DistributedLock(name = "order", key = ["#id"], waitTime = "0", fallback = "busy")
    suspend fun onceOr(id: String): String = "done"

    suspend fun busy(id: String): String {
        yield()
        return "busy"
    }

    @DistributedLock(name = "order", key = ["#id"], waitTime = "0", fallback = "why")
    suspend fun onceOrWhy(id: String): String = "done"

    suspend fun why(id: String, refusal: LockNotAcquiredException): String {
        yield()
        return refusal.lockName
    }

    @DistributedLock(name = "order", key = ["#id"])
    suspend fun unit(id: String) = yield()

    @DistributedLock(name = "order", key = ["#id"])
    suspend fun orNull(id: String, value: Int?): Int? = value

    @DistributedLock(name = "order", key = ["#id"])
    suspend fun hidden(id: String, make: () -> Any): Any = make()

    @DistributedLock(name = "order", key = ["#id"])
    fun events(id: String): Flow<String> = flow { emit("locked ${registry.get("order:$id").isLocked}") }

    @DistributedLock(name = "order", key = ["#id"])
    suspend fun laterEvents(id: String): Flow<String> {
        yield()
        return flowOf("locked ${registry.get("order:$id").isLocked}")
    }

    @OptIn(DelicateCoroutinesApi::class)
    @DistributedLock(name = "order", key = ["#id"])
    fun start(id: String, work: Work): Deferred<Unit> = GlobalScope.async { work.run() }

    @DistributedLock(name = "order", key = ["#id"])
    suspend fun told(id: String): String {
        val lock = currentCoroutineContext()[ReactorContext]?.context?.get<LockContext>(LockContext::class.java)
        return "${lock?.name()}, of a thread: ${LockContext.find().isPresent}"
    }
}
