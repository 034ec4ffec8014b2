package org.example.docs.walk;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;

import io.github.lockboot.fixture.RedisServer;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** The walk of a call through the library, as docs/design.md tells it. */
class CallWalkTests {

    private static final String APPLICATION = "org.example.docs.walk.app.";

    /** More than so many types, and nobody follows a call. */
    private static final int MOST = 27;

    @Test
    void anUncontendedCallPassesTheStationsOfTheDesignPage() throws Exception {
        assertThat(walk()).containsExactlyInAnyOrderElementsOf(stations()).hasSizeLessThanOrEqualTo(MOST);
    }

    /** The types in the first column of the table. */
    private static List<String> stations() throws IOException {
        String page = Files.readString(Path.of("../../docs/design.md"));
        String walk = page.substring(page.indexOf("| station |"), page.indexOf("### Where things are decided"));
        Pattern type = Pattern.compile("`(\\w+)`");
        return walk.lines()
                .map(row -> row.split("\\|")[row.isEmpty() ? 0 : 1])
                .flatMap(names -> type.matcher(names).results())
                .map(match -> match.group(1))
                .toList();
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
