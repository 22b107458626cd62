package io.firstseen.filters.snapshot;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Changes to directories that survive a power failure: the names in a directory are durable only
 * after the directory itself is synced. On systems on which a directory cannot be opened, such as
 * Windows, syncing is skipped.
 */
public final class SyncedFiles {

  private SyncedFiles() {}

  /** Writes a file, replacing its content, and syncs it. Does not follow a symbolic link. */
  public static void write(Path file, ByteBuffer bytes) throws IOException {
    try (FileChannel channel =
        FileChannel.open(
            file,
            StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING,
            StandardOpenOption.WRITE,
            LinkOption.NOFOLLOW_LINKS)) {
      writeAll(channel, bytes);
      channel.force(true);
    }
  }

  /** Writes the remaining bytes of a buffer at the position of a channel. */
  public static void writeAll(FileChannel channel, ByteBuffer bytes) throws IOException {
    ByteBuffer left = bytes.duplicate();
    while (left.hasRemaining()) {
      channel.write(left);
    }
  }

  /** Deletes a file that could not be written completely, because it takes space on a full disk. */
  public static void delete(Path partial, IOException failure) {
    try {
      Files.deleteIfExists(partial);
    } catch (IOException e) {
      failure.addSuppressed(e);
    }
  }

  /**
   * Moves a file atomically, replacing an existing file of the new name, and syncs the directory of
   * the new name. The file's content must already be synced.
   */
  public static void move(Path from, Path to) throws IOException {
    Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
    syncDirectory(to.toAbsolutePath().getParent());
  }

  /**
   * Creates a directory and its missing parents, and syncs the directories in which they are
   * created.
   */
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

  /** Makes the names in a directory durable. Does nothing for null, the parent of a root. */
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
