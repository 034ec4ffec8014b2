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
import jdk.jfr.consumer.RecordedStackTrace;
import jdk.jfr.consumer.RecordingFile;

/**
 * Many virtual threads on few names, in a JVM that has them. Says {@code counted N pinned N millis N}: how often a
 * thread counted under a lock, not atomically, and how often one was pinned to its carrier by anything but the loading
 * of a class: the JVM pins who waits for that, whatever the code does. A first round loads most classes.
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
            boolean warm = turns(registry, Math.min(threads, 1_000), new long[names]);
            recording.enable(PINNED).withoutThreshold();
            recording.start();
            long start = System.nanoTime();
            boolean ended = turns(registry, threads, counts);
            long millis = Figures.millisSince(start);
            recording.stop();
            recording.dump(file);
            long pinned = RecordingFile.readAllEvents(file).stream()
                    .filter(event -> event.getEventType().getName().equals(PINNED))
                    .filter(event -> event.getStackTrace() == null || !loadsClass(event.getStackTrace()))
                    .peek(event -> System.out.println(event.getStackTrace()))
                    .count();
            long counted = 0;
            for (long count : counts) {
                counted += count;
            }
            System.out.println("counted " + (warm && ended ? counted : -1) + " pinned " + pinned + " millis " + millis);
        } finally {
            Files.delete(file);
        }
        System.exit(0);
    }

    /** @return whether every thread had its turn in time */
    private static boolean turns(RedisLockRegistry registry, int threads, long[] counts) throws Exception {
        ExecutorService executor = virtualThreads();
        for (int i = 0; i < threads; i++) {
            int index = i % counts.length;
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
        return executor.awaitTermination(60, TimeUnit.SECONDS);
    }

    private static boolean loadsClass(RecordedStackTrace stack) {
        return stack.getFrames().stream()
                .anyMatch(frame -> frame.getMethod().getName().equals("loadClass"));
    }

    /** By reflection, since this is compiled for Java 17. */
    private static ExecutorService virtualThreads() throws ReflectiveOperationException {
        return (ExecutorService)
                Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
    }
}
