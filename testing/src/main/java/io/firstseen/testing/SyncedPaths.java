package io.firstseen.testing;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;

/** Tells which files and directories this process syncs, by the events of its JVM. */
public final class SyncedPaths {
  private static final String SYNC = "jdk.FileForce";

  private SyncedPaths() {}

  /** Some work. */
  @FunctionalInterface
  public interface Action {
    /** Does it. */
    void run() throws Exception;
  }

  /** The paths that an action syncs, in the order of time. */
  public static List<Path> during(Action action) throws Exception {
    Path file = Files.createTempFile("synced", ".jfr");
    try (Recording recording = new Recording()) {
      recording.enable(SYNC).withoutThreshold();
      recording.start();
      action.run();
      recording.stop();
      recording.dump(file);
      return RecordingFile.readAllEvents(file).stream()
          .filter(event -> event.getEventType().getName().equals(SYNC))
          .sorted(Comparator.comparing(RecordedEvent::getStartTime))
          .map(event -> Path.of(event.getString("path")))
          .toList();
    } finally {
      Files.delete(file);
    }
  }
}
