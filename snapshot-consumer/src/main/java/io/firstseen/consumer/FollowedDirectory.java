package io.firstseen.consumer;

import io.firstseen.consumer.internal.DirectorySource;
import io.firstseen.consumer.internal.HttpSource;
import io.firstseen.consumer.internal.ManifestReader;
import io.firstseen.consumer.internal.SnapshotSource;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.SnapshotDirectory;
import io.firstseen.filters.snapshot.SnapshotTopicFormat;
import io.firstseen.filters.snapshot.TrustedKey;
import java.net.URI;
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
import org.jspecify.annotations.Nullable;

/**
 * Follows one set of keys in a {@link SnapshotDirectory}, or in its files on a web server, as
 * {@link SnapshotClient} does on a topic: a snapshot is fully verified before it becomes active,
 * and <b>the last valid snapshot is never dropped</b>, even if its files disappear. {@link #status}
 * returns the snapshot to query.
 *
 * <p>A daemon thread polls the directory, because not every file system reports changes. {@link
 * #close} ends the thread.
 */
public final class FollowedDirectory implements FollowedSet {
  /** The default interval between two polls of the directory. */
  public static final Duration DEFAULT_POLL = Duration.ofSeconds(1);

  /** The default interval between two polls of a directory on a web server. */
  public static final Duration DEFAULT_HTTP_POLL = Duration.ofSeconds(10);

  private final SnapshotSource source;
  private final SourceFollower follower;
  private final Duration poll;
  private final FollowerThread thread;
  private final CountDownLatch closed = new CountDownLatch(1);

  private FollowedDirectory(Builder builder) {
    this.source = builder.source;
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
   * Creates a builder; all other options have defaults.
   *
   * @param directory a {@link SnapshotDirectory}, which does not have to exist yet
   * @param setName the name of the set, as configured at its publisher
   * @throws IllegalArgumentException if {@code setName} is not a valid name
   */
  public static Builder builder(Path directory, String setName) {
    return new Builder(
        new DirectorySource(Objects.requireNonNull(directory, "directory"), setName),
        DEFAULT_POLL,
        setName);
  }

  /**
   * Creates a builder for a directory whose files a web server provides, as {@code firstseen
   * snapshot publish} writes it.
   *
   * @param address the address of the directory, with http or https
   * @param setName the name of the set, as configured at its publisher
   * @throws IllegalArgumentException if the address or the name is not valid
   */
  public static Builder builder(URI address, String setName) {
    return new Builder(new HttpSource(address), DEFAULT_HTTP_POLL, setName);
  }

  /** The options of a followed directory. */
  public static final class Builder {
    private final SnapshotSource source;
    private final String setName;
    private @Nullable KeyHash keyHash = KeyHash.fixed();
    private Set<TrustedKey> trustedKeys = Set.of();
    private Duration staleAfter;
    private Duration poll;
    private SnapshotListener listener = new SnapshotListener() {};

    private Builder(SnapshotSource source, Duration poll, String setName) {
      this.source = source;
      this.poll = poll;
      this.setName = SnapshotTopicFormat.requireSetName(setName);
    }

    /**
     * Sets the publisher's hash function and key; default {@link KeyHash#fixed()}. Sets with a
     * different hash are rejected, because every result would be wrong.
     */
    public Builder keyHash(KeyHash newKeyHash) {
      this.keyHash = Objects.requireNonNull(newKeyHash, "keyHash");
      return this;
    }

    /** Accepts sets with any hash key, for programs that do not query the set. */
    public Builder followingOnly() {
      this.keyHash = null;
      return this;
    }

    /**
     * Rejects manifests that are not signed by one of these keys. If not set or empty, signatures
     * are not checked.
     */
    public Builder trustedKeys(Collection<TrustedKey> keys) {
      this.trustedKeys = Set.copyOf(keys);
      return this;
    }

    /**
     * Sets the time after the publication of its manifest at which a snapshot becomes {@link
     * ClientState#STALE}. If not set, a snapshot becomes stale only when its manifest expires.
     */
    public Builder staleAfter(Duration newStaleAfter) {
      this.staleAfter = SnapshotClientOptions.requirePositive("staleAfter", newStaleAfter);
      return this;
    }

    /**
     * Sets the interval between two polls; default {@link #DEFAULT_POLL} or {@link
     * #DEFAULT_HTTP_POLL}.
     */
    public Builder poll(Duration newPoll) {
      this.poll = SnapshotClientOptions.requirePositive("poll", newPoll);
      return this;
    }

    /** Sets the listener for snapshots and problems; default none. Problems are always logged. */
    public Builder listener(SnapshotListener newListener) {
      this.listener = Objects.requireNonNull(newListener, "listener");
      return this;
    }

    /** Starts to follow the directory. Returns immediately, before a snapshot is loaded. */
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
   * Returns the current metrics. Cheap; may be called by any thread, also after {@link #close}.
   * Records and bytes read are always 0.
   */
  public SnapshotMetrics metrics() {
    return shown().metrics();
  }

  /**
   * Waits until a snapshot is active.
   *
   * @return its manifest
   * @throws TimeoutException if no snapshot becomes active in time; the message states the reason
   * @throws UnusableSetException as {@link SnapshotClient#awaitReady}
   * @throws IllegalStateException if this object is closed, or is closed meanwhile
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
