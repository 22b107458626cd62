package io.firstseen.filters.snapshot;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Changes of directories that outlast a power cut: the names in a directory are durable only once
 * the directory itself is synced. Where a directory cannot be opened, as on Windows, that is left
 * out.
 */
public final class SyncedFiles {

  private SyncedFiles() {}

  /**
   * Moves a file in one step, in place of any of the new name, and syncs the directory of the new
   * name. The file's content must be synced already.
   */
  public static void move(Path from, Path to) throws IOException {
    Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
    syncDirectory(to.toAbsolutePath().getParent());
  }

  /** Creates a directory and those above it that are missing, and syncs where they appear. */
  public static void createDirectories(Path directory) throws IOException {
    List<Path> missing = new ArrayList<>();
    for (Path each = directory.toAbsolutePath();
        each != null && !Files.exists(each);
        each = each.getParent()) {
      missing.add(each);
    }
    Files.createDirectories(directory);
    for (Path created : missing) {
      syncDirectory(created.getParent());
    }
  }

  /** Makes the names in a directory durable. Null, the parent of a root, has none. */
  public static void syncDirectory(@Nullable Path directory) throws IOException {
    if (directory == null) {
      return;
    }
    FileChannel channel;
    try {
      channel = FileChannel.open(directory, StandardOpenOption.READ);
    } catch (IOException e) {
      return;
    }
    try (channel) {
      channel.force(true);
    }
  }
}
