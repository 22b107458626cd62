package io.firstseen.filters.snapshot;

import static io.firstseen.filters.snapshot.SnapshotFormat.requireThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;

/** Reads the blobs of a manifest, and refuses blobs that contradict it. */
public final class ManifestBlobs {

  private ManifestBlobs() {}

  /**
   * Carries out a plan: loads its blobs one after the other, checks the length, digest and header
   * of each against the manifest, and applies the deltas.
   *
   * @param held the snapshot that the plan begins with if it {@link CatchUpPlan#changesHeld};
   *     returned if the plan is empty
   * @return the newest snapshot of the shard; empty if it never held a key
   * @throws MalformedSnapshotException if a blob contradicts the manifest
   * @throws UnsupportedSnapshotException if a newer reader is needed
   * @throws SnapshotException if the plan begins with another snapshot than the held one
   * @throws IOException if the loader throws it
   */
  public static Optional<Snapshot> catchUp(
      Manifest manifest, int shard, CatchUpPlan plan, Optional<Snapshot> held, BlobLoader loader)
      throws IOException {
    Optional<Snapshot> reached = held;
    for (BlobReference blob : plan.blobs()) {
      ByteBuffer bytes = loader.load(blob);
      if (!blob.isDelta()) {
        reached = Optional.of(snapshot(manifest, shard, blob, bytes));
        continue;
      }
      SnapshotDelta delta = delta(manifest, shard, blob, bytes);
      Snapshot parent =
          reached.orElseThrow(
              () -> new SnapshotException(name(shard, blob) + " is a delta, and nothing is held"));
      try {
        reached = Optional.of(delta.applyTo(parent));
      } catch (SnapshotException e) {
        throw e.at(name(shard, blob));
      }
    }
    return reached;
  }

  /**
   * Loads all blobs and checks everything that can be checked: each blob agrees with the manifest,
   * each base is the canonical form of its set, and each delta behind a base leads to the set of
   * its digest. A delta before a base has a parent that no blob provides; only its codes are
   * checked to be canonical.
   *
   * @throws MalformedSnapshotException if a check fails
   * @throws UnsupportedSnapshotException if a newer reader is needed
   * @throws IOException if the loader throws it
   */
  public static void verify(Manifest manifest, BlobLoader loader) throws IOException {
    for (ManifestShard shard : manifest.shards()) {
      if (shard.base() != null) {
        verify(manifest, shard, loader);
      }
    }
  }

  private static void verify(Manifest manifest, ManifestShard shard, BlobLoader loader)
      throws IOException {
    int number = shard.shard();
    Snapshot base = snapshot(manifest, number, shard.base(), loader.load(shard.base()));
    try {
      base.verify();
    } catch (MalformedSnapshotException e) {
      throw e.at(name(number, shard.base()));
    }
    List<BlobReference> behind = shard.deltasBehindBase();
    for (BlobReference before : shard.deltas().subList(0, shard.deltas().size() - behind.size())) {
      SnapshotDelta delta = delta(manifest, number, before, loader.load(before));
      try {
        delta.verify();
      } catch (MalformedSnapshotException e) {
        throw e.at(name(number, before));
      }
    }
    catchUp(manifest, number, new CatchUpPlan(behind), Optional.of(base), loader);
  }

  /**
   * The snapshot that a blob holds.
   *
   * @param bytes the blob, from the buffer's position to its limit
   * @throws MalformedSnapshotException if the blob contradicts the manifest
   * @throws UnsupportedSnapshotException if a newer reader is needed
   */
  public static Snapshot snapshot(
      Manifest manifest, int shard, BlobReference blob, ByteBuffer bytes) throws SnapshotException {
    requireBytes(shard, blob, bytes);
    Snapshot snapshot;
    try {
      snapshot = Snapshot.read(bytes);
    } catch (SnapshotException e) {
      throw e.at(name(shard, blob));
    }
    requireAgreement(manifest, shard, blob, snapshot.header());
    return snapshot;
  }

  /**
   * The delta that a blob holds.
   *
   * @param bytes the blob, from the buffer's position to its limit
   * @throws MalformedSnapshotException if the blob contradicts the manifest
   * @throws UnsupportedSnapshotException if a newer reader is needed
   */
  public static SnapshotDelta delta(
      Manifest manifest, int shard, BlobReference blob, ByteBuffer bytes) throws SnapshotException {
    requireBytes(shard, blob, bytes);
    SnapshotDelta delta;
    try {
      delta = SnapshotDelta.read(bytes);
    } catch (SnapshotException e) {
      throw e.at(name(shard, blob));
    }
    requireAgreement(manifest, shard, blob, delta.header());
    requireAgreement(
        name(shard, blob), "parent digest", blob.parentSetDigest(), delta.header().parentDigest());
    return delta;
  }

  /**
   * Refuses a snapshot that does not hold the newest set of a shard. It may come from other blobs
   * than the manifest names.
   */
  static void requireNewest(Manifest manifest, ManifestShard shard, SnapshotHeader header)
      throws MalformedSnapshotException {
    requireAgreement(manifest, shard.shard(), "the snapshot of shard " + shard.shard(), header);
    BlobReference newest = shard.newest();
    requireAgreement(name(shard.shard(), newest), "count", newest.count(), header.count());
    requireAgreement(
        name(shard.shard(), newest), "set digest", newest.setDigest(), header.setDigest());
  }

  private static void requireBytes(int shard, BlobReference blob, ByteBuffer bytes)
      throws MalformedSnapshotException {
    requireThat(
        bytes.remaining() == blob.bytes(),
        name(shard, blob) + " must have " + blob.bytes() + " bytes, got " + bytes.remaining());
    String digest = Sha256.hex(bytes);
    requireThat(
        digest.equals(blob.digest()),
        name(shard, blob) + " is damaged: its bytes have the digest " + digest);
  }

  private static void requireAgreement(
      Manifest manifest, int shard, BlobReference blob, SnapshotHeader header)
      throws MalformedSnapshotException {
    String name = name(shard, blob);
    requireAgreement(manifest, shard, name, header);
    requireAgreement(name, "sequence", blob.sequence(), header.parameters().sequence());
    requireAgreement(name, "count", blob.count(), header.count());
    requireAgreement(name, "set digest", blob.setDigest(), header.setDigest());
  }

  private static void requireAgreement(
      Manifest manifest, int shard, String name, SnapshotHeader header)
      throws MalformedSnapshotException {
    SnapshotParameters parameters = header.parameters();
    requireAgreement(name, "set name", manifest.setName(), parameters.setName());
    requireAgreement(name, "parameters", manifest.parameters(), parameters.set());
    requireAgreement(name, "shard", shard, parameters.shard());
  }

  private static String name(int shard, BlobReference blob) {
    return "blob " + blob.digest() + " of shard " + shard;
  }

  private static void requireAgreement(String name, String what, Object expected, Object found)
      throws MalformedSnapshotException {
    requireThat(
        expected.equals(found),
        name + " must have the " + what + " of the manifest, " + expected + ", got " + found);
  }
}
