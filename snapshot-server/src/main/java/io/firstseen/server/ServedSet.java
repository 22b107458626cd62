package io.firstseen.server;

import io.firstseen.consumer.ClientState;
import io.firstseen.consumer.ClientStatus;
import io.firstseen.consumer.FollowedSet;
import io.firstseen.consumer.SnapshotListener;
import io.firstseen.filters.key.InvalidKeyException;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.filters.snapshot.SnapshotHeader;
import io.firstseen.filters.snapshot.SnapshotSet;
import io.firstseen.filters.snapshot.UrlList;
import io.firstseen.server.http.HttpFailure;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** A set in the service: the current snapshot, whether it may be queried, and earlier snapshots. */
final class ServedSet implements SnapshotListener, AutoCloseable {
  private static final int MAX_REMEMBERED = 120;
  private static final ClientStatus EMPTY =
      new ClientStatus(ClientState.EMPTY, Optional.empty(), 0, Optional.empty());

  private static final FollowedSet NOTHING =
      new FollowedSet() {
        @Override
        public ClientStatus status() {
          return EMPTY;
        }

        @Override
        public void close() {
          // Nothing to close.
        }
      };

  private final String name;
  private final KeyHash keyHash;
  private final boolean allow;
  private final boolean refuseStale;
  private final String firstSnapshot;
  private final ServiceLog log;
  private volatile FollowedSet followed = NOTHING;
  private final BlobShelf shelf;
  private final Deque<Manifest> published = new ArrayDeque<>();
  private final AtomicLong snapshots = new AtomicLong();
  private final AtomicLong refusals = new AtomicLong();
  private volatile boolean reachable = true;
  private volatile Figures figures;

  /**
   * The size and the false-positive rate of a set, for the status and the metrics.
   *
   * @param set not kept in memory
   * @param bytes the total length of its shards
   * @param falsePositiveRate the probability that a key outside the set is reported as present
   */
  record Figures(WeakReference<SnapshotSet> set, long bytes, double falsePositiveRate) {

    private static Figures of(SnapshotSet set) {
      int shards = set.manifest().parameters().shards().count();
      long bytes = 0;
      double rates = 0;
      for (int shard = 0; shard < shards; shard++) {
        Snapshot snapshot = set.snapshot(shard);
        if (snapshot != null) {
          SnapshotHeader header = snapshot.header();
          bytes += snapshot.asByteBuffer().remaining();
          rates += header.universe().rateOf(header.count());
        }
      }
      // A key outside the set falls into each shard with equal probability.
      return new Figures(new WeakReference<>(set), bytes, rates / shards);
    }
  }

  ServedSet(
      SetSource source, boolean allow, ServerOptions options, long basesBytes, ServiceLog log) {
    this.shelf = new BlobShelf(basesBytes);
    this.name = source.setName();
    this.keyHash = source.keyHash();
    this.allow = allow;
    this.refuseStale = options.refuseStale();
    this.firstSnapshot = source.firstSnapshot(options.firstSnapshotWithin());
    this.log = log;
  }

  void answerBy(FollowedSet follower) {
    followed = follower;
  }

  @Override
  public void onSnapshot(Manifest manifest) {
    snapshots.incrementAndGet();
    followed.status().snapshot().ifPresent(shelf::add);
    synchronized (published) {
      // A snapshot that was published again replaces the first one.
      published.removeIf(each -> each.hasContentOf(manifest));
      published.addLast(manifest);
      while (published.size() > MAX_REMEMBERED) {
        published.removeFirst();
      }
    }
    log.onSnapshot(name, manifest);
  }

  @Override
  public void onRefused(String reason) {
    refusals.incrementAndGet();
    log.onTrouble(name, reason);
  }

  @Override
  public void onNotice(String sentence) {
    log.onTrouble(name, sentence);
  }

  @Override
  public void onUnreachable(String reason) {
    reachable = false;
    log.onTrouble(name, reason);
  }

  @Override
  public void onReachable() {
    reachable = true;
    log.onReachable(name);
  }

  String name() {
    return name;
  }

  KeyHash keyHash() {
    return keyHash;
  }

  /** Returns whether this is an allow set, which overrides lists. */
  boolean isAllowSet() {
    return allow;
  }

  ClientStatus status() {
    return followed.status();
  }

  Optional<String> unusable() {
    return followed.unusable();
  }

  /** Returns the number of snapshots that became active since the start. */
  long snapshots() {
    return snapshots.get();
  }

  /** Returns the number of rejected manifests and blobs since the start. */
  long refusals() {
    return refusals.get();
  }

