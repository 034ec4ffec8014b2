package org.example.docs.kotlin

import io.github.lockboot.fixture.RedisServer
import java.util.concurrent.CopyOnWriteArrayList
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.yield
import org.springframework.boot.test.context.SpringBootTest
import org.springframework.test.context.DynamicPropertyRegistry
import org.springframework.test.context.DynamicPropertySource

/** An application in Kotlin, auto-configured, on a real Redis. It needs nothing of this module, so that testing/matrix can run it. */
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.NONE,
    properties = [
        "spring.main.banner-mode=off",
        "lock.startup-check=off",
        "lock.shutdown-grace-period=0",
        "lock.redis.command-timeout=10s", // the first command also loads classes
    ],
)
abstract class KotlinOnRedis {

    companion object {

        private val redis = RedisServer.start()

        @JvmStatic
        @DynamicPropertySource
        fun redisIsHere(properties: DynamicPropertyRegistry) {
            properties.add("spring.data.redis.host", redis::host)
            properties.add("spring.data.redis.port", redis::port)
        }
    }
}

/** What a function does that the test leads step by step. */
class Work {

    val begun = CompletableDeferred<Unit>()
    val goOn = CompletableDeferred<Unit>()
    val ended = CompletableDeferred<String>()
    val threads = CopyOnWriteArrayList<Thread>()

    suspend fun run() {
        threads.add(Thread.currentThread())
        begun.complete(Unit)
        try {
            goOn.await() // which stays on its thread if it need not wait
            yield() // which its dispatcher always resumes
            threads.add(Thread.currentThread())
        } finally {
            ended.complete(if (goOn.isCompleted) "done" else "cancelled")
        }
    }
}
