package io.github.lockboot.sample;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.event.EventListener;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.PropertySource;

/** Starts the sample, with a Redis of its own unless {@code spring.data.redis.*} configures one. */
@SpringBootApplication
public class SampleApplication {

    private static final Logger log = LoggerFactory.getLogger(SampleApplication.class);

    public static void main(String[] args) {
        start(args);
    }

    static ConfigurableApplicationContext start(String... args) {
        return new SpringApplicationBuilder(SampleApplication.class)
                .initializers(new EmbeddedRedisInitializer())
                .run(args);
    }

    /** Where the sample listens, which Redis it uses and what to try first. */
    @EventListener
    void tell(ApplicationReadyEvent ready) {
        ConfigurableEnvironment environment = ready.getApplicationContext().getEnvironment();
        String url = "http://localhost:" + environment.getProperty("local.server.port");
        PropertySource<?> own = environment.getPropertySources().get(EmbeddedRedisInitializer.NAME);
        Object redis = own == null ? "the configured one" : own.getProperty("spring.data.redis.url");
        log.info("The sample is at {} and uses {} as its Redis. Open the page, or try", url, redis);
        log.info("  curl -X POST '{}/red-packets?amount=100.00&count=50'", url);
        log.info("  curl -X POST '{}/red-packets/<id>/grab?openid=o1'", url);
    }
}
