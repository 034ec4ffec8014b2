package io.github.lockboot.redis.fleet;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

import io.github.lockboot.Figures;
import io.github.lockboot.NamedLock;
import io.github.lockboot.redis.RedisLockRegistry;
import io.github.lockboot.redis.TestRegistries;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;

/**
 * Many virtual threads on few names, in a JVM that has them. Says {@code counted N pinned N millis N}: how often a thread counted
 * under a lock, not atomically, and how often one was pinned to its carrier.
 */
public final class VirtualThreadLoad {

    private static final String PINNED = "jdk.VirtualThreadPinned";

    private VirtualThreadLoad() {}

    /** @param args host, port, threads, names */
    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[2]);
        int names = Integer.parseInt(args[3]);
        long[] counts = new long[names];
        Path file = Files.createTempFile("pinned", ".jfr");
        try (TestRegistries registries = TestRegistries.at(args[0], Integer.parseInt(args[1]));
                Recording recording = new Recording()) {
            RedisLockRegistry registry = registries.registry();
            while (!Fleet.canLock(registry, "connecting")) {
                Thread.onSpinWait();
            }
            recording.enable(PINNED).withoutThreshold();
            recording.start();
            long start = System.nanoTime();
            ExecutorService executor = virtualThreads();
            for (int i = 0; i < threads; i++) {
                int index = i % names;
                executor.execute(() -> {
                    NamedLock lock = registry.get("name-" + index);
                    lock.lock();
                    try {
                        counts[index]++;
                    } finally {
                        lock.unlock();
                    }
                });
            }
            executor.shutdown();
            boolean ended = executor.awaitTermination(60, TimeUnit.SECONDS);
            long millis = Figures.millisSince(start);
            recording.stop();
            recording.dump(file);
            long pinned = RecordingFile.readAllEvents(file).stream()
                    .filter(event -> event.getEventType().getName().equals(PINNED))
                    .peek(event -> System.out.println(event.getStackTrace()))
                    .count();
            long counted = 0;
            for (long count : counts) {
                counted += count;
            }
            System.out.println("counted " + (ended ? counted : -1) + " pinned " + pinned + " millis " + millis);
        } finally {
            Files.delete(file);
        }
        System.exit(0);
    }

    /** By reflection, since this is compiled for Java 17. */
    private static ExecutorService virtualThreads() throws ReflectiveOperationException {
        return (ExecutorService)
                Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
    }
}
