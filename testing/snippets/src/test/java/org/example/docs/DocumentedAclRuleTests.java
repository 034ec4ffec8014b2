package org.example.docs;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import io.github.lockboot.Lease;
import io.github.lockboot.fixture.AclUser;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.redis.RedisLockRegistry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the page has an administrator paste makes a user with the rule of {@link AclUser}, which {@code AclRuleTests}
 * shows to be enough and as short as it can be.
 */
@Tag("this-build")
class DocumentedAclRuleTests {

    private static final List<String> LINES = Regions.read().find("acl.redis").orElseThrow();

    private final RedisServer server = RedisServer.start();
    private LettuceConnectionFactory user;

    @BeforeEach
    void connectAsTheUser() {
        RedisStandaloneConfiguration redis = new RedisStandaloneConfiguration(server.host(), server.port());
        redis.setUsername(AclUser.NAME);
        redis.setPassword(AclUser.PASSWORD);
        user = new LettuceConnectionFactory(redis);
        user.afterPropertiesSet();
        user.start();
    }

    @AfterEach
    void stop() {
        user.destroy();
        server.close();
    }

    /** Redis reads such a line as redis-cli does. */
    private List<String> pasteIntoAConnection(List<String> lines) throws IOException {
        try (Socket socket = new Socket(server.host(), server.port())) {
            socket.setSoTimeout(10_000);
            BufferedReader replies =
                    new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
            List<String> read = new ArrayList<>();
            for (String line : lines) {
                socket.getOutputStream().write((line + "\r\n").getBytes(StandardCharsets.UTF_8));
                read.add(replies.readLine());
            }
            return read;
        }
    }

    private void assertThatTheUserLocks() throws Exception {
        try (RedisLockRegistry registry = RedisLockRegistry.builder(user)
                .commandTimeout(Duration.ofSeconds(10))
                .build()) {
            registry.connect().get();
            try (Lease lease = registry.acquire("order:4711")) {
                assertThat(lease.isValid()).isTrue();
            }
            assertThat(AclUser.refusals(server))
                    .allMatch(refusal -> refusal.matches("command (info|client\\|(tracking|caching))"));
        }
    }

    @Test
    void pastedIntoRedisCliTheLineMakesAUserThatLocks() throws Exception {
        assertThat(pasteIntoAConnection(LINES)).isNotEmpty().allMatch("+OK"::equals);
        assertThatTheUserLocks();
    }

    @Test
    void afterRedisCliInAShellTheLineMakesTheSameUser(@TempDir Path folder) throws Exception {
        assertThat(new Shell(server, folder)
                        .run(LINES.stream().map("redis-cli "::concat).toList()))
                .isNotEmpty()
                .allMatch("OK"::equals);
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files).as("no redirection").noneMatch(file -> file.endsWith("secret"));
        }
        assertThatTheUserLocks();
    }

    @Test
    void theDocumentationGivesThisRule() {
        assertThat(LINES).singleElement();
        assertThat(rights("acl.redis"))
                .containsExactlyInAnyOrderElementsOf(all(Stream.of(AclUser.REACH, AclUser.COMMANDS)));
        assertThat(rights("acl-recommended.redis"))
                .containsExactlyInAnyOrderElementsOf(
                        all(Stream.of(AclUser.REACH, AclUser.COMMANDS, AclUser.TRACKING, List.of("+info"))));
        assertThat(rights("acl-cluster.redis"))
                .containsExactlyInAnyOrderElementsOf(all(Stream.of(
                        AclUser.REACH,
                        AclUser.COMMANDS,
                        AclUser.TRACKING,
                        AclUser.IN_A_CLUSTER,
                        List.of("+cluster|info"))));
    }

    private static List<String> rights(String block) {
        String command = "ACL SETUSER locks reset on '>secret' -@all ";
        String line = Regions.read().find(block).orElseThrow().get(0);
        assertThat(line).startsWith(command);
        return List.of(line.substring(command.length()).replace("'", "").split(" "));
    }

    private static List<String> all(Stream<List<String>> rights) {
        return rights.flatMap(List::stream).toList();
    }
}
