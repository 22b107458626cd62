package io.firstseen.cli.snapshot;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstseen.cli.shared.Fields;
import io.firstseen.cli.shared.Json;
import io.firstseen.cli.shared.SnapshotSummary;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.InvalidKeyException;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.BaseList;
import io.firstseen.filters.snapshot.BlobLoader;
import io.firstseen.filters.snapshot.MalformedSnapshotException;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.ManifestBlobs;
import io.firstseen.filters.snapshot.MissingBlobsException;
import io.firstseen.filters.snapshot.NearTexts;
import io.firstseen.filters.snapshot.Pack;
import io.firstseen.filters.snapshot.Section;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotDirectory;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.filters.snapshot.SnapshotParameters;
import io.firstseen.filters.snapshot.SnapshotSet;
import io.firstseen.filters.snapshot.UrlList;
import io.firstseen.operators.UserErrorException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.apache.flink.util.function.SupplierWithException;
import org.jspecify.annotations.Nullable;

/**
 * The subject of a snapshot verb: one snapshot, or all shards of a directory's manifest.
 *
 * @param snapshot null for a directory
 * @param set null for one snapshot
 */
record OpenedSnapshots(Path path, @Nullable Snapshot snapshot, @Nullable SnapshotSet set) {

  /** Reads a manifest or a blob; empty if the path is a directory or another file. */
  static Optional<FileSummary> file(Path path, @Nullable Long sequence) throws SnapshotException {
    requireLocal(path);
    return Files.isDirectory(path) || sequence != null ? Optional.empty() : FileSummary.of(path);
  }

  /** Opens a snapshot, or a directory by its manifest; a missing blob counts as damage. */
  static OpenedSnapshots open(Path path, @Nullable Long sequence) throws IOException {
    requireLocal(path);
    if (!Files.isDirectory(path)) {
      if (sequence != null) {
        throw new UserErrorException(
            "--sequence chooses among the manifests of a directory, which " + path + " is not");
      }
      Optional<FileSummary> other = FileSummary.of(path);
      if (other.isPresent()) {
        throw new UserErrorException(
            path + " must be a snapshot or a directory, got " + other.get().sentence());
      }
      return new OpenedSnapshots(path, Snapshot.read(path), null);
    }
    SnapshotDirectory directory = new SnapshotDirectory(path);
    Manifest manifest = sequence == null ? directory.latest() : directory.manifest(sequence);
    try {
      return new OpenedSnapshots(path, null, SnapshotSet.open(manifest, loader(path, manifest)));
    } catch (MissingBlobsException e) {
      throw missing(path, manifest, e);
    }
  }

  static void requireSame(String what, Path path, Object value, Path other, Object ofOther) {
    if (!value.equals(ofOther)) {
      throw new UserErrorException(
          "%s and %s must have the same %s, %s is not %s"
              .formatted(path, other, what, value, ofOther));
    }
  }

  private static void requireLocal(Path path) {
    // A path has single slashes.
    if (path.toString().matches("https?:/.*") && !Files.exists(path)) {
      throw new UserErrorException(
          "a snapshot must be a file or a directory, got the URL %s: to query a set on a web server, run 'firstseen serve --directory URL'"
              .formatted(path.toString().replaceFirst(":/+", "://")));
    }
  }

  private static BlobLoader loader(Path path, Manifest manifest) {
    SnapshotDirectory directory = new SnapshotDirectory(path);
    return reference -> directory.blob(manifest, reference);
  }

  private static MalformedSnapshotException missing(
      Path path, Manifest manifest, MissingBlobsException e) {
    Object place = manifest.blobs() == null ? path : manifest.blobs();
    return new MalformedSnapshotException(place + ": " + e.getMessage(), e);
  }

  /** The figures, the fields of the manifest, and the pack chain if the set ever held a key. */
  Fields allFields() throws IOException {
    Fields fields = summary().fields();
    if (set != null) {
      FileSummary.add(fields, set.manifest());
      if (set.manifest().pack() != null) {
        fields.section("chain", "chain", new Fields().putAll(chain()));
      }
    }
    return fields;
  }

