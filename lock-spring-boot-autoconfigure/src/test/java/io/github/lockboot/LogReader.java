package io.github.lockboot;

import java.util.ArrayList;
import java.util.List;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.core.read.ListAppender;
import org.slf4j.LoggerFactory;

/** All that the library, or another one, logs while it is open, down to the finest level. */
public final class LogReader implements AutoCloseable {

    private final Logger logger;
    private final Level before;
    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();

    public LogReader() {
        this("io.github.lockboot");
    }

    /** @param name of the logger, and the beginning of the names of others */
    public LogReader(String name) {
        logger = (Logger) LoggerFactory.getLogger(name);
        before = logger.getLevel();
        logger.setLevel(Level.TRACE);
        logger.setAdditive(false);
        lines.start();
        logger.addAppender(lines);
    }

    /** The lines, and the messages of the failures that came with them. */
    public List<String> messages() {
        List<String> messages = new ArrayList<>();
        for (ILoggingEvent line : List.copyOf(lines.list)) {
            messages.add(line.getFormattedMessage());
            for (IThrowableProxy t = line.getThrowableProxy(); t != null; t = t.getCause()) {
                messages.add(String.valueOf(t.getMessage()));
            }
        }
        return messages;
    }

    /** Lines that say that something is wrong. */
    public List<String> errors() {
        return ofLevel(Level.ERROR);
    }

    public List<String> warnings() {
        return ofLevel(Level.WARN);
    }

    private List<String> ofLevel(Level level) {
        return List.copyOf(lines.list).stream()
                .filter(line -> line.getLevel() == level)
                .map(ILoggingEvent::getFormattedMessage)
                .toList();
    }

    @Override
    public void close() {
        logger.detachAppender(lines);
        logger.setLevel(before);
        logger.setAdditive(true);
    }
}
