package io.github.lockboot.redis.engine;
import java.nio.file.*;
public final class TraceDump {
    public static void main(String[] a) throws Exception {
        java.util.List<Long> seeds = a[0].contains(",") ? java.util.Arrays.stream(a[0].split(",")).map(Long::valueOf).toList() : java.util.stream.LongStream.range(Long.parseLong(a[0]), Long.parseLong(a[1])).boxed().toList(); for (long seed : seeds) {
            Simulation s = Simulation.specified(seed);
            String fail = "";
            try { s.run(); } catch (AssertionError e) { fail = e.getMessage(); }
            Files.write(Path.of(a[2], seed + ".trace"), s.protocol());
            System.out.println(seed + " " + s.protocol().size() + " " + fail);
        }
    }
}