  /** The newest pack of a set and its list of bases, shard by shard. */
  private ObjectNode chain() throws IOException {
    ManifestBlobs blobs = new ManifestBlobs(set.manifest(), loader(path, set.manifest()));
    Pack newest = blobs.newestPack();
    BaseList list = blobs.baseList(newest);
    ObjectNode chain =
        Json.object()
            .put("packSequence", newest.sequence())
            .put("keptPackBytes", Math.max(0, set.manifest().packBytes() - newest.keptFrom()));
    chain.set("list", FileSummary.json(newest.bases()).put("sequence", list.sequence()));
    // The bytes that a new client fetches.
    chain.put(
        "bytesFromNothing",
        newest.basesBytes() + newest.packsSince() + set.manifest().pack().bytes());
    ArrayNode ofShards = chain.putArray("ofShards");
    for (int shard = 0; shard < list.shards().size(); shard++) {
      Snapshot held = set.snapshot(shard);
      BaseList.Shard listed = list.shards().get(shard);
      ObjectNode json = ofShards.addObject().put("shard", shard);
      json.put("keys", held == null ? 0 : held.header().hashCount());
      if (held != null) {
        json.put("setDigest", held.header().setDigest());
      }
      if (listed.base() != null) {
        json.set("base", FileSummary.json(listed.base()));
      }
      json.put("sections", listed.sections().size())
          .put("sectionBytes", listed.sections().stream().mapToLong(Section::length).sum());
      Section change = newest.sections().get(shard);
      if (change != null) {
        json.set("newest", FileSummary.json(change));
      }
    }
    return chain;
  }

  String setName() {
    return snapshot != null ? snapshot.header().parameters().setName() : set.manifest().setName();
  }

  SnapshotSummary summary() {
    return snapshot != null ? SnapshotSummary.of(snapshot) : SnapshotSummary.of(set);
  }

  /** The parameters that turn a key into the hash that the snapshots hold. */
  SetParameters parameters() {
    return snapshot != null ? snapshot.header().parameters().set() : set.manifest().parameters();
  }

  /** Whether the set contains the key. Also throws the exceptions of {@link SetParameters#hash}. */
  boolean mightContain(byte @Nullable [] scope, byte[] key, KeyHash keyHash)
      throws InvalidKeyException, SnapshotException {
    long hash = parameters().hash(scope, key, keyHash);
    if (set != null) {
      return set.mightContain(hash);
    }
    SnapshotParameters own = snapshot.header().parameters();
    int shard = own.set().shards().shardOf(hash);
    if (shard != own.shard()) {
      throw new UserErrorException(
          String.format(
              "%s contains shard %d of %d, not the key's shard, %d; query the directory with all "
                  + "shards",
              path, own.shard(), own.set().shards().count(), shard));
    }
    return snapshot.mightContain(hash);
  }

  UrlList urlList(KeyHash keyHash) {
    if (!UrlList.isList(parameters())) {
      throw new UserErrorException(
          "%s has the canonicaliser %s and cannot be matched; build it with --canonicaliser %s, or with --near"
              .formatted(
                  path, parameters().canonicaliser().id(), Canonicaliser.URL_EXPRESSION.id()));
    }
    return ofAllShards(
        () -> snapshot != null ? UrlList.of(snapshot, keyHash) : UrlList.of(set, keyHash));
  }

  NearTexts nearTexts(KeyHash keyHash) {
    return ofAllShards(
        () -> snapshot != null ? NearTexts.of(snapshot, keyHash) : NearTexts.of(set, keyHash));
  }

  private <T> T ofAllShards(SupplierWithException<T, SnapshotException> opener) {
    int shards = parameters().shards().count();
    if (snapshot != null && shards > 1) {
      throw new UserErrorException(
          "%s contains shard %d of %d; match the directory with all shards"
              .formatted(path, snapshot.header().parameters().shard(), shards));
    }
    try {
      return opener.get();
    } catch (SnapshotException e) {
      throw new UserErrorException(path + ": " + e.getMessage());
    }
  }

  /** Decodes everything and checks every blob that the manifest names. */
  void verify() throws IOException {
    if (snapshot != null) {
      snapshot.verify();
      return;
    }
    try {
      ManifestBlobs.verify(set.manifest(), loader(path, set.manifest()));
    } catch (MissingBlobsException e) {
      throw missing(path, set.manifest(), e);
    }
  }
}
