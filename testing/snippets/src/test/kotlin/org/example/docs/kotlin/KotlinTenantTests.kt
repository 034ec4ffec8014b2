package org.example.docs.kotlin

import io.github.lockboot.DistributedLock
import io.github.lockboot.LockContext
import kotlin.coroutines.AbstractCoroutineContextElement
import kotlin.coroutines.CoroutineContext
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.reactor.ReactorContext
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import org.assertj.core.api.Assertions.assertThat
import org.assertj.core.api.Assertions.assertThatIllegalStateException
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout
import org.springframework.beans.factory.annotation.Autowired
import org.springframework.boot.autoconfigure.EnableAutoConfiguration
import org.springframework.context.annotation.Configuration
import org.springframework.context.annotation.Import
import org.springframework.stereotype.Service

/** A tenant that is an element of the context of coroutines is in the key of a lock. */
@Timeout(120)
class KotlinTenantTests(@Autowired private val invoices: CoroutineInvoices) : KotlinOnRedis() {

    @Test
    fun eachTenantHasLocksOfItsOwn() = runBlocking<Unit> {
        assertThat(withContext(CurrentTenant("red")) { invoices.issue("7") }).isEqualTo("invoice:red:7")
        assertThat(withContext(CurrentTenant("blue")) { invoices.issue("7") }).isEqualTo("invoice:blue:7")
    }

    @Test
    fun withoutATenantTheCallIsRefused() {
        assertThatIllegalStateException().isThrownBy { runBlocking<Unit> { invoices.issue("8") } }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(CoroutineInvoices::class, TenantInvoices::class)
    class Application
}

// tag::tenant
class CurrentTenant(val id: String) : AbstractCoroutineContextElement(CurrentTenant) {

    companion object : CoroutineContext.Key<CurrentTenant>
}

@Service
class CoroutineInvoices(private val invoices: TenantInvoices) {

    suspend fun issue(number: String): String { // called in withContext(CurrentTenant("red"))
        val tenant = checkNotNull(currentCoroutineContext()[CurrentTenant]) { "no tenant" }
        return invoices.issue(tenant.id, number)
    }
}

@Service
class TenantInvoices {

    @DistributedLock(name = "invoice", key = ["#tenant", "#number"])
    suspend fun issue(tenant: String, number: String): String = write(tenant, number)
    // end::tenant

    private suspend fun write(tenant: String, number: String): String {
        val lock = currentCoroutineContext()[ReactorContext]?.context?.get<LockContext>(LockContext::class.java)
        check(lock!!.isValid) { "invoice $number of $tenant" }
        return lock.name()
    }
    // tag::tenant
}
// end::tenant
