package io.github.lockboot.sample;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.github.lockboot.fixture.RedisServer;

/** An instance of the sample in a JVM of its own, on a port of its own. */
public final class SampleProcess implements AutoCloseable {

    private static final Pattern URL = Pattern.compile("The sample is at (http://localhost:\\d+)");
    private static final long LONGEST_START_SECONDS = 300;

    private final Collection<String> log = new ConcurrentLinkedQueue<>();
    private final CompletableFuture<String> url = new CompletableFuture<>();
    private final Process process;

    /** Does not wait until it is up. */
    public SampleProcess(Class<?> application, RedisServer redis, String... args) {
        try {
            process = new ProcessBuilder(Stream.concat(
                                    Stream.of(
                                            System.getProperty("java.home") + "/bin/java",
                                            "-cp",
                                            System.getProperty(
                                                    "surefire.test.class.path", System.getProperty("java.class.path")),
                                            application.getName(),
                                            "--server.port=0",
                                            "--spring.data.redis.url=" + redis.uri()),
                                    Stream.of(args))
                            .toList())
                    .redirectErrorStream(true)
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Thread reader = new Thread(this::read);
        reader.setDaemon(true);
        reader.start();
    }

    private void read() {
        try (BufferedReader out =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = out.readLine(); line != null; line = out.readLine()) {
                log.add(line);
                Matcher matcher = URL.matcher(line);
                if (matcher.find()) {
                    url.complete(matcher.group(1));
                }
            }
        } catch (IOException closed) {
            url.completeExceptionally(closed);
        }
        url.completeExceptionally(new IllegalStateException("it ended"));
    }

    /** Where it listens, once it is up. */
    public String url() {
        try {
            return url.copy().orTimeout(LONGEST_START_SECONDS, TimeUnit.SECONDS).join();
        } catch (RuntimeException failure) {
            throw new AssertionError("the sample did not start:\n" + String.join("\n", log), failure);
        }
    }

    /** The lines that it has written so far. */
    List<String> log() {
        return List.copyOf(log);
    }

    Process process() {
        return process;
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
