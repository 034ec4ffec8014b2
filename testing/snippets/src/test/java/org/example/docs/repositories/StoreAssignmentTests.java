package org.example.docs.repositories;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.repository.CrudRepository;

import static org.assertj.core.api.Assertions.assertThat;

/** The starter brings Spring Data Redis, which looks at every repository of the application, whatever its store. */
@ExtendWith(OutputCaptureExtension.class)
class StoreAssignmentTests {

    private static final String LINE =
            "Spring Data Redis - Could not safely identify store assignment for repository candidate interface "
                    + Orders.class.getName();

    private static void start(String... properties) {
        new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.NONE)
                .properties("lock.type=memory", "logging.level.org.springframework.data=info")
                .properties(properties)
                .run()
                .close();
    }

    @Test
    void springDataRedisSaysThatItDoesNotKnowARepositoryOfAnotherStore(CapturedOutput output) {
        start();
        assertThat(output).contains(LINE);
    }

    @Test
    void withItsRepositoriesSwitchedOffItSaysNothing(CapturedOutput output) {
        start("spring.data.redis.repositories.enabled=false");
        assertThat(output)
                .doesNotContain("Spring Data Redis - ")
                .doesNotContain("strict repository configuration mode");
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}
}

/** Of a store that is not here: JPA, say. */
interface Orders extends CrudRepository<Order, String> {}

class Order {}
