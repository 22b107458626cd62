package io.firstseen.consumer.internal;

import io.firstseen.filters.snapshot.BlobFrame;
import io.firstseen.filters.snapshot.BlobLoader;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.Sha256;
import io.firstseen.filters.snapshot.SnapshotDirectory;
import io.firstseen.filters.snapshot.SnapshotException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The snapshots of a set in a {@link SnapshotDirectory}. */
public final class DirectorySource implements SnapshotSource {
  private static final Logger LOG = LoggerFactory.getLogger(DirectorySource.class);
  private static final int MAX_CHECKED = 100_000;

  private final SnapshotDirectory directory;
  private final String setName;

  private final Map<String, Written> checkedBlobs = new ConcurrentHashMap<>();

  /** Distinguishes versions of a file. */
  private record Written(@Nullable Object fileKey, FileTime time, long bytes) {
    /** Returns the version of a file; empty if the file does not exist. */
    static Optional<Written> of(Path file) {
      try {
        BasicFileAttributes of = Files.readAttributes(file, BasicFileAttributes.class);
        return Optional.of(new Written(of.fileKey(), of.lastModifiedTime(), of.size()));
      } catch (IOException e) {
        return Optional.empty();
      }
    }
  }

  /** Creates a source for a directory, which does not have to exist yet. */
  public DirectorySource(Path path, String setName) {
    this.directory = new SnapshotDirectory(path);
    this.setName = setName;
  }

  @Override
  public String place() {
    return directory.path().toString();
  }

  @Override
  public List<Long> sequences() throws SnapshotException {
    return directory.sequences();
  }

  @Override
  public Object version(long sequence) throws IOException {
    return Files.getLastModifiedTime(directory.manifestFile(sequence));
  }

  @Override
  public byte[] manifest(long sequence) throws SnapshotException {
    return directory.manifestBytes(sequence);
  }

  @Override
  public BlobLoader blobs(Manifest manifest) {
    return blob -> directory.blob(manifest, blob);
  }

  @Override
  public Optional<ByteBuffer> find(Manifest manifest, String digest) {
    if (!Sha256.isHex(digest)) {
      return Optional.empty();
    }
    try {
      // Determined before the file is read, because another file may replace it in the meantime.
      Optional<Written> written = written(digest);
      return directory
          .find(manifest, digest)
          .filter(
              bytes -> BlobFrame.peek(bytes).filter(of -> of.setName().equals(setName)).isPresent())
          .filter(bytes -> hasDigest(bytes, digest, written));
    } catch (SnapshotException e) {
      LOG.debug("blob {} cannot be read", digest, e);
      return Optional.empty();
    }
  }

  private Optional<Written> written(String digest) {
    return Written.of(directory.path().resolve("blobs").resolve(digest));
  }

  /** Hashes a blob once, and again if its file was written since then. */
  private boolean hasDigest(ByteBuffer bytes, String digest, Optional<Written> before) {
    boolean isOneFile = before.isPresent() && before.equals(written(digest));
    if (isOneFile && before.get().equals(checkedBlobs.get(digest))) {
      return true;
    }
    boolean isRight = Sha256.hex(bytes).equals(digest);
    if (isRight && isOneFile) {
      if (checkedBlobs.size() >= MAX_CHECKED) {
        checkedBlobs.clear();
      }
      checkedBlobs.put(digest, before.get());
    }
    return isRight;
  }
}
