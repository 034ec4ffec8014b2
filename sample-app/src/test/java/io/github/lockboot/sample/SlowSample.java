package io.github.lockboot.sample;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;

import io.github.lockboot.DistributedLock;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.annotation.Bean;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.RouterFunctions;
import org.springframework.web.servlet.function.ServerResponse;

/** The sample with work that lasts until Redis has the key {@code go}. No component, so no other test finds it. */
class SlowSample {

    public static void main(String[] args) {
        new SpringApplicationBuilder(SampleApplication.class, SlowSample.class).run(args);
    }

    @Bean
    Work work(StringRedisTemplate redis) {
        return new Work(redis);
    }

    @Bean
    RouterFunction<ServerResponse> routes(Work work) {
        return RouterFunctions.route()
                .POST("/slow/{id}", request -> ServerResponse.ok().body(work.slow(request.pathVariable("id"))))
                .POST("/async/{id}", request -> {
                    work.async(request.pathVariable("id"));
                    return ServerResponse.accepted().build();
                })
                .POST("/kept/{id}", request -> {
                    work.kept(request.pathVariable("id"));
                    return ServerResponse.accepted().build();
                })
                .build();
    }

    static class Work {

        private final StringRedisTemplate redis;

        Work(StringRedisTemplate redis) {
            this.redis = redis;
        }

        @DistributedLock(name = "slow", key = "#id", waitTime = "1m")
        public String slow(String id) {
            while (!Boolean.TRUE.equals(redis.hasKey("go"))) {
                LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
            }
            return "done";
        }

        /** On a thread that nobody waits for when the application stops. */
        @DistributedLock(name = "async", key = "#id")
        public CompletableFuture<String> async(String id) {
            CompletableFuture<String> result = new CompletableFuture<>();
            Thread thread = new Thread(() -> result.complete(slow("async:" + id)));
            thread.setDaemon(true);
            thread.start();
            return result;
        }

        @DistributedLock(name = "kept", key = "#id", keepFor = "3s")
        public void kept(String id) {}
    }
}
