package org.example.docs.kotlin

import io.github.lockboot.DistributedLock
import io.github.lockboot.FencingToken
import io.github.lockboot.LockRegistry
import io.github.lockboot.LockTemplate
import io.github.lockboot.NamedLock
import java.time.Duration
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.future.await
import kotlinx.coroutines.future.future
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.Test
import org.springframework.beans.factory.annotation.Autowired
import org.springframework.boot.autoconfigure.EnableAutoConfiguration
import org.springframework.context.annotation.Configuration
import org.springframework.context.annotation.Import
import org.springframework.stereotype.Component
import org.springframework.stereotype.Service

/** What docs/recipes.md shows of Kotlin. testing/matrix/kotlin runs it on every line of Spring Boot. */
class KotlinTests(
    @Autowired private val packets: RedPackets,
    @Autowired private val grabs: Grabs,
    @Autowired private val registry: LockRegistry,
    @Autowired private val template: LockTemplate,
) : KotlinOnRedis() {

    @Test
    fun aBlockingFunctionOfAClassThatThePluginOpenedIsLocked() {
        assertThat(packets.grab("o:1", 7)).isEqualTo(Grab(locked = true))
        assertThat(grabs.lock("o:1", 7).isLocked).isFalse()
    }

    @Test
    fun aSuspendingFunctionIsLocked() = runBlocking<Unit> {
        assertThat(packets.grabLater("o:2", 7)).isEqualTo(Grab(locked = true))
        assertThat(grabs.lock("o:2", 7).isLocked).isFalse()
    }

    @Test
    fun aFlowIsLockedWhileItIsCollected() = runBlocking<Unit> {
        val history = packets.history("o3", 7)
        assertThat(grabs.lock("o3", 7).isLocked).isFalse()
        assertThat(history.toList()).containsExactly(Grab(locked = true))
        assertThat(grabs.lock("o3", 7).isLocked).isFalse()
    }

    @Test
    fun theCallerLeavesTheTokenOut() = runBlocking<Unit> {
        val first = packets.refund("o3")
        assertThat(packets.refund("o3")).isGreaterThan(first).isGreaterThan(0)
    }

    @Test
    fun theTemplateTakesLambdas() = runBlocking<Unit> {
        // tag::template
        template.executeWithoutResult("stock:1") { book() }
        val left = template.execute<Int, RuntimeException>("stock:1") { stock() } // no exception type is inferred
        val sent = coroutineScope { template.executeAsync("mail:1") { future { send() } }.await() }
        // end::template
        assertThat(left).isEqualTo(1)
        assertThat(sent).isEqualTo("sent")
    }

    @Test
    fun whatIsWrittenAsACoroutineHoldsTheLockUntilItHasCleanedUp() = runBlocking<Unit> {
        val begun = CompletableDeferred<Unit>()
        val cleaning = CompletableDeferred<Unit>()
        val cleaned = CompletableDeferred<Unit>()
        val job = launch(Dispatchers.Default) {
            registry.withLock("export") {
                try {
                    begun.complete(Unit)
                    delay(Long.MAX_VALUE)
                } finally {
                    withContext(NonCancellable) {
                        cleaning.complete(Unit)
                        cleaned.await()
                    }
                }
            }
        }
        begun.await()
        job.cancel()
        cleaning.await()
        assertThat(registry.get("export").isLocked).isTrue()
        cleaned.complete(Unit)
        job.join()
        assertThat(registry.get("export").isLocked).isFalse()
        assertThat(registry.withLock("export") { "again" }).isEqualTo("again")
    }

    @Test
    fun aWaitingCoroutineThatIsCancelledLeavesTheQueue() = runBlocking<Unit> {
        val held = registry.acquire("import")
        val waiting = launch(start = CoroutineStart.UNDISPATCHED) { registry.withLock("import") {} }
        waiting.cancelAndJoin()
        held.close()
        assertThat(registry.withLock("import") { 1 }).isEqualTo(1)
    }

    private fun book() {}

    private fun stock() = 1

    private suspend fun send(): String {
        delay(1)
        return "sent"
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(RedPackets::class, Grabs::class)
    class Application
}

// tag::with-lock
suspend fun <T> LockRegistry.withLock(name: String, body: suspend () -> T): T {
    val asked = acquireAsync(name)
    try {
        asked.await()
        return body()
    } finally { // a lease that was granted in the moment of the cancellation is released, too
        if (!asked.isCompletedExceptionally) {
            withContext(NonCancellable) { asked.join().closeAfter(Duration.ZERO).await() }
        }
    }
}
// end::with-lock

// tag::service
@Service
class RedPackets(private val grabs: Grabs) {

    @DistributedLock(name = "grab", key = ["#openid", "#packetId"])
    fun grab(openid: String, packetId: Long): Grab { // blocks its thread while it waits
        return grabs.open(openid, packetId)
    }

    @DistributedLock(name = "grab", key = ["#openid", "#packetId"])
    suspend fun grabLater(openid: String, packetId: Long): Grab { // suspends while it waits, is locked until it returns
        delay(10)
        return grabs.open(openid, packetId)
    }

    @DistributedLock(name = "grab", key = ["#openid", "#packetId"])
    fun history(openid: String, packetId: Long): Flow<Grab> = flow { // is locked while it is collected
        emit(grabs.open(openid, packetId))
    }

    @DistributedLock(name = "refund", key = ["#openid"])
    suspend fun refund(openid: String, @FencingToken token: Long = 0): Long = token // the caller leaves the token out
}
// end::service

data class Grab(val locked: Boolean)

@Component
class Grabs(private val registry: LockRegistry) {

    fun open(openid: String, packetId: Long) = Grab(lock(openid, packetId).isLocked)

    fun lock(openid: String, packetId: Long): NamedLock = registry.get(LockRegistry.nameOf("grab", openid, "$packetId"))
}
