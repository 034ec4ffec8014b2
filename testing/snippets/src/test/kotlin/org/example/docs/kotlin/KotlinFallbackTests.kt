package org.example.docs.kotlin

import io.github.lockboot.DistributedLock
import io.github.lockboot.LockNotAcquiredException
import io.github.lockboot.LockRegistry
import io.github.lockboot.aop.InvalidLockDefinitionException
import io.github.lockboot.autoconfigure.LockAutoConfiguration
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flowOf
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.yield
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.ValueSource
import org.springframework.boot.autoconfigure.AutoConfigurations
import org.springframework.boot.test.context.runner.ApplicationContextRunner
import org.springframework.core.NestedExceptionUtils

/** A fallback is found by its name in Kotlin and its parameters in Kotlin, whatever the compiler makes of them. */
class KotlinFallbackTests {

    private val runner = ApplicationContextRunner()
        .withConfiguration(AutoConfigurations.of(LockAutoConfiguration::class.java))
        .withPropertyValues("lock.type=memory")

    private inline fun <reified T : Any> whileTaken(crossinline calls: suspend (T) -> Unit) {
        runner.withUserConfiguration(T::class.java).run { context ->
            assertThat(context).hasNotFailed()
            context.getBean(LockRegistry::class.java).acquire("pay:7").use {
                runBlocking { calls(context.getBean(T::class.java)) }
            }
        }
    }

    @Test
    fun ofAFunctionWithAValueClass() = whileTaken<ValueClasses> {
        assertThat(it.pay(OrderId("7"))).isEqualTo("busy 7")
        assertThat(it.payOrWhy(OrderId("7"), 1)).isEqualTo("7: pay:7")
        assertThat(it.copy(OrderId("7"))).isEqualTo(OrderId("copy of 7"))
        assertThat(it.payLater(OrderId("7"))).isEqualTo("busy later 7")
    }

    @Test
    fun thatIsInternal() = whileTaken<Internals> {
        assertThat(it.pay("7")).isEqualTo("busy 7")
        assertThat(it.payOrWhy("7")).isEqualTo("7: pay:7")
        assertThat(it.payById(OrderId("7"))).isEqualTo("id 7")
        assertThat(it.payInternally("7")).isEqualTo("busy 7")
    }

    @Test
    fun ofASuspendingFunctionThatSuspendsOrDoesNot() = whileTaken<Suspending> {
        assertThat(it.pay("7")).isEqualTo("busy 7")
        assertThat(it.payPlainly("7")).isEqualTo("plain 7")
        assertThat(it.payOrWhy("7")).isEqualTo("7: pay:7")
        assertThat(it.payOrNull("7")).isNull()
        it.payWithoutResult("7")
        assertThat(it.told).isEqualTo("7")
        assertThat(it.events("7").toList()).containsExactly("busy")
        assertThat(it.number("7")).isEqualTo(-1)
    }

    @Test
    fun ofAGenericBase() = whileTaken<Heir> {
        assertThat(it.pay("7")).isEqualTo("base 7")
        assertThat(it.payLater("7")).isEqualTo("base later 7")
        assertThat(it.payInTheBase("7")).isEqualTo("heir 7")
    }

    @ParameterizedTest
    @ValueSource(classes = [AnotherResult::class, AnotherSuspendingResult::class])
    fun thatReturnsSomethingElseIsRefused(type: Class<*>) {
        runner.withUserConfiguration(type).run { context ->
            assertThat(NestedExceptionUtils.getMostSpecificCause(context.startupFailure!!))
                .isInstanceOf(InvalidLockDefinitionException::class.java)
                .hasMessageContaining("names the fallback busy, which returns Integer: make it return String")
        }
    }

    @Test
    fun thatSuspendsForAFunctionThatDoesNotIsRefused() {
        runner.withUserConfiguration(SuspendsOnlyInTheFallback::class.java).run { context ->
            assertThat(NestedExceptionUtils.getMostSpecificCause(context.startupFailure!!))
                .isInstanceOf(InvalidLockDefinitionException::class.java)
                .hasMessageContaining("names the fallback busy, which suspends, but the function does not: use a method that does not suspend")
        }
    }

