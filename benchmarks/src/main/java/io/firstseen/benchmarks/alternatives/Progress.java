package io.firstseen.benchmarks.alternatives;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.firstseen.benchmarks.shared.Stages;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.EnumMap;
import java.util.Map;
import java.util.Timer;
import java.util.TimerTask;

/**
 * How far a run has come.
 *
 * @param keys that were found to be new
 * @param seconds since the first record
 * @param figures measured so far
 */
record Progress(long keys, double seconds, Map<Figure, Double> figures) {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String FILE = "progress.json";
  private static final int PERIOD_MILLIS = 200;

  static final Progress NONE = new Progress(0, 0, Map.of());

  /** What a run has written to its directory last. */
  static Progress read(Path directory) throws IOException {
    Path file = directory.resolve(FILE);
    return Files.exists(file) ? JSON.readValue(file.toFile(), Progress.class) : NONE;
  }

  /** Writes the progress to a file again and again, which tells what a JVM did before it died. */
  static final class Writer implements AutoCloseable {
    private final Timer clock = new Timer("progress", /* isDaemon= */ true);
    private final Map<Figure, Double> figures = new EnumMap<>(Figure.class);
    private final Path file;
    private final Stages stages;
    private final long start = System.nanoTime();

    /**
     * Begins now.
     *
     * @param stages the stages of the job that processes the keys
     */
    Writer(Path directory, Stages stages) {
      this.file = directory.resolve(FILE);
      this.stages = stages;
      clock.schedule(
          new TimerTask() {
            @Override
            public void run() {
              write();
            }
          },
          0,
          PERIOD_MILLIS);
    }

    synchronized void add(Figure figure, double value) {
      figures.put(figure, value);
      write();
    }

    synchronized Progress progress() {
      return new Progress(
          stages.recordsAtSinks(), (System.nanoTime() - start) / 1e9, Map.copyOf(figures));
    }

    private synchronized void write() {
      try {
        Path next = file.resolveSibling(FILE + ".next");
        JSON.writeValue(next.toFile(), progress());
        Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    @Override
    public void close() {
      clock.cancel();
    }
  }
}
