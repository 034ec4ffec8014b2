package io.github.lockboot.redis.faults;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.LongBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Counters in a file that processes map; counting is not atomic, so two who count at once lose a count. */
final class Counters {

    private final LongBuffer counts;

    private Counters(LongBuffer counts) {
        this.counts = counts;
    }

    static Counters in(Path file, int size) {
        try (FileChannel channel =
                FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            return new Counters(channel.map(FileChannel.MapMode.READ_WRITE, 0, (long) size * Long.BYTES)
                    .asLongBuffer());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    long get(int index) {
        return counts.get(index);
    }

    /** Reads, gives others every chance to get between, and writes. */
    void countSlowly(int index) {
        long before = counts.get(index);
        Thread.yield();
        counts.put(index, before + 1);
    }
}
