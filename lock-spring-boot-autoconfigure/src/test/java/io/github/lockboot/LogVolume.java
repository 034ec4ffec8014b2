package io.github.lockboot;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.PatternLayout;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.Appender;
import ch.qos.logback.core.UnsynchronizedAppenderBase;
import org.slf4j.LoggerFactory;

/**
 * Counts what everything in the process logs, with traces, as an application of Spring Boot writes it: from INFO on.
 */
public final class LogVolume implements AutoCloseable {

    private static final int MOST_EVENTS = 10_000;

    private final Logger root = (Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME);
    private final Level before = root.getLevel();
    private final List<Appender<ILoggingEvent>> others = new ArrayList<>();
    private final List<ILoggingEvent> events = new ArrayList<>();
    private final AtomicLong bytes = new AtomicLong();
    private final Map<String, Long> byLogger = new ConcurrentHashMap<>();

    public LogVolume() {
        PatternLayout layout = new PatternLayout();
        layout.setContext(root.getLoggerContext());
        layout.setPattern("%d{HH:mm:ss.SSS} %-5level [%thread] %logger{36} : %msg%n%ex");
        layout.start();
        Appender<ILoggingEvent> counting = new UnsynchronizedAppenderBase<>() {

            @Override
            protected void append(ILoggingEvent event) {
                long length = layout.doLayout(event).getBytes(StandardCharsets.UTF_8).length;
                bytes.addAndGet(length);
                byLogger.merge(event.getLoggerName(), length, Long::sum);
                synchronized (events) {
                    if (events.size() < MOST_EVENTS) {
                        events.add(event);
                    }
                }
            }
        };
        counting.setContext(root.getLoggerContext());
        counting.start();
        for (Iterator<Appender<ILoggingEvent>> all = root.iteratorForAppenders(); all.hasNext(); ) {
            others.add(all.next());
        }
        others.forEach(root::detachAppender);
        root.addAppender(counting);
        root.setLevel(Level.INFO);
    }

    public long bytes() {
        return bytes.get();
    }

    /** The lines of one logger, as {@code LEVEL message}. */
    public List<String> lines(String logger) {
        synchronized (events) {
            return events.stream()
                    .filter(event -> event.getLoggerName().equals(logger))
                    .map(event -> event.getLevel() + " " + event.getFormattedMessage())
                    .toList();
        }
    }

    /** Of the loggers with this name and below. */
    public long bytesOf(String logger) {
        return byLogger.entrySet().stream()
                .filter(each -> each.getKey().startsWith(logger))
                .mapToLong(Map.Entry::getValue)
                .sum();
    }

    /** Of all loggers, from the level ERROR on. */
    public List<String> errors() {
        synchronized (events) {
            return events.stream()
                    .filter(event -> event.getLevel() == Level.ERROR)
                    .map(event -> event.getLoggerName() + ": " + event.getFormattedMessage())
                    .toList();
        }
    }

    /** The first lines of all loggers. */
    @Override
    public String toString() {
        synchronized (events) {
            StringBuilder text = new StringBuilder(bytes + " bytes, " + byLogger + ':');
            events.stream()
                    .limit(40)
                    .forEach(event -> text.append('\n')
                            .append(event.getLevel())
                            .append(' ')
                            .append(event.getLoggerName())
                            .append(": ")
                            .append(event.getFormattedMessage()));
            return text.toString();
        }
    }

    @Override
    public void close() {
        root.detachAndStopAllAppenders();
        others.forEach(root::addAppender);
        root.setLevel(before);
    }
}