    @Test
    fun overloadsForDefaultValuesAreLockedByTheFunctionThatTheyCall() {
        runner.withUserConfiguration(Overloads::class.java).run { context ->
            assertThat(context).hasNotFailed()
            val overloads = context.getBean(Overloads::class.java)
            val registry = context.getBean(LockRegistry::class.java)
            val shorter = Overloads::class.java.getMethod("pay", String::class.java)
            assertThat(shorter.invoke(overloads, "7")).isEqualTo("7 1 true")
            assertThat(Overloads::class.java.getMethod("between", String::class.java).invoke(overloads, "7")).isEqualTo("1 7 2")
            registry.acquire("pay:7").use {
                assertThat(shorter.invoke(overloads, "7")).isEqualTo("busy")
                assertThat(overloads.pay("7", 2)).isEqualTo("busy")
            }
        }
    }

    @Test
    fun aFinalFunctionIsRefusedWhetherItHasOverloadsOrIsOne() {
        for (type in listOf(FinalOverloads::class.java, FinalByHand::class.java, FinalProperty::class.java)) {
            runner.withUserConfiguration(type).run { context ->
                assertThat(NestedExceptionUtils.getMostSpecificCause(context.startupFailure!!)).`as`(type.simpleName)
                    .isInstanceOf(InvalidLockDefinitionException::class.java)
                    .hasMessageContaining("is final, so no proxy can lock it")
            }
        }
    }
}

@JvmInline
value class OrderId(val text: String) {
    override fun toString() = text
}

open class ValueClasses {

    @DistributedLock(name = "pay", key = ["#id"], waitTime = "0", fallback = "busy")
    open fun pay(id: OrderId): String = "paid $id"

    fun busy(id: OrderId): String = "busy $id"

    @DistributedLock(name = "pay", key = ["#id"], waitTime = "0", fallback = "why")
    open fun payOrWhy(id: OrderId, amount: Long): String = "paid $id $amount"

    @Suppress("UNUSED_PARAMETER")
    private fun why(id: OrderId, amount: Long, refusal: LockNotAcquiredException): String = "$id: ${refusal.lockName}"

    @DistributedLock(name = "pay", key = ["#id"], waitTime = "0", fallback = "copyElsewhere")
    open fun copy(id: OrderId): OrderId = id

    fun copyElsewhere(id: OrderId): OrderId = OrderId("copy of $id")

    @DistributedLock(name = "pay", key = ["#id"], waitTime = "0", fallback = "busyLater")
    open suspend fun payLater(id: OrderId): String = "paid $id"

    suspend fun busyLater(id: OrderId): String {
        yield()
        return "busy later $id"
    }
}

open class Internals {

    @DistributedLock(name = "pay", key = ["#id"], waitTime = "0", fallback = "busy")
    open fun pay(id: String): String = "paid $id"

    internal fun busy(id: String): String = "busy $id"

    @DistributedLock(name = "pay", key = ["#id"], waitTime = "0", fallback = "why")
    open fun payOrWhy(id: String): String = "paid $id"

    internal fun why(id: String, refusal: LockNotAcquiredException): String = "$id: ${refusal.lockName}"

    @DistributedLock(name = "pay", key = ["#id"], waitTime = "0", fallback = "byId")
    open fun payById(id: OrderId): String = "paid $id"

    internal fun byId(id: OrderId): String = "id $id"

    @DistributedLock(name = "pay", key = ["#id"], waitTime = "0", fallback = "busy")
    internal open fun payInternally(id: String): String = "paid $id"
}

open class Suspending {

    open var told = ""

    @DistributedLock(name = "pay", key = ["#id"], waitTime = "0", fallback = "busy")
    open suspend fun pay(id: String): String = "paid $id"

    suspend fun busy(id: String): String {
        yield()
        return "busy $id"
    }

    @DistributedLock(name = "pay", key = ["#id"], waitTime = "0", fallback = "plain")
    open suspend fun payPlainly(id: String): String = "paid $id"

    fun plain(id: String): String = "plain $id"

