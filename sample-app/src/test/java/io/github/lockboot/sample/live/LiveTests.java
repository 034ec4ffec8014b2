package io.github.lockboot.sample.live;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Writer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

import com.jayway.jsonpath.JsonPath;
import io.github.lockboot.Lease;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.NamedLock;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.sample.SampleInstance;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

class LiveTests {

    @Test
    void aStreamBeginsWithACommentAndGoesOnWithSnapshots() throws Exception {
        try (SampleInstance sample = SampleInstance.start();
                Stream stream = new Stream(sample)) {
            assertThat(stream.reader.readLine()).isEqualTo(":open");
            String snapshot = stream.next("snapshot");
            assertThat(JsonPath.<String>read(snapshot, "$.instance")).isNotEmpty();
            assertThat(JsonPath.<Integer>read(snapshot, "$.scenarios.length()")).isEqualTo(7);
        }
    }

    @Test
    void aHeldLockIsShownWithItsInstanceTokenLeaseAndQueue() throws Exception {
        try (RedisServer redis = RedisServer.start();
                SampleInstance one = SampleInstance.on(redis);
                SampleInstance two = SampleInstance.on(redis);
                Stream stream = new Stream(one)) {
            SampleLoads.awaitBoth(one);
            NamedLock lock = one.bean(LockRegistry.class).get("price");
            lock.lock();
            try {
                two.bean(LockRegistry.class).acquireAsync("price", LockOptions.defaults());
                String path = "$.locks[?(@.name=='price')]";
                String snapshot;
                do {
                    snapshot = stream.next("snapshot");
                } while (JsonPath.<List<?>>read(snapshot, path + ".queue[0]").isEmpty());
                assertThat(JsonPath.<Object>read(snapshot, path + ".holders[0]").toString())
                        .isEqualTo("[\"" + one.bean(Instances.class).name() + "\"]");
                assertThat(JsonPath.<Object>read(snapshot, path + ".queue[0]").toString())
                        .isEqualTo("[\"" + two.bean(Instances.class).name() + "\"]");
                assertThat(JsonPath.<Object>read(snapshot, path + ".token").toString())
                        .isEqualTo("[\"" + lock.fencingToken() + "\"]");
            } finally {
                lock.unlock();
            }
        }
    }

    @Test
    void holdsOfSeveralInstancesAreShownTogetherAndHow() throws Exception {
        LockOptions five = LockOptions.defaults().withPermits(5);
        try (RedisServer redis = RedisServer.start();
                SampleInstance one = SampleInstance.on(redis);
                SampleInstance two = SampleInstance.on(redis);
                Stream stream = new Stream(one)) {
            SampleLoads.awaitBoth(one);
            String here = one.bean(Instances.class).name();
            String there = two.bean(Instances.class).name();
            try (Lease reader = one.bean(LockRegistry.class)
                            .acquire("prices", LockOptions.defaults().shared());
                    Lease other = two.bean(LockRegistry.class)
                            .acquire("prices", LockOptions.defaults().shared());
                    Lease permit = one.bean(LockRegistry.class).acquire("partner", five);
                    Lease second = one.bean(LockRegistry.class).acquire("partner", five);
                    Lease third = two.bean(LockRegistry.class).acquire("partner", five)) {
                assertThat(List.of(reader, other, permit, second, third)).allMatch(Lease::isValid);
                stream.next("snapshot"); // may have been taken before
                String snapshot = stream.next("snapshot");
                assertThat(JsonPath.<List<Object>>read(snapshot, "$.locks[?(@.name=='prices')]['holders','kind']"))
                        .hasToString("[{\"holders\":[\"%s\",\"%s\"],\"kind\":-1}]".formatted(here, there));
                assertThat(JsonPath.<List<Object>>read(snapshot, "$.locks[?(@.name=='partner')]['holders','kind']"))
                        .hasToString("[{\"holders\":[\"%s\",\"%s\",\"%s\"],\"kind\":5}]".formatted(here, here, there));
            }
        }
    }

    @Test
    void aClosedTabDoesNotEndTheBroadcast() throws Exception {
        try (SampleInstance sample = SampleInstance.start();
                Stream stays = new Stream(sample)) {
            try (Stream closed = new Stream(sample)) {
                closed.next("snapshot");
            }
            for (int i = 0; i < 8; i++) {
                stays.next("snapshot");
            }
        }
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void anOpenPageIsToldOfAnOutageAndDoesNotDelayTheEnd(CapturedOutput log) throws Exception {
        RedisServer redis = RedisServer.start();
        SampleInstance sample = SampleInstance.on(redis);
        try (Stream stream = new Stream(sample)) {
            stream.next("snapshot");
            redis.kill();
            assertThat(stream.next("outage")).isEqualTo("{}");
            sample.close();
            stream.awaitEnd();
            assertThat(log).contains("Graceful shutdown complete").doesNotContain("Graceful shutdown aborted");
        } finally {
            sample.close();
            redis.close();
        }
    }

    private static final class Stream implements AutoCloseable {

        private final InputStream body;
        private final BufferedReader reader;

        Stream(SampleInstance sample) throws IOException, InterruptedException {
            HttpRequest request = HttpRequest.newBuilder(URI.create(sample.url() + "/live"))
                    .timeout(Duration.ofMinutes(1))
                    .build();
            body = HttpClient.newHttpClient()
                    .send(request, HttpResponse.BodyHandlers.ofInputStream())
                    .body();
            reader = new BufferedReader(new InputStreamReader(body, StandardCharsets.UTF_8));
        }

        /** The data of the next event of that name. */
        String next(String event) throws IOException {
            String line;
            while ((line = reader.readLine()) != null) {
                if (line.equals("event:" + event)) {
                    return reader.readLine().substring("data:".length());
                }
            }
            throw new IOException("the stream has ended");
        }

        /** A server that stops may cut the stream before its last chunk: to the page one end is like the other. */
        void awaitEnd() {
            try {
                reader.transferTo(Writer.nullWriter());
            } catch (IOException cut) {
                // the end too
            }
        }

        @Override
        public void close() throws IOException {
            body.close();
        }
    }
}
