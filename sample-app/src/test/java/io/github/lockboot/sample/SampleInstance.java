package io.github.lockboot.sample;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;

import com.jayway.jsonpath.JsonPath;
import io.github.lockboot.fixture.RedisServer;
import org.springframework.context.ConfigurableApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

/** A running instance of the sample on a port of its own, asked over HTTP. */
public final class SampleInstance implements AutoCloseable {

    /** For much that comes at once, to instances that have just started. */
    public static final String PATIENT = "--lock.wait-time=60s";

    /** How long Redis may take on a machine that is busy, if a test says nothing else. */
    private static final List<String> TIMEOUTS =
            List.of("--lock.redis.command-timeout=20s", "--spring.data.redis.timeout=20s");

    private static final HttpClient client = HttpClient.newHttpClient();

    private final ConfigurableApplicationContext context;
    private final String url;

    private SampleInstance(ConfigurableApplicationContext context) {
        this.context = context;
        this.url = "http://localhost:" + context.getEnvironment().getRequiredProperty("local.server.port");
    }

    /** With a Redis of its own. */
    public static SampleInstance start(String... args) {
        Stream<String> timeouts = TIMEOUTS.stream()
                .filter(each -> Stream.of(args).noneMatch(arg -> arg.startsWith(each.substring(0, each.indexOf('=')))));
        return new SampleInstance(
                SampleApplication.start(Stream.of(Stream.of("--server.port=0"), timeouts, Stream.of(args))
                        .flatMap(Function.identity())
                        .toArray(String[]::new)));
    }

    public static SampleInstance on(RedisServer redis, String... args) {
        return start(Stream.concat(Stream.of("--spring.data.redis.url=" + redis.uri()), Stream.of(args))
                .toArray(String[]::new));
    }

    public <T> T bean(Class<T> type) {
        return context.getBean(type);
    }

    public Answer get(String path) {
        return send("GET", url + path);
    }

    public Answer post(String path) {
        return send("POST", url + path);
    }

    public Answer put(String path) {
        return send("PUT", url + path);
    }

    public Answer delete(String path) {
        return send("DELETE", url + path);
    }

    /** Where it listens. */
    public String url() {
        return url;
    }

    /** Asks any instance, also one in a JVM of its own. */
    public static Answer send(String method, String url) {
        HttpRequest request = HttpRequest.newBuilder(URI.create(url))
                .method(method, HttpRequest.BodyPublishers.noBody())
                .build();
        try {
            HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
            return new Answer(
                    response.statusCode(),
                    response.headers().firstValue("Content-Type").orElse(""),
                    response.body());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        context.close();
    }

    public record Answer(int status, String contentType, String body) {

        public void assertBadParameter(String parameter) {
            assertProblem(400, "'" + parameter + "'");
        }

        public void assertProblem(int status, String detail) {
            assertThat(this.status).isEqualTo(status);
            assertThat(contentType).isEqualTo("application/problem+json");
            assertThat(this.<Integer>read("$.status")).isEqualTo(status);
            assertThat(this.<String>read("$.detail")).contains(detail);
            assertThat(body).doesNotContain("Exception");
        }

        public <T> T read(String jsonPath) {
            return JsonPath.read(body, jsonPath);
        }
    }
}
