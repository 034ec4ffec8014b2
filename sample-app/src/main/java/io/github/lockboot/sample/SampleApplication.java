package io.github.lockboot.sample;

import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** Starts the sample, with a Redis of its own unless {@code spring.data.redis.*} configures one. */
@SpringBootApplication
public class SampleApplication {

    public static void main(String[] args) {
        start(args);
    }

    static ConfigurableApplicationContext start(String... args) {
        return new SpringApplicationBuilder(SampleApplication.class)
                .initializers(new EmbeddedRedisInitializer())
                .run(args);
    }
}
