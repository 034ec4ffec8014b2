package org.example.plain;

import java.lang.management.ManagementFactory;

import org.springframework.boot.Banner;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.stereotype.Service;

/** As the consumer, without an annotation: what it pays for having the starter and for nothing else. */
@SpringBootApplication
public class PlainApplication {

    /** Starts, says after which time, and ends. */
    public static void main(String[] args) {
        ConfigurableApplicationContext instance =
                new SpringApplicationBuilder(PlainApplication.class).bannerMode(Banner.Mode.OFF).run(args);
        System.out.println("up after " + ManagementFactory.getRuntimeMXBean().getUptime() + " ms");
        instance.close();
    }

    @Service
    public static class Account {

        private int balance;

        public void payIn(String account) {
            balance++;
        }
    }
}
