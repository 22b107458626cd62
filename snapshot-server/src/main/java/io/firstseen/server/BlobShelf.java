package io.firstseen.server;

import io.firstseen.filters.snapshot.Base;
import io.firstseen.filters.snapshot.BaseList;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.Pack;
import io.firstseen.filters.snapshot.Section;
import io.firstseen.filters.snapshot.SectionWriter;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotHeader;
import io.firstseen.filters.snapshot.SnapshotSet;
import io.firstseen.server.http.HttpFailure;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Blobs that the service builds: a base for each shard of the current and the previous snapshot, so
 * that a client that read a manifest can still fetch its blobs after the next manifest. The bases
 * of a set are built when a client requests its manifest. This may take minutes; other requests for
 * such manifests wait for a moment and are then asked to retry later, because a waiting request
 * occupies a thread.
 */
final class BlobShelf {
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final long maxBytes;

  // Sets are built one after another.
  private final ReentrantLock making = new ReentrantLock();
  private volatile boolean isMaking;
  private volatile long makingSinceNanos;

  // In the order of publication, except that a set that was built is last. Guarded by this.
  private final Deque<Shelved> sets = new ArrayDeque<>();
  private @Nullable Shelved newest;
  private @Nullable Shelved inWork;

  private static final class Shelved {
    private final SnapshotSet set;
    private final Map<String, ByteBuffer> blobs = new ConcurrentHashMap<>();
    private final Map<Snapshot, BlobReference> bases =
        Collections.synchronizedMap(new IdentityHashMap<>());
    private @Nullable Manifest manifest;

    Shelved(SnapshotSet set) {
      this.set = set;
    }

    /** Its manifest is built again if it is requested again. */
    private void giveUpBut(Set<String> shared) {
      manifest = null;
      blobs.keySet().retainAll(shared);
      bases.values().removeIf(base -> !shared.contains(base.digest()));
    }

    private BlobReference put(byte[] blob) {
      BlobReference reference = BlobReference.to(blob);
      blobs.put(reference.digest(), ByteBuffer.wrap(blob).asReadOnlyBuffer());
      return reference;
    }
  }

