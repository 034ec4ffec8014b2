package org.example.consumer;

import java.io.InputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;

import io.github.lockboot.Actor;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockTemplate;
import io.github.lockboot.NamedLock;
import io.github.lockboot.fixture.RedisServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.util.ClassUtils;
import org.w3c.dom.Element;
import org.w3c.dom.Node;

import static org.assertj.core.api.Assertions.assertThat;

/** What an application gets that adds the starter and configures nothing. */
@ExtendWith(OutputCaptureExtension.class)
class StarterTests {

    private static final int INSTANCES = 2;
    private static final int THREADS = 8;
    private static final int ROUNDS = 50;

    private static RedisServer redis;

    @BeforeAll
    static void start() {
        redis = RedisServer.start();
    }

    @AfterAll
    static void stop() {
        redis.close();
    }

    private static ConfigurableApplicationContext instance() {
        return ConsumerApplication.start("--spring.data.redis.url=" + redis.uri());
    }

    @Test
    void theLineIsTheOneThatWasAskedFor() {
        assertThat(SpringBootVersion.getVersion()).isEqualTo(System.getProperty("spring-boot.version"));
    }

    @Test
    void theClassPathIsTheOneThisModuleIsFor() {
        assertThat(names("present")).allMatch(StarterTests::isPresent);
        assertThat(names("absent")).noneMatch(StarterTests::isPresent);
    }

    @Test
    void theLibraryIsTheJarThatWasBuilt() throws Exception {
        Path jar = Path.of(LockTemplate.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        byte[] digest = MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(jar));
        assertThat(HexFormat.of().formatHex(digest)).isEqualTo(System.getProperty("lock.sha256"));
    }

    @Test
    void theJarDescribesItsProperties() throws Exception {
        String library = LockTemplate.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toString();
        try (InputStream in = URI.create("jar:" + library + "!/META-INF/spring-configuration-metadata.json")
                .toURL()
                .openStream()) {
            assertThat(new String(in.readAllBytes()))
                    .contains("\"lock.ttl\"", "\"lock.wait-time\"", "\"lock.key-prefix\"", "\"description\"");
        }
    }

    @Test
    void theStarterBringsSpringDataRedisSpringAopAndJspecifyAlone() throws Exception {
        assertThat(dependencies("lock-spring-boot-starter"))
                .containsExactly(
                        "io.github.lockboot:lock-spring-boot-autoconfigure",
                        "org.springframework.boot:spring-boot-starter-data-redis");
        assertThat(dependencies("lock-spring-boot-autoconfigure"))
                .containsExactly(
                        "org.jspecify:jspecify",
                        "org.springframework.boot:spring-boot-autoconfigure",
                        "org.springframework.data:spring-data-redis",
                        "org.springframework:spring-aop");
    }

    @Test
    void annotatedMethodsOfSeveralInstancesRunOneAtATime() throws Exception {
        try (ConfigurableApplicationContext one = instance();
                ConfigurableApplicationContext other = instance()) {
            int before = ConsumerApplication.Account.balance();
            Thread[] threads = Stream.of(one, other)
                    .map(instance -> instance.getBean(ConsumerApplication.Account.class))
                    .flatMap(account -> IntStream.range(0, THREADS)
                            .mapToObj(i -> new Thread(() -> IntStream.range(0, ROUNDS)
                                    .forEach(round -> account.payIn("account 1")))))
                    .toArray(Thread[]::new);
            for (Thread thread : threads) {
                thread.start();
            }
            for (Thread thread : threads) {
                thread.join();
            }
            assertThat(ConsumerApplication.Account.balance() - before).isEqualTo(INSTANCES * THREADS * ROUNDS);
        }
    }

