package io.firstseen.jobs.files;

import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.SyncedFiles;
import io.firstseen.jobs.shared.BlobsInPlace;
import io.firstseen.operators.UserErrorException;
import io.firstseen.serializers.SnapshotRecord;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.FileSystemException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichFlatMapFunction;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.fs.FSDataOutputStream;
import org.apache.flink.core.fs.FileStatus;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.Path;
import org.apache.flink.core.fs.UnsupportedFileSystemSchemeException;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.util.Collector;
import org.jspecify.annotations.Nullable;

/**
 * Writes blobs into a directory of any file system that Flink supports, each under its digest, and
 * forwards only the manifests, which name the directory.
 *
 * <p>A blob is durable before its manifest is forwarded, and therefore before any consumer sees the
 * manifest. A restarted job may write a blob again, which creates the same file. A removed blob is
 * deleted when the next checkpoint after the checkpoint with its removal is complete: by then the
 * manifests before the removal are committed, and no recovery can publish a manifest that refers to
 * the blob. Before the first manifest after a start, the job fails if a blob in use is missing.
 */
public final class BlobDirectoryFunction extends RichFlatMapFunction<SnapshotRecord, SnapshotRecord>
    implements CheckpointedFunction, CheckpointListener {
  private static final long serialVersionUID = 1;

  private static final ListStateDescriptor<String> REMOVALS =
      new ListStateDescriptor<>("removals", Types.STRING);

  private static final Map<String, String> PLUGINS =
      Map.of(
          "s3", "flink-s3-fs-hadoop",
          "s3a", "flink-s3-fs-hadoop",
          "gs", "flink-gs-fs-hadoop",
          "abfs", "flink-azure-fs-hadoop",
          "abfss", "flink-azure-fs-hadoop");

  private final URI directory;

  private transient FileSystem files;
  private transient ListState<String> state;
  // Digests of blobs to delete, by the first checkpoint that contains them.
  private transient NavigableMap<Long, List<String>> checkpointed;
  private transient List<String> removals;
  // Digests of blobs received since the start; null after the check of the blobs in use.
  private transient @Nullable Set<String> written;

  /** Writes into a directory that is used only for the blobs of one set on one topic. */
  public BlobDirectoryFunction(URI directory) {
    this.directory = directory;
  }

  @Override
  public void initializeState(FunctionInitializationContext context) throws Exception {
    state = context.getOperatorStateStore().getListState(REMOVALS);
    checkpointed = new TreeMap<>();
    removals = new ArrayList<>();
    state.get().forEach(removals::add);
  }

  @Override
  public void open(OpenContext context) throws IOException {
    files = fileSystem(directory);
    if (isLocal()) {
      try {
        SyncedFiles.createDirectories(local());
      } catch (FileSystemException e) {
        throw UserErrorException.cannot("create the directory of --blob-dir,", local(), e);
      }
    } else {
      files.mkdirs(new Path(directory));
    }
    written = new HashSet<>();
  }

  private boolean isLocal() {
    return files.getUri().getScheme().equals("file");
  }

  private java.nio.file.Path local() {
    return java.nio.file.Path.of(new Path(directory).getPath());
  }

  private static FileSystem fileSystem(URI directory) throws IOException {
    try {
      return new Path(directory).getFileSystem();
    } catch (UnsupportedFileSystemSchemeException e) {
      String scheme = directory.getScheme();
      throw new UserErrorException(
          ("--blob-dir %s: Flink has no file system for %s: put %s into its own directory under "
                  + "plugins/ on every JobManager and TaskManager and restart them")
              .formatted(
                  directory, scheme, PLUGINS.getOrDefault(scheme, "the plugin that provides it")));
    }
  }

  @Override
  public void flatMap(SnapshotRecord record, Collector<SnapshotRecord> out) throws IOException {
    switch (record.kind()) {
      case BLOB -> {
        write(record.key(), record.value());
        // A shard that returns to an earlier set has the same base again.
        removals.removeIf(record.key()::equals);
        checkpointed.values().forEach(digests -> digests.removeIf(record.key()::equals));
        if (written != null) {
          written.add(record.key());
        }
      }
      case MANIFEST -> {
        Manifest manifest = Manifest.read(record.value()).withBlobs(directory);
        out.collect(new SnapshotRecord(record.kind(), record.key(), manifest.toBytes()));
      }
      case REMOVAL -> removals.add(record.key());
      case IN_USE -> requireBlobs(record);
    }
  }

  /** After a start from state, the blobs in use include blobs of an earlier run. */
  private void requireBlobs(SnapshotRecord inUse) throws IOException {
    if (written != null && !written.containsAll(inUse.digestsInUse())) {
      for (FileStatus file : files.listStatus(new Path(directory))) {
        written.add(file.getPath().getName());
      }
      BlobsInPlace.require(inUse, written, "in " + directory);
    }
    written = null;
  }

  /**
   * Keeps an existing file with the same bytes, because clients may have it open when a restarted
   * job writes it again. Object stores expose only complete files; on local file systems, the move
   * has the same effect. HDFS may expose a partial file after a failure; clients reject the file by
   * its digest.
   */
  private void write(String digest, byte[] bytes) throws IOException {
    Path file = new Path(new Path(directory), digest);
    if (holds(file, bytes)) {
      return;
    }
    if (isLocal()) {
      java.nio.file.Path temporary = local().resolve("." + digest + ".tmp");
      SyncedFiles.write(temporary, ByteBuffer.wrap(bytes));
      SyncedFiles.move(temporary, local().resolve(digest));
      return;
    }
    try (FSDataOutputStream stream = files.create(file, FileSystem.WriteMode.OVERWRITE)) {
      stream.write(bytes);
    }
  }

  private boolean holds(Path file, byte[] bytes) throws IOException {
    try {
      if (files.getFileStatus(file).getLen() != bytes.length) {
        return false;
      }
      try (FSDataInputStream stream = files.open(file)) {
        return Arrays.equals(stream.readNBytes(bytes.length), bytes);
      }
    } catch (FileNotFoundException e) {
      return false;
    }
  }

  @Override
  public void snapshotState(FunctionSnapshotContext context) throws Exception {
    checkpointed.put(context.getCheckpointId(), removals);
    removals = new ArrayList<>();
    List<String> all = new ArrayList<>();
    checkpointed.values().forEach(all::addAll);
    state.update(all);
  }

  @Override
  public void notifyCheckpointComplete(long checkpointId) throws IOException {
    Map<Long, List<String>> due = checkpointed.headMap(checkpointId, false);
    for (List<String> digests : due.values()) {
      for (String digest : digests) {
        files.delete(new Path(new Path(directory), digest), false);
      }
    }
    due.clear();
  }
}