  /**
   * Creates the blobs of one set.
   *
   * @param maxBytes the maximum total length of its blobs
   */
  BlobShelf(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  synchronized void add(SnapshotSet set) {
    if (shelved(set).isEmpty()) {
      Shelved before = newest;
      // Other sets would stay in memory although they are no longer active, and so would a set
      // without blobs.
      sets.removeIf(each -> each != inWork && (each != before || each.blobs.isEmpty()));
      newest = new Shelved(set);
      sets.addLast(newest);
    }
  }

  private Optional<Shelved> shelved(SnapshotSet set) {
    return sets.stream().filter(each -> each.set == set).findFirst();
  }

  interface Answering {
    SnapshotSet get() throws HttpFailure;
  }

  /**
   * Returns an unsigned manifest of the active set whose blobs are all available here.
   *
   * @throws HttpFailure if the bases of a set are still being built, or if the set is too large
   */
  Manifest ofBases(Answering answering) throws HttpFailure {
    lock();
    try {
      makingSinceNanos = System.nanoTime();
      isMaking = true;
      // Determined only now, because building another set may have taken long.
      SnapshotSet set = answering.get();
      Shelved shelved;
      List<Shelved> all;
      synchronized (this) {
        add(set);
        shelved = shelved(set).orElseThrow();
        if (shelved.manifest != null) {
          return shelved.manifest;
        }
        all = List.copyOf(sets);
        inWork = shelved;
      }
      Manifest manifest = null;
      try {
        requireRoom(shelved, all);
        manifest = make(shelved, all);
        return manifest;
      } finally {
        synchronized (this) {
          inWork = null;
          shelved.manifest = manifest;
          if (manifest != null && sets.remove(shelved)) {
            sets.addLast(shelved);
          }
        }
      }
    } finally {
      isMaking = false;
      making.unlock();
    }
  }

  private void lock() throws HttpFailure {
    try {
      long madeForNanos = isMaking ? System.nanoTime() - makingSinceNanos : 0;
      if (making.tryLock(PATIENCE_NANOS - madeForNanos, TimeUnit.NANOSECONDS)) {
        return;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    throw new HttpFailure(
        503,
        "the bases of a snapshot are being built, try again later",
        Map.of("retry-after", "5"));
  }

  /**
   * Rejects a set that is too large. Drops blobs that only other sets need if there is not enough
   * memory for both. A base has about as many bytes as its snapshot.
   */
  private void requireRoom(Shelved shelved, List<Shelved> all) throws HttpFailure {
    long bytes = 0;
    Set<String> shared = new HashSet<>();
    for (int shard = 0; shard < shelved.set.manifest().parameters().shards().count(); shard++) {
      Snapshot snapshot = shelved.set.snapshot(shard);
      if (snapshot != null) {
        bytes += snapshot.asByteBuffer().remaining();
        all.stream()
            .map(each -> each.bases.get(snapshot))
            .filter(Objects::nonNull)
            .forEach(base -> shared.add(base.digest()));
      }
    }
    if (bytes > maxBytes) {
      throw new HttpFailure(
          503,
          "the bases of set '%s' take %d bytes of memory, more than the %d that this service may use for them (half of its heap for all sets)"
              .formatted(shelved.set.manifest().setName(), bytes, maxBytes));
    }
    Map<String, Integer> ofOthers = new HashMap<>();
    all.forEach(each -> each.blobs.forEach((name, blob) -> ofOthers.put(name, blob.remaining())));
    ofOthers.keySet().removeAll(shared);
    if (bytes + ofOthers.values().stream().mapToLong(Integer::longValue).sum() > maxBytes) {
      all.forEach(each -> each.giveUpBut(shared));
    }
  }

  private static Manifest make(Shelved shelved, List<Shelved> all) {
    Manifest published = shelved.set.manifest();
    String setName = published.setName();
    List<BaseList.Shard> shards = new ArrayList<>();
    TreeMap<Integer, Section> nothing = new TreeMap<>();
    long baseBytes = 0;
    for (int shard = 0; shard < published.parameters().shards().count(); shard++) {
      Snapshot snapshot = shelved.set.snapshot(shard);
      if (snapshot == null) {
        shards.add(BaseList.Shard.NONE);
      } else {
        BlobReference base = base(shelved, all, setName, shard, snapshot);
        shards.add(new BaseList.Shard(base, List.of()));
        baseBytes += base.bytes();
        if (nothing.isEmpty()) {
          // A pack must have a section, and its result is already in the bases.
          SnapshotHeader header = snapshot.header();
          SectionWriter noChange = new SectionWriter(header.universe(), header.count());
          nothing.put(shard, noChange.finish(header.hashCount()));
        }
      }
    }
    if (nothing.isEmpty()) {
      return published.withBlobs(null);
    }
    BlobReference list = shelved.put(new BaseList(setName, published.sequence(), shards).toBytes());
    BlobReference pack =
        shelved.put(
            new Pack(
                    setName,
                    published.sequence(),
                    null,
                    0,
                    list,
                    list.bytes() + baseBytes,
                    0,
                    nothing)
                .toBytes());
    return Manifest.of(
            setName,
            published.sequence(),
            published.windowStartMillis(),
            published.windowEndMillis(),
            published.parameters(),
            published.count(),
            published.root(),
            pack,
            pack.bytes())
        .withTimes(published.publishedMillis(), published.expiresMillis())
        .withExtension(published.extension());
  }

  /** Returns the base of a shard. The base of an unchanged shard is reused from the other set. */
  private static BlobReference base(
      Shelved shelved, List<Shelved> all, String setName, int shard, Snapshot snapshot) {
    BlobReference base = null;
    for (Shelved other : all) {
      BlobReference known = other.bases.get(snapshot);
      if (known != null) {
        base = known;
        shelved.blobs.put(known.digest(), other.blobs.get(known.digest()));
      }
    }
    if (base == null) {
      base = shelved.put(Base.write(setName, shard, Section.whole(snapshot)));
    }
    shelved.bases.put(snapshot, base);
    return base;
  }

  synchronized Optional<ByteBuffer> find(String digest) {
    return sets.stream()
        .flatMap(shelved -> Optional.ofNullable(shelved.blobs.get(digest)).stream())
        .findFirst();
  }
}
