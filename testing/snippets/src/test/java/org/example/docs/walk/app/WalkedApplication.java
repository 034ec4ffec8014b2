package org.example.docs.walk.app;

import java.util.List;
import java.util.concurrent.Callable;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.autoconfigure.LockObservabilityAutoConfiguration;
import org.example.docs.walk.WalkedClasses;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * An application with one annotated method. Walked is what all its calls but the first pass: other threads may be busy
 * during some.
 */
public class WalkedApplication implements Callable<List<String>> {

    @Override
    public List<String> call() {
        try (ConfigurableApplicationContext context = new SpringApplicationBuilder(Beans.class)
                .web(WebApplicationType.NONE)
                .properties("lock.startup-check=off", "spring.main.banner-mode=off")
                .run()) {
            Service service = context.getBean(Service.class);
            service.grab("first", "call");
            List<String> passed = walk(service);
            for (int call = 0; call < 10; call++) {
                passed.retainAll(walk(service));
            }
            return passed;
        }
    }

    private static List<String> walk(Service service) {
        WalkedClasses.begin();
        service.grab("packet", "openid");
        return WalkedClasses.end();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration(exclude = {DataSourceAutoConfiguration.class, LockObservabilityAutoConfiguration.class})
    static class Beans {

        @Bean
        Service service() {
            return new Service();
        }
    }

    static class Service {

        @DistributedLock(key = "#openid+#redPacketId")
        public String grab(String redPacketId, String openid) {
            return openid + " opens " + redPacketId;
        }
    }
}
