package io.firstseen.jobs.files;

import io.firstseen.filters.snapshot.SnapshotDirectory;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.jobs.shared.JobSink;
import io.firstseen.operators.UserErrorException;
import io.firstseen.serializers.SnapshotRecord;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.api.connector.sink2.WriterInitContext;

/**
 * Snapshots as a {@link SnapshotDirectory}. Files appear only when complete, and a manifest appears
 * after its blobs. A restarted job may write a file again, with the same content.
 */
public final class SnapshotFiles implements JobSink.OfOneTask<SnapshotRecord> {
  private static final long serialVersionUID = 1;

  private final String directory;

  /**
   * Checks that the directory can be written and has no snapshots. The sequence of new snapshots
   * starts from the beginning, so a client that follows the directory would reject them as older.
   *
   * @param directory created if absent
   * @throws UserErrorException if the directory cannot be written, or has snapshots
   */
  public SnapshotFiles(Path directory) {
    try {
      Files.createDirectories(directory);
    } catch (FileAlreadyExistsException e) {
      throw new UserErrorException(directory + " is a file, not a directory");
    } catch (IOException e) {
      throw UserErrorException.cannot("make", directory, e);
    }
    if (!Files.isWritable(directory)) {
      throw new UserErrorException("cannot write " + directory + ": permission denied");
    }
    try {
      if (!new SnapshotDirectory(directory).sequences().isEmpty()) {
        throw new UserErrorException(
            directory
                + " already has snapshots, and clients may follow it; write to a new directory, "
                + "or remove this directory");
      }
    } catch (SnapshotException e) {
      throw new UserErrorException(e.getMessage());
    }
    this.directory = directory.toAbsolutePath().toString();
  }

  @Override
  public SinkWriter<SnapshotRecord> createWriter(WriterInitContext context) {
    if (context.getTaskInfo().getNumberOfParallelSubtasks() != 1) {
      throw new IllegalStateException("a snapshot directory must be written by one task");
    }
    SnapshotDirectory target = new SnapshotDirectory(Path.of(directory));
    try {
      Closeable lock = target.lock();
      if (context.getRestoredCheckpointId().isEmpty()) {
        // A failed attempt of this job wrote this file.
        target.clear();
      }
      return new Writer(target, lock);
    } catch (SnapshotException e) {
      throw new UserErrorException(e.getMessage());
    }
  }

  private record Writer(SnapshotDirectory directory, Closeable lock)
      implements SinkWriter<SnapshotRecord> {
    @Override
    public void write(SnapshotRecord record, Context context) {
      try {
        switch (record.kind()) {
          case BLOB -> directory.writeBlob(record.key(), record.value());
          case MANIFEST -> directory.writeManifest(record.value());
          case REMOVAL, IN_USE -> {
            // Ignored: a directory keeps all manifests and therefore all blobs.
          }
        }
      } catch (SnapshotException e) {
        throw new UserErrorException(e.getMessage());
      }
    }

    @Override
    public void flush(boolean endOfInput) {
      // Every file is complete after its write.
    }

    @Override
    public void close() throws IOException {
      lock.close();
    }
  }
}
