package io.firstseen.consumer;

import io.firstseen.consumer.internal.DirectorySource;
import io.firstseen.consumer.internal.ManifestReader;
import io.firstseen.consumer.internal.SnapshotSource;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.SnapshotDirectory;
import io.firstseen.filters.snapshot.SnapshotTopicFormat;
import io.firstseen.filters.snapshot.TrustedKey;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

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

  private final SnapshotSource source;
  private final SourceFollower follower;
  private final Duration poll;
  private final FollowerThread thread;
  private final CountDownLatch closed = new CountDownLatch(1);

  private FollowedDirectory(Builder builder) {
    this.source = new DirectorySource(builder.path, builder.setName);
    this.follower =
        new SourceFollower(
            source,
            new ManifestReader(builder.setName, builder.keyHash, builder.trustedKeys),
            Optional.ofNullable(builder.staleAfter),
            builder.listener,
            System::currentTimeMillis);
    this.poll = builder.poll;
    this.thread = new FollowerThread("directory-" + builder.setName, this::run);
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
    return follower.shown();
  }

  @Override
  public ClientStatus status() {
    return shown().status();
  }

  /**
   * The current metrics. Cheap; may be called by any thread, also after the close. Records and
   * bytes read stay 0.
   */
  public SnapshotMetrics metrics() {
    return shown().metrics();
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
    return shown()
        .await(
            now -> now.active() != null,
            timeout,
            now ->
                now.trouble() == null
                    ? "no snapshot of '%s' in %s".formatted(shown().setName(), source.place())
                    : now.trouble());
  }

  @Override
  public Optional<String> unusable() {
    return shown().unusable();
  }

  @Override
  public List<Manifest> earlier() {
    return follower.earlier();
  }

  @Override
  public Optional<ByteBuffer> blob(String digest) {
    return status().snapshot().flatMap(set -> source.find(set.manifest(), digest));
  }

  private void run() {
    try {
      do {
        follower.look();
      } while (!closed.await(poll.toMillis(), TimeUnit.MILLISECONDS));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    closed.countDown();
    thread.awaitEnd();
    shown().close();
  }
}
