package io.github.lockboot.sample.live;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

import com.jayway.jsonpath.JsonPath;

/** What an open page receives. */
final class LiveStream implements AutoCloseable {

    private final InputStream body;
    private final BufferedReader reader;

    LiveStream(String url) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(url + "/live"))
                .timeout(Duration.ofMinutes(1))
                .build();
        body = HttpClient.newHttpClient()
                .send(request, HttpResponse.BodyHandlers.ofInputStream())
                .body();
        reader = new BufferedReader(new InputStreamReader(body, StandardCharsets.UTF_8));
    }

    String firstLine() throws IOException {
        return reader.readLine();
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

    /** The first snapshot for which this JSON path has the value. */
    String await(String jsonPath, Object value) throws IOException {
        String snapshot = next("snapshot");
        while (!JsonPath.read(snapshot, jsonPath).equals(value)) {
            snapshot = next("snapshot");
        }
        return snapshot;
    }

    @Override
    public void close() throws IOException {
        body.close();
    }
}