    @DistributedLock(name = "pay", key = ["#id"], waitTime = "0", fallback = "why")
    open suspend fun payOrWhy(id: String): String = "paid $id"

    fun why(id: String, refusal: LockNotAcquiredException): String = "$id: ${refusal.lockName}"

    @DistributedLock(name = "pay", key = ["#id"], waitTime = "0", fallback = "nothing")
    open suspend fun payOrNull(id: String): String? = "paid $id"

    @Suppress("UNUSED_PARAMETER")
    fun nothing(id: String): String? = null

    @DistributedLock(name = "pay", key = ["#id"], waitTime = "0", fallback = "tell")
    open suspend fun payWithoutResult(id: String) {
        told = "paid $id"
    }

    fun tell(id: String) {
        told = id
    }

    @DistributedLock(name = "pay", key = ["#id"], waitTime = "0", fallback = "otherEvents")
    open suspend fun events(id: String): Flow<String> = flowOf(id)

    @Suppress("UNUSED_PARAMETER")
    fun otherEvents(id: String): Flow<String> = flowOf("busy")

    @DistributedLock(name = "pay", key = ["#id"], waitTime = "0", fallback = "otherNumber")
    open suspend fun number(id: String): Int = id.toInt()

    @Suppress("UNUSED_PARAMETER")
    fun otherNumber(id: String): Int = -1
}

abstract class Base<T : Any> {

    abstract fun pay(id: T): String

    fun busy(id: T): String = "base $id"

    suspend fun busyLater(id: T): String = "base later $id"

    @DistributedLock(name = "pay", key = ["#id"], waitTime = "0", fallback = "busyInTheHeir")
    open fun payInTheBase(id: T): String = "paid $id"
}

open class Heir : Base<String>() {

    @DistributedLock(name = "pay", key = ["#id"], waitTime = "0", fallback = "busy")
    override fun pay(id: String): String = "paid $id"

    @DistributedLock(name = "pay", key = ["#id"], waitTime = "0", fallback = "busyLater")
    open suspend fun payLater(id: String): String = "paid $id"

    fun busyInTheHeir(id: String): String = "heir $id"
}

open class AnotherResult {

    @DistributedLock(name = "pay", key = ["#id"], fallback = "busy")
    open suspend fun pay(id: String): String = "paid $id"

    @Suppress("UNUSED_PARAMETER")
    fun busy(id: String): Int? = 1
}

open class AnotherSuspendingResult {

    @DistributedLock(name = "pay", key = ["#id"], fallback = "busy")
    open suspend fun pay(id: String): String = "paid $id"

    @Suppress("UNUSED_PARAMETER", "RedundantSuspendModifier")
    suspend fun busy(id: String): Int = 1
}

open class SuspendsOnlyInTheFallback {

    @DistributedLock(name = "pay", key = ["#id"], fallback = "busy")
    open fun pay(id: String): String = "paid $id"

    @Suppress("RedundantSuspendModifier")
    suspend fun busy(id: String): String = "busy $id"
}

open class Overloads {

    @JvmOverloads
    @DistributedLock(name = "pay", key = ["#id"], waitTime = "0", fallback = "busy")
    open fun pay(id: String, amount: Long = 1, now: Boolean = true): String = "$id $amount $now"

    @Suppress("UNUSED_PARAMETER")
    fun busy(id: String, amount: Long, now: Boolean): String = "busy"

    @JvmOverloads
    @DistributedLock(name = "between", key = ["#last"])
    open fun between(first: Int = 1, id: String, last: Int = 2): String = "$first $id $last"
}

open class FinalOverloads {

    @JvmOverloads
    @DistributedLock(name = "pay", key = ["#id"])
    fun pay(id: String, amount: Long = 1): String = "$id $amount"
}

open class FinalByHand {

    open fun pay(id: String, amount: Long = 1, now: Boolean = true): String = "$id $amount $now"

    @DistributedLock(name = "pay", key = ["#id"])
    fun pay(id: String): String = "$id unlocked"
}

open class FinalProperty {

    @get:DistributedLock(name = "pay")
    val amount: Int
        get() = 1
}
