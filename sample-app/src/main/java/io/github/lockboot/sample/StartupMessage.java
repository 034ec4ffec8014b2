package io.github.lockboot.sample;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.event.EventListener;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.PropertySource;
import org.springframework.stereotype.Component;

/** Logs where the sample listens, which Redis it uses and what to try first. */
@Component
class StartupMessage {

    private static final Logger log = LoggerFactory.getLogger(StartupMessage.class);

    @EventListener
    void log(ApplicationReadyEvent ready) {
        ConfigurableEnvironment environment = ready.getApplicationContext().getEnvironment();
        String url = "http://localhost:" + environment.getProperty("local.server.port");
        PropertySource<?> own = environment.getPropertySources().get(EmbeddedRedisInitializer.NAME);
        log.info("""
                The sample is at {} and uses {} as its Redis. Open the page, or try
                  curl -X POST '{}/red-packets?amount=100.00&count=50'
                  curl -X POST '{}/red-packets/<id>/grab?openid=o1'""", url, own == null ? "the configured one" : own.getProperty("spring.data.redis.url"), url, url);
    }
}
