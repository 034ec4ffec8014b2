package org.example.docs.walk;

import java.util.List;
import java.util.concurrent.Callable;

import io.github.lockboot.fixture.RedisServer;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** The walk of a call through the library, as docs/design.md tells it. */
class CallWalkTests {

    private static final String APPLICATION = "org.example.docs.walk.app.";

    @Test
    void anUncontendedCallPassesTheStationsOfTheDesignPage() throws Exception {
        List<String> passed = walk();
        System.out.println(passed.size() + " " + passed);
        assertThat(passed).hasSizeLessThanOrEqualTo(30);
    }

    @SuppressWarnings("unchecked")
    private static List<String> walk() throws Exception {
        Thread current = Thread.currentThread();
        ClassLoader before = current.getContextClassLoader();
        WalkedClasses walked = new WalkedClasses(CallWalkTests.class.getClassLoader(), APPLICATION);
        try (RedisServer server = RedisServer.start()) {
            System.setProperty("spring.data.redis.port", String.valueOf(server.port()));
            current.setContextClassLoader(walked);
            Class<?> application = walked.loadClass(APPLICATION + "WalkedApplication");
            return ((Callable<List<String>>)
                            application.getDeclaredConstructor().newInstance())
                    .call();
        } finally {
            System.clearProperty("spring.data.redis.port");
            current.setContextClassLoader(before);
        }
    }
}
