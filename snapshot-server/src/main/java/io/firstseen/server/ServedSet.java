package io.firstseen.server;

import io.firstseen.consumer.ClientState;
import io.firstseen.consumer.ClientStatus;
import io.firstseen.consumer.FollowedSet;
import io.firstseen.consumer.SnapshotListener;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.filters.snapshot.SnapshotSet;
import io.firstseen.filters.snapshot.UrlList;
import io.firstseen.server.http.HttpFailure;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/** A set in the service: the current snapshot, whether it may answer, and earlier ones. */
final class ServedSet implements AutoCloseable {
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

  /** Figures of a set, which they do not keep in memory. */
  private record Figures(WeakReference<SnapshotSet> set, SetFigures figures) {}

  /**
   * A snapshot that answered here, or was published earlier.
   *
   * @param changeBytes the bytes of the packs since the one before; of the first, of its newest
   *     pack
   */
  record Published(long sequence, long windowEndMillis, long keys, long changeBytes) {}

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

  /** The listener for the set's follower. */
  SnapshotListener listener() {
    return new Listener();
  }

  /** Sets the follower that the set answers from. */
  void answerBy(FollowedSet follower) {
    followed = follower;
  }

  private final class Listener implements SnapshotListener {
    @Override
    public void onSnapshot(Manifest manifest) {
      snapshots.incrementAndGet();
      remember(manifest);
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
  }

  private void remember(Manifest manifest) {
    followed.status().snapshot().ifPresent(shelf::add);
    synchronized (published) {
      // One that was published again takes the place of the first.
      published.removeIf(each -> each.hasContentOf(manifest));
      published.addLast(manifest);
      while (published.size() > MAX_REMEMBERED) {
        published.removeFirst();
      }
    }
  }

  String name() {
    return name;
  }

  KeyHash keyHash() {
    return keyHash;
  }

  /** Whether it is an allow set, which overrides lists. */
  boolean isAllowSet() {
    return allow;
  }

  ClientStatus status() {
    return followed.status();
  }

  /** See {@link FollowedSet#unusable}. */
  Optional<String> unusable() {
    return followed.unusable();
  }

  /** The number of snapshots that have answered since the start. */
  long snapshots() {
    return snapshots.get();
  }

  /** The number of refusals since the start. */
  long refusals() {
    return refusals.get();
  }

  /** Whether the topic or directory could be read when it was last tried. */
  boolean isReachable() {
    return reachable;
  }

  /**
   * What answers.
   *
   * @throws HttpFailure with 503 if no snapshot may answer
   */
  SnapshotSet answering() throws HttpFailure {
    return requireAnswering().snapshot().orElseThrow();
  }

  /**
   * The current snapshot with its manifest.
   *
   * @throws HttpFailure with 503 if no snapshot may answer
   */
  ClientStatus requireAnswering() throws HttpFailure {
    ClientStatus status = followed.status();
    requireAnswering(status);
    return status;
  }

  /**
   * Refuses a status in which no snapshot may answer.
   *
   * @throws HttpFailure with 503 if so
   */
  void requireAnswering(ClientStatus status) throws HttpFailure {
    Optional<String> reason = whyNot(status);
    if (reason.isPresent()) {
      throw new HttpFailure(503, reason.get());
    }
  }

  /** Why a snapshot cannot be asked for URLs; empty if it can. */
  Optional<String> whyNoList(SnapshotSet set) {
    try {
      UrlList.requireUrlExpressions(name, set.manifest().parameters());
      return Optional.empty();
    } catch (IllegalArgumentException e) {
      return Optional.of(e.getMessage());
    }
  }

  /** A snapshot that can be asked for URLs. */
  UrlList list(SnapshotSet set) {
    try {
      return UrlList.of(set, keyHash);
    } catch (SnapshotException e) {
      throw new IllegalStateException("a manifest of another hash key became active", e);
    }
  }

  /** Why the set cannot answer; empty if it can. */
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
    // Without it, URLs that it allows would be present.
    return allow ? whyNoList(status.snapshot().get()) : Optional.empty();
  }

  /** When to expect the first snapshot; empty if there is one, or something else is known. */
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

  /** The figures of the current snapshot. */
  SetFigures figures(SnapshotSet set) {
    Figures known = figures;
    if (known == null || known.set().get() != set) {
      known = new Figures(new WeakReference<>(set), SetFigures.of(set));
      figures = known;
    }
    return known.figures();
  }

  /** See {@link BlobShelf#ofBases}. */
  Manifest manifestOfBases() throws HttpFailure {
    return shelf.ofBases(this::answering);
  }

  /** The known snapshots, oldest first. */
  List<Published> published() {
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
    List<Published> described = new ArrayList<>();
    Manifest before = null;
    for (Manifest each : all) {
      described.add(
          new Published(
              each.sequence(),
              each.windowEndMillis(),
              each.count(),
              changeBytes(each, Optional.ofNullable(before))));
      before = each;
    }
    return described;
  }

  private static long changeBytes(Manifest manifest, Optional<Manifest> before) {
    if (manifest.pack() == null) {
      return 0;
    }
    long from = before.map(Manifest::packBytes).orElse(Long.MAX_VALUE);
    // A chain that began anew is behind the one before it.
    return from <= manifest.packBytes() ? manifest.packBytes() - from : manifest.pack().bytes();
  }

  /** The bytes of a blob that was made here or that the source has. Its digest was checked. */
  Optional<ByteBuffer> blob(String digest) {
    followed.status().snapshot().ifPresent(shelf::add);
    return shelf.find(digest).or(() -> followed.blob(digest));
  }

  @Override
  public void close() {
    followed.close();
  }
}