    @Test
    void theRegistryLocksOnRedis() {
        try (ConfigurableApplicationContext instance = instance()) {
            LockRegistry registry = instance.getBean(LockRegistry.class);
            registry.get("order 1").lock();
            assertThat(redis.command("EXISTS", "lock:order 1")).isEqualTo(1L);
            registry.get("order 1").unlock();
            instance.getBean(LockTemplate.class)
                    .execute("order 2", () -> assertThat(redis.command("EXISTS", "lock:order 2"))
                            .isEqualTo(1L));
            assertThat(redis.command("EXISTS", "lock:order 1", "lock:order 2")).isEqualTo(0L);
        }
    }

    @Test
    void whoWaitsListensForMessages() throws Exception {
        try (ConfigurableApplicationContext one = instance();
                ConfigurableApplicationContext other = instance();
                Actor waiter = new Actor()) {
            NamedLock held = one.getBean(LockRegistry.class).get("awaited");
            NamedLock awaited = other.getBean(LockRegistry.class).get("awaited");
            held.lock();
            CompletableFuture<Void> waiting = waiter.begin(awaited::lock);
            Actor.await("it listens", () -> !List.of().equals(redis.command("PUBSUB", "CHANNELS")));
            held.unlock();
            Actor.get(waiting);
            waiter.run(awaited::unlock);
        }
    }

    @Test
    void ifToldSoNothingConnectsBeforeTheFirstLock() {
        long before = connectionsSoFar();
        try (ConfigurableApplicationContext instance = ConsumerApplication.start(
                "--spring.data.redis.url=" + redis.uri(),
                "--lock.startup-check=off",
                "--lock.redis.connect-at-startup=false")) {
            assertThat(connectionsSoFar() - before).isEqualTo(1); // the one that asks
            LockRegistry registry = instance.getBean(LockRegistry.class);
            registry.get("first").lock();
            registry.get("first").unlock();
            assertThat(connectionsSoFar() - before).isGreaterThan(2);
        }
    }

    @Test
    void theStartItselfWarnsOfNothing(CapturedOutput output) {
        String said;
        try (ConfigurableApplicationContext started = ConsumerApplication.start(
                "--spring.data.redis.url=" + redis.uri(), "--lock.startup-check=off", "--logging.level.root=info")) {
            said = output.getOut();
            assertThat(started.isActive()).isTrue();
        }
        assertThat(said).contains("Started ");
        assertThat(said.lines()).noneMatch(line -> line.contains(" WARN ") || line.contains(" ERROR "));
    }

    private static long connectionsSoFar() {
        try (var probe = redis.probe()) {
            return Long.parseLong(probe.info("stats").get("total_connections_received"));
        }
    }

    private static Stream<String> names(String property) {
        return Stream.of(System.getProperty(property, "").split(" ")).filter(name -> !name.isEmpty());
    }

    private static boolean isPresent(String className) {
        return ClassUtils.isPresent(className, null);
    }

    /** What the published pom makes an application have, as {@code group:artifact}. */
    private static Set<String> dependencies(String artifact) throws Exception {
        Set<String> found = new TreeSet<>();
        String pom = "META-INF/maven/io.github.lockboot/" + artifact + "/pom.xml";
        try (InputStream in = StarterTests.class.getClassLoader().getResourceAsStream(pom)) {
            Element project = DocumentBuilderFactory.newInstance()
                    .newDocumentBuilder()
                    .parse(in)
                    .getDocumentElement();
            for (Element dependency : children(children(project, "dependencies").get(0), "dependency")) {
                String scope = text(dependency, "scope");
                if (!text(dependency, "optional").equals("true") && (scope.isEmpty() || scope.matches("compile|runtime"))) {
                    found.add(text(dependency, "groupId") + ":" + text(dependency, "artifactId"));
                }
            }
        }
        return found;
    }

    private static String text(Element parent, String name) {
        return children(parent, name).stream().map(Node::getTextContent).findFirst().orElse("");
    }

    private static List<Element> children(Element parent, String name) {
        return IntStream.range(0, parent.getChildNodes().getLength())
                .mapToObj(parent.getChildNodes()::item)
                .filter(node -> node.getNodeName().equals(name))
                .map(Element.class::cast)
                .toList();
    }
}
