package io.github.lockboot.faults;

import java.io.IOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import com.sun.management.UnixOperatingSystemMXBean;
import io.netty.util.internal.PlatformDependent;

/** What a process needs while no lock is held. */
final class Footprint {

    /** One figure of it, and how much more of it may be in use late than early. */
    enum Figure {
        HEAP("heap after a garbage collection, KB", 10, 2_000),
        CLASSES("classes and compiled code, KB", 10, 4_000),
        /** Netty reserves it in chunks of 4 MB. */
        DIRECT("direct memory, KB", 10, 4_200),
        /** What the C library keeps of freed memory comes on top of what the JVM counts. */
        RESIDENT("resident memory, KB", 10, 24_000),
        /** A pool's or timer's thread ends when it has had nothing to do for 10 s, so there is one more or less. */
        THREADS("threads", 0, 2),
        /** The JVM opens jars and ends connections when it likes. */
        FILES("open files and sockets", 0, 2),
        /**
         * Beside Cluster they are {@linkplain Soak awaited}; there a process connects to a master when it first uses
         * one of its slots.
         */
        CONNECTIONS("connections of all processes at Redis", 0, 3),
        /** What is left of killed processes runs out within seconds. */
        KEYS("keys in Redis", 0, 3);

        private final String text;
        private final int percent;
        private final long atLeast;

        Figure(String text, int percent, long atLeast) {
            this.text = text;
            this.percent = percent;
            this.atLeast = atLeast;
        }

        /** How much it may have become, if it was this. */
        long most(long early) {
            return early + Math.max(early * percent / 100, atLeast);
        }

        @Override
        public String toString() {
            return text;
        }
    }

    /** The pool that one of the faults fills, and the threads that use locks. */
    private static final List<String> NOT_COUNTED = List.of("ForkJoinPool.commonPool", "Thread-");

    private Footprint() {}

    /** In one line: the figures in order up to those that only Redis knows, then the names of the threads. */
    static String ofThisProcess() {
        System.gc();
        System.gc(); // what the first one found to be finalized
        var memory = ManagementFactory.getMemoryMXBean();
        long direct = Math.max(0, PlatformDependent.usedDirectMemory())
                + ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                        .filter(pool -> pool.getName().equals("direct"))
                        .mapToLong(BufferPoolMXBean::getMemoryUsed)
                        .sum();
        Map<String, Long> threads = Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> NOT_COUNTED.stream().noneMatch(name::startsWith))
                .collect(Collectors.groupingBy(
                        name -> name.replaceAll("\\d+", "#").replace(' ', '-'), Collectors.counting()));
        return memory.getHeapMemoryUsage().getUsed() / 1024
                + " " + memory.getNonHeapMemoryUsage().getUsed() / 1024
                + " " + direct / 1024
                + " " + resident()
                + " " + threads.values().stream().mapToLong(Long::longValue).sum()
                + " " + openFiles()
                + " " + threads;
    }

    @SuppressWarnings("EnumOrdinal") // the words are in the order of the figures
    static Map<Figure, Long> parse(String line) {
        String[] words = line.split(" ");
        Map<Figure, Long> figures = new EnumMap<>(Figure.class);
        for (Figure figure : Figure.values()) {
            if (figure.compareTo(Figure.CONNECTIONS) < 0) {
                figures.put(figure, Long.parseLong(words[figure.ordinal()]));
            }
        }
        return figures;
    }

    /** 0 where there is no such file. */
    private static long resident() {
        try {
            return Files.readAllLines(Path.of("/proc/self/status")).stream()
                    .filter(line -> line.startsWith("VmRSS:"))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                    .sum();
        } catch (IOException notLinux) {
            return 0;
        }
    }

    private static long openFiles() {
        return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix
                ? unix.getOpenFileDescriptorCount()
                : 0;
    }
}