  /** Returns whether the last attempt to read the topic or directory succeeded. */
  boolean isReachable() {
    return reachable;
  }

  /**
   * Returns the active set.
   *
   * @throws HttpFailure with 503 if no snapshot is available
   */
  SnapshotSet answering() throws HttpFailure {
    return answering(followed.status());
  }

  /** The same, of a status that was read before. */
  SnapshotSet answering(ClientStatus status) throws HttpFailure {
    Optional<String> reason = whyNot(status);
    if (reason.isPresent()) {
      throw new HttpFailure(503, reason.get());
    }
    return status.snapshot().orElseThrow();
  }

  /** Returns why a snapshot cannot be queried for URLs; empty if it can. */
  Optional<String> whyNoList(SnapshotSet set) {
    try {
      UrlList.requireUrlExpressions(name, set.manifest().parameters());
      return Optional.empty();
    } catch (IllegalArgumentException e) {
      return Optional.of(e.getMessage());
    }
  }

  long hash(SnapshotSet set, byte @Nullable [] scope, byte[] key) throws InvalidKeyException {
    try {
      return set.manifest().parameters().hash(scope, key, keyHash);
    } catch (SnapshotException e) {
      throw new IllegalStateException("a manifest of another hash key became active", e);
    }
  }

  UrlList list(SnapshotSet set) {
    try {
      return UrlList.of(set, keyHash);
    } catch (SnapshotException e) {
      throw new IllegalStateException("a manifest of another hash key became active", e);
    }
  }

  /** Returns why the set cannot be queried; empty if it can. */
  Optional<String> whyNot(ClientStatus status) {
    if (status.snapshot().isEmpty()) {
      return Optional.of(
          "set '%s' has no snapshot yet: %s"
              .formatted(
                  name, status.trouble().or(() -> firstSnapshot(status)).orElse("one is loading")));
    }
    if (refuseStale && status.state() == ClientState.STALE) {
      Manifest manifest = status.snapshot().orElseThrow().manifest();
      Instant published = Instant.ofEpochMilli(status.publishedMillis());
      return Optional.of(
          "set '%s' is stale: sequence %d was published %s ago%s%s"
              .formatted(
                  name,
                  manifest.sequence(),
                  age(Duration.between(published, Instant.now())),
                  manifest.expiresMillis() == null
                      ? ""
                      : " and expires at " + Instant.ofEpochMilli(manifest.expiresMillis()),
                  status.trouble().map(trouble -> "; " + trouble).orElse("")));
    }
    // Without the allow set, URLs that it allows would be reported as present.
    return allow ? whyNoList(status.snapshot().get()) : Optional.empty();
  }

  /**
   * Returns when to expect the first snapshot; empty if there is a snapshot, or a different problem
   * is known.
   */
  Optional<String> firstSnapshot(ClientStatus status) {
    return status.state() == ClientState.EMPTY && status.trouble().isEmpty()
        ? Optional.of(firstSnapshot)
        : Optional.empty();
  }

  private static String age(Duration age) {
    long seconds = Math.max(0, age.toSeconds());
    if (seconds < 120) {
      return seconds + " s";
    }
    if (seconds < 7_200) {
      return seconds / 60 + " min";
    }
    return seconds / 3_600 + " h";
  }

  Figures figures(SnapshotSet set) {
    Figures known = figures;
    if (known == null || known.set().get() != set) {
      known = Figures.of(set);
      figures = known;
    }
    return known;
  }

  Manifest manifestOfBases() throws HttpFailure {
    return shelf.ofBases(this::answering);
  }

  /**
   * Returns the manifests of the snapshots that were active in this service or were published
   * earlier, as far as they are known, oldest first.
   */
  Collection<Manifest> published() {
    Deque<Manifest> all = new ArrayDeque<>();
    synchronized (published) {
      all.addAll(published);
    }
    long first = all.isEmpty() ? Long.MAX_VALUE : all.getFirst().sequence();
    List<Manifest> earlier = followed.earlier();
    for (int i = earlier.size() - 1; i >= 0 && all.size() < MAX_REMEMBERED; i--) {
      if (earlier.get(i).sequence() < first) {
        all.addFirst(earlier.get(i));
      }
    }
    return all;
  }

  /**
   * Returns the bytes of a blob that the service built or that the source has. Its digest was
   * checked.
   */
  Optional<ByteBuffer> blob(String digest) {
    followed.status().snapshot().ifPresent(shelf::add);
    return shelf.find(digest).or(() -> followed.blob(digest));
  }

  @Override
  public void close() {
    followed.close();
  }
}
