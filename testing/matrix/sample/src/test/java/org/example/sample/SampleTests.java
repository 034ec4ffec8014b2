package org.example.sample;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import com.jayway.jsonpath.JsonPath;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** A process of the sample that starts from what was made of it at build time, with a Redis of its own. */
class SampleTests {

    private static final long PATIENCE_SECONDS = 90;
    private static final Pattern URL = Pattern.compile("The sample is at (http://localhost:\\d+)");

    private final HttpClient client = HttpClient.newHttpClient();
    private final Queue<String> log = new ConcurrentLinkedQueue<>();
    private Process sample;
    private String url;

    @BeforeEach
    void start() throws Exception {
        sample = new ProcessBuilder(
                        System.getProperty("java.home") + "/bin/java",
                        "-Dspring.aot.enabled=true",
                        "-cp",
                        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                        "io.github.lockboot.sample.SampleApplication",
                        "--server.port=0",
                        "--logging.level.root=info",
                        "--lock.redis.command-timeout=10s",
                        "--spring.data.redis.timeout=10s")
                .redirectErrorStream(true)
                .start();
        CompletableFuture<String> told = new CompletableFuture<>();
        Thread reader = new Thread(() -> read(told));
        reader.setDaemon(true);
        reader.start();
        try {
            url = told.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (Exception failure) {
            sample.destroyForcibly();
            throw new AssertionError("the sample did not start:\n" + String.join("\n", log), failure);
        }
    }

    private void read(CompletableFuture<String> told) {
        try (BufferedReader out =
                new BufferedReader(new InputStreamReader(sample.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = out.readLine(); line != null; line = out.readLine()) {
                log.add(line);
                Matcher matcher = URL.matcher(line);
                if (matcher.find()) {
                    told.complete(matcher.group(1));
                }
            }
        } catch (IOException closed) {
            told.completeExceptionally(closed);
        }
        told.completeExceptionally(new IllegalStateException("it ended"));
    }

    @AfterEach
    void stop() {
        sample.destroyForcibly();
    }

    private String send(String method, String path) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(url + path))
                .method(method, HttpRequest.BodyPublishers.noBody())
                .timeout(Duration.ofSeconds(PATIENCE_SECONDS))
                .build();
        var response = client.send(request, BodyHandlers.ofString());
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return response.body();
    }

    @Test
    void aRedPacketIsGrabbedOnceByEach() throws Exception {
        assertThat(log).anyMatch(line -> line.contains("Starting AOT-processed SampleApplication"));
        String packet = JsonPath.read(send("POST", "/red-packets?amount=100.00&count=50"), "$.id");
        String grab = "/red-packets/" + packet + "/grab?openid=";
        String money = JsonPath.read(send("POST", grab + "o1"), "$.money");
        assertThat(JsonPath.<String>read(send("POST", grab + "o1"), "$.money")).isEqualTo(money);
        send("POST", grab + "o2");
        assertThat(JsonPath.<Object>read(send("GET", "/red-packets/" + packet), "$.winners"))
                .asString()
                .contains("o1", "o2");
        sample.destroy();
        assertThat(sample.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(log).noneMatch(line -> line.contains(" ERROR "));
    }
}
