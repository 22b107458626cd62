package io.firstseen.consumer;

import io.firstseen.consumer.CurrentSnapshot.View;
import io.firstseen.consumer.internal.ActiveSnapshot;
import io.firstseen.consumer.internal.Decision;
import io.firstseen.consumer.internal.ManifestOrder;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.BlobFrame;
import io.firstseen.filters.snapshot.CatchUp;
import io.firstseen.filters.snapshot.HashKeyMismatchException;
import io.firstseen.filters.snapshot.MalformedSnapshotException;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.ManifestCheck;
import io.firstseen.filters.snapshot.Sha256;
import io.firstseen.filters.snapshot.SnapshotDirectory;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.filters.snapshot.SnapshotSet;
import io.firstseen.filters.snapshot.SnapshotTopicFormat;
import io.firstseen.filters.snapshot.TrustedKey;
import io.firstseen.filters.snapshot.UnsupportedSnapshotException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Follows one set of keys in a {@link SnapshotDirectory}, as {@link SnapshotClient} does on a
 * topic: a snapshot is verified in full before it answers, and <b>the last good one is never
 * dropped</b>, even if its files disappear. {@link #status} has the snapshot to query.
 *
 * <p>A daemon thread polls the directory, since not every file system reports changes. {@link
 * #close} ends it.
 */
public final class FollowedDirectory implements FollowedSet {
  /** The default interval between two polls of the directory. */
  public static final Duration DEFAULT_POLL = Duration.ofSeconds(1);

  private static final Logger LOG = LoggerFactory.getLogger(FollowedDirectory.class);
  private static final int MAX_EARLIER = 60;
  private static final int MAX_CHECKED = 100_000;
  // A manifest that failed is skipped for 1, 3, 7, … polls before it is verified again, at most for
  // this many.
  private static final int MAX_LOOKS_PASSED_OVER = 60;

  private final SnapshotDirectory directory;
  private final String setName;
  private final KeyHash keyHash;
  private final Set<TrustedKey> trustedKeys;
  private final Duration poll;
  private final FollowedState shown;
  private final FollowerThread thread;
  private final CountDownLatch closed = new CountDownLatch(1);

  // Written only by the following thread.
  private volatile List<Manifest> earlier = List.of();
  private boolean loading;
  private boolean reachable = true;
  private boolean hasFailed;
  // What is wrong with the newest manifest that cannot be used.
  private @Nullable String failing;
  private final CurrentSnapshot current = new CurrentSnapshot(OptionalLong.empty());
  private final Map<Long, Failure> failures = new HashMap<>();
  private final ManifestOrder order = new ManifestOrder();
  private Judged judged;

  /** By their digests, the blobs that were checked. */
  private final Map<String, Written> checkedBlobs = new ConcurrentHashMap<>();

  /** Tells versions of a file apart. */
  private record Written(@Nullable Object fileKey, FileTime time, long bytes) {
    /** Empty if there is no such file. */
    static Optional<Written> of(Path file) {
      try {
        BasicFileAttributes of = Files.readAttributes(file, BasicFileAttributes.class);
        return Optional.of(new Written(of.fileKey(), of.lastModifiedTime(), of.size()));
      } catch (IOException e) {
        return Optional.empty();
      }
    }
  }

  /** Why the last manifest of this look was refused. */
  private @Nullable String lastReason;

  /**
   * The newest manifest that was judged, and when it was written; {@code NOTHING} if there was
   * none.
   */
  private record Judged(long sequence, FileTime written) {
    private static final Judged NOTHING = new Judged(-1, FileTime.fromMillis(0));
  }

  /** How many polls to skip before a failed manifest is verified again. */
  private static final class Failure {
    private int looksToPass;
    private int passed;
    private @Nullable String refusal;

    /** Whether this reader cannot use the manifest, however often it tries. */
    private boolean isLasting;
  }

  private FollowedDirectory(Builder builder) {
    this.directory = new SnapshotDirectory(builder.path);
    this.setName = builder.setName;
    this.keyHash = builder.keyHash;
    this.trustedKeys = builder.trustedKeys;
    this.poll = builder.poll;
    this.shown =
        new FollowedState(
            setName,
            "directory " + builder.path,
            Optional.ofNullable(builder.staleAfter),
            builder.listener,
            System::currentTimeMillis,
            () -> loading,
            current);
    this.thread = new FollowerThread("directory-" + setName, this::run);
  }

  /**
   * Starts to describe what to follow; everything else has a default.
   *
   * @param directory a {@link SnapshotDirectory}, which need not exist yet
   * @param setName the name of the set, as its publisher calls it
   * @throws IllegalArgumentException if {@code setName} is not a valid name
   */
  public static Builder builder(Path directory, String setName) {
    return new Builder(directory, setName);
  }

  /** The options of a followed directory. */
  public static final class Builder {
    private final Path path;
    private final String setName;
    private KeyHash keyHash = KeyHash.fixed();
    private Set<TrustedKey> trustedKeys = Set.of();
    private Duration staleAfter;
    private Duration poll = DEFAULT_POLL;
    private SnapshotListener listener = new SnapshotListener() {};

    private Builder(Path path, String setName) {
      this.path = Objects.requireNonNull(path, "directory");
      this.setName = SnapshotTopicFormat.requireSetName(setName);
    }

    /**
     * The hash function and key that the publisher uses, {@link KeyHash#fixed()} if not set. A set
     * made with another hash is refused, since every answer would be wrong.
     */
    public Builder keyHash(KeyHash newKeyHash) {
      this.keyHash = Objects.requireNonNull(newKeyHash, "keyHash");
      return this;
    }

    /**
     * Refuses manifests that none of these keys has signed. If not set or empty, signatures are not
     * checked.
     */
    public Builder trustedKeys(Collection<TrustedKey> keys) {
      this.trustedKeys = Set.copyOf(keys);
      return this;
    }

    /**
     * How long after the publication of its manifest a snapshot becomes {@link ClientState#STALE}.
     * If not set, a snapshot is stale only once its manifest has expired.
     */
    public Builder staleAfter(Duration newStaleAfter) {
      this.staleAfter = SnapshotClientOptions.requirePositive("staleAfter", newStaleAfter);
      return this;
    }

    /** How long to wait between two polls; {@link #DEFAULT_POLL} if not set. */
    public Builder poll(Duration newPoll) {
      this.poll = SnapshotClientOptions.requirePositive("poll", newPoll);
      return this;
    }

    /**
     * The listener for snapshots and problems; none if not set. Problems are logged in any case.
     */
    public Builder listener(SnapshotListener newListener) {
      this.listener = Objects.requireNonNull(newListener, "listener");
      return this;
    }

    /** Starts to follow. Returns at once, before a snapshot was loaded. */
    public FollowedDirectory start() {
      FollowedDirectory followed = new FollowedDirectory(this);
      followed.thread.start();
      return followed;
    }
  }

  FollowedState shown() {
    return shown;
  }

  @Override
  public ClientStatus status() {
    return shown.status();
  }

  /**
   * The current metrics. Cheap; may be called by any thread, also after the close. Records and
   * bytes read stay 0.
   */
  public SnapshotMetrics metrics() {
    return shown.metrics();
  }

  /**
   * Waits until a snapshot answers.
   *
   * @return its manifest
   * @throws TimeoutException if that takes longer; the message says why
   * @throws UnusableSetException as {@link SnapshotClient#awaitReady}
   * @throws IllegalStateException if this is or gets closed
   */
  public Manifest awaitReady(Duration timeout) throws InterruptedException, TimeoutException {
    View now =
        current.await(
            view ->
                view.active() != null
                    || view.state() == ClientState.CLOSED
                    || view.unusable() != null,
            TimeUnit.NANOSECONDS.convert(timeout));
    if (now.state() == ClientState.CLOSED) {
      throw new IllegalStateException("closed");
    }
    if (now.unusable() != null) {
      throw new UnusableSetException(now.unusable());
    }
    if (now.active() == null) {
      throw new TimeoutException(
          "waited for %d ms; %s"
              .formatted(
                  timeout.toMillis(),
                  now.trouble() == null
                      ? "no snapshot of '%s' in %s".formatted(setName, directory.path())
                      : now.trouble()));
    }
    return now.active().manifest();
  }

  @Override
  public Optional<String> unusable() {
    return Optional.ofNullable(current.view().unusable());
  }

  @Override
  public List<Manifest> earlier() {
    return earlier;
  }

  private void run() {
    try {
      do {
        lookAndTick();
      } while (!closed.await(poll.toMillis(), TimeUnit.MILLISECONDS));
    } catch (InterruptedException e) {
      LOG.debug("no longer following {}", directory.path());
    }
  }

  private void lookAndTick() {
    try {
      look();
      shown.tick();
    } catch (RuntimeException | Error e) {
      // Memory may have ended while a failure was reported.
      LOG.debug("looking at {} failed", directory.path(), e);
      hasFailed = true;
    }
  }

  /** The sequence of the snapshot that answers; -1 if there is none. */
  private long answeringSequence() {
    ActiveSnapshot active = shown.active();
    return active == null ? -1 : active.manifest().sequence();
  }

  private void look() {
    try {
      List<Long> sequences = new ArrayList<>(directory.sequences());
      if (!reachable) {
        reachable = true;
        shown.reachable();
      }
      Collections.reverse(sequences);
      loading = !sequences.isEmpty();
      shown.tick();
      lastReason = null;
      for (long sequence : sequences) {
        if (sequence <= answeringSequence()) {
          break;
        }
        if (load(sequence, sequences)) {
          lookedWell(sequences);
          return;
        }
      }
      if (shown.active() != null) {
        judgeOld(sequences);
      }
      lookedWell(sequences);
    } catch (SnapshotException e) {
      if (reachable) {
        reachable = false;
        shown.unreachable(e.getMessage());
      }
    } catch (RuntimeException | Error e) {
      // Keep running after any exception: if the follower ended, its set would grow old unnoticed.
      LOG.warn("looking at {} failed", directory.path(), e);
      hasFailed = true;
      shown.setOutage("looking at %s failed: %s".formatted(directory.path(), e));
    }
  }

  private void lookedWell(List<Long> sequences) {
    if (hasFailed) {
      hasFailed = false;
      shown.setOutage(null);
    }
    // What is wrong with the newest manifest holds also if an older one has answered since.
    failures.keySet().retainAll(sequences);
    String before = failing;
    failing =
        failures.entrySet().stream()
            .filter(failure -> failure.getKey() > answeringSequence())
            .max(Map.Entry.comparingByKey())
            .map(failure -> failure.getValue().refusal)
            .orElse(null);
    boolean isUnusable =
        shown.active() == null && failures.values().stream().allMatch(failure -> failure.isLasting);
    shown.setUnusable(isUnusable ? failing : null);
    if (failing != null) {
      shown.setRefusal(failing);
    } else if (before != null) {
      shown.endRefusal(before);
    }
  }

  /** Makes a snapshot active, or reports why not. Returns whether it is active. */
  private boolean load(long sequence, List<Long> newestFirst) {
    Failure before = failures.get(sequence);
    if (before != null && before.passed < before.looksToPass) {
      before.passed++;
      return false;
    }
    long startNanos = System.nanoTime();
    try {
      FileTime written = Files.getLastModifiedTime(directory.manifestFile(sequence));
      Manifest manifest = read(sequence, directory.manifestBytes(sequence));
      ActiveSnapshot active = shown.active();
      CatchUp loaded =
          CatchUp.to(
              manifest,
              active == null ? List.of() : List.of(active.set()),
              blob -> directory.blob(manifest, blob));
      if (loaded.refusal() != null) {
        shown.refuse(
            "sequence %d of set '%s' cannot be reached by packs, so the bases are taken: %s"
                .formatted(sequence, setName, loaded.refusal()));
      }
      if (active == null) {
        earlier = readEarlier(sequence, newestFirst);
      }
      order.answer(manifest);
      judged = new Judged(sequence, written);
      failures.keySet().removeIf(failed -> failed <= sequence);
      shown.answer(
          new Decision.Activate(
              ActiveSnapshot.of(loaded.set(), System.currentTimeMillis()),
              loaded.way(),
              loaded.bytes(),
              loaded.changes()),
          startNanos);
      return true;
    } catch (HashKeyMismatchException | UnsupportedSnapshotException e) {
      fail(sequence, e.getMessage(), true);
      return false;
    } catch (IOException e) {
      fail(sequence, e.getMessage() == null ? e.toString() : e.getMessage(), false);
      return false;
    } catch (RuntimeException | Error e) {
      // As an OutOfMemoryError: an older one may be smaller.
      LOG.warn("loading sequence {} of {} failed", sequence, directory.path(), e);
      fail(sequence, e.toString(), false);
      return false;
    }
  }

  private void fail(long sequence, String reason, boolean isLasting) {
    String refusal =
        "sequence %d of set '%s' cannot be used: %s".formatted(sequence, setName, reason);
    // What is wrong with one, such as another hash key, may be wrong with hundreds.
    if (!failures.containsKey(sequence) && !reason.equals(lastReason)) {
      shown.refuse(refusal);
    }
    lastReason = reason;
    Failure failure = failures.computeIfAbsent(sequence, unused -> new Failure());
    failure.looksToPass = Math.min(2 * failure.looksToPass + 1, MAX_LOOKS_PASSED_OVER);
    failure.passed = 0;
    failure.refusal = refusal;
    failure.isLasting = isLasting;
  }

  @Override
  public Optional<ByteBuffer> blob(String digest) {
    Optional<SnapshotSet> now = status().snapshot();
    if (now.isEmpty() || !Sha256.isHex(digest)) {
      return Optional.empty();
    }
    try {
      // Before it is read: another file may take its place meanwhile.
      Optional<Written> written = written(digest);
      return directory
          .find(now.get().manifest(), digest)
          .filter(bytes -> BlobFrame.peek(bytes).filter(this::isOfSet).isPresent())
          .filter(bytes -> hasDigest(bytes, digest, written));
    } catch (SnapshotException e) {
      LOG.debug("blob {} cannot be read", digest, e);
      return Optional.empty();
    }
  }

  private Optional<Written> written(String digest) {
    return Written.of(directory.path().resolve("blobs").resolve(digest));
  }

  /** Hashes a blob once, and again if its file was written since. */
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

  private boolean isOfSet(BlobFrame frame) {
    return frame.setName().equals(setName);
  }

  private Manifest read(long sequence, byte[] bytes) throws SnapshotException {
    Manifest manifest = ManifestCheck.read(bytes, setName, trustedKeys);
    if (manifest.sequence() != sequence) {
      throw new MalformedSnapshotException("it is of sequence " + manifest.sequence());
    }
    manifest.parameters().requireReadableBy(keyHash);
    return manifest;
  }

  private List<Manifest> readEarlier(long before, List<Long> newestFirst) {
    List<Manifest> manifests = new ArrayList<>();
    for (long sequence : newestFirst) {
      if (sequence < before && manifests.size() < MAX_EARLIER) {
        try {
          Manifest manifest =
              ManifestCheck.read(directory.manifestBytes(sequence), setName, trustedKeys);
          if (manifest.sequence() == sequence) {
            manifests.add(manifest);
          }
        } catch (SnapshotException e) {
          // Earlier manifests only feed the chart.
          LOG.debug("manifest {} cannot be read", sequence, e);
        }
      }
    }
    Collections.reverse(manifests);
    return List.copyOf(manifests);
  }

  /** Reports, once for each change, that the directory no longer holds the active manifest. */
  private void judgeOld(List<Long> newestFirst) {
    if (newestFirst.isEmpty()) {
      complainOnce(Judged.NOTHING, "there is no manifest in " + directory.path());
    } else if (newestFirst.get(0) <= answeringSequence()) {
      judgeAgain(newestFirst.get(0), newestFirst);
    }
  }

  private void judgeAgain(long newest, List<Long> newestFirst) {
    try {
      Judged now = new Judged(newest, Files.getLastModifiedTime(directory.manifestFile(newest)));
      if (now.equals(judged)) {
        return;
      }
      Manifest manifest;
      try {
        manifest = read(newest, directory.manifestBytes(newest));
      } catch (SnapshotException e) {
        complainOnce(
            now,
            "sequence %d of set '%s' cannot be used: %s"
                .formatted(newest, setName, e.getMessage()));
        return;
      }
      ManifestOrder.Verdict verdict = order.check(manifest);
      if (verdict == ManifestOrder.Verdict.SAME) {
        // A repeated run has written it again, as a rule later.
        judged = now;
        shown.setRefusal(null);
        if (manifest.publishedMillis() > shown.active().manifest().publishedMillis()) {
          load(newest, newestFirst);
        }
      } else {
        complainOnce(now, order.reason(manifest, verdict));
      }
    } catch (IOException e) {
      LOG.debug("manifest {} cannot be read", newest, e);
    }
  }

  private void complainOnce(Judged about, String reason) {
    if (!about.equals(judged)) {
      judged = about;
      shown.refuse(reason);
    }
  }

  @Override
  public void close() {
    closed.countDown();
    thread.awaitEnd();
    shown.close();
  }
}
