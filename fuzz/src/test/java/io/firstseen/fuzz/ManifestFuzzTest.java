package io.firstseen.fuzz;

import static io.firstseen.fuzz.Fail.require;
import static io.firstseen.fuzz.Fail.requireSame;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.firstseen.filters.snapshot.MalformedSnapshotException;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.filters.snapshot.UnsupportedSnapshotException;

/**
 * Manifests are either rejected with an exception that names the problem, or written back
 * unchanged.
 */
class ManifestFuzzTest {
  private static final long FACTOR = 64;

  @FuzzTest
  void manifest(byte[] input) throws Exception {
    Bounds.hold(input.length, FACTOR, () -> read(input));
    byte[] mended = Checksums.mendManifest(input);
    Bounds.hold(input.length, FACTOR, () -> read(mended));
  }

  private static void read(byte[] bytes) throws SnapshotException {
    Manifest manifest;
    try {
      manifest = Manifest.read(bytes);
    } catch (MalformedSnapshotException | UnsupportedSnapshotException e) {
      return;
    }
    requireSame("a manifest", manifest.toBytes(), bytes);
    require(manifest.hasContentOf(Manifest.read(bytes)), "a manifest must have its own content");
    if (manifest.blobs() != null) {
      manifest.blobUri(manifest.root());
    }
  }
}
