/**
 * Distributed locks for Spring Boot. The exported packages are the API. The module is open, because Spring reads its
 * classes and resources.
 */
@SuppressWarnings({"requires-automatic", "requires-transitive-automatic"}) // Spring and Lettuce are automatic modules
open module io.github.lockboot {
    requires transitive org.jspecify;
    requires transitive spring.data.redis;
    requires jdk.net; // Lettuce uses it for keep-alive and does not say so
    requires spring.aop;
    requires spring.beans;
    requires spring.boot;
    requires spring.boot.autoconfigure;
    requires spring.context;
    requires spring.core;
    requires spring.data.commons;
    requires spring.expression;
    requires spring.tx;
    requires static com.fasterxml.jackson.annotation;
    requires static io.netty.buffer;
    requires static io.netty.common;
    requires static io.netty.handler;
    requires static io.netty.transport;
    requires static transitive java.sql;
    requires static lettuce.core;
    requires static micrometer.commons;
    requires static micrometer.core;
    requires static micrometer.observation;
    requires static org.reactivestreams;
    requires static org.slf4j;
    requires static reactor.core;
    requires static spring.boot.actuator;
    requires static spring.boot.actuator.autoconfigure;
    requires static spring.boot.health;
    requires static spring.jcl;
    requires static spring.jdbc;
    requires static spring.test;
    requires static spring.web;

    exports io.github.lockboot;
    exports io.github.lockboot.autoconfigure;
    exports io.github.lockboot.autoconfigure.actuate;
    exports io.github.lockboot.fencing;
    exports io.github.lockboot.leader;
    exports io.github.lockboot.memory;
    exports io.github.lockboot.redis;
}
