package io.firstseen.consumer;

import io.firstseen.consumer.internal.BlobSource;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.BlobLoader;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.SnapshotTopicFormat;
import io.firstseen.filters.snapshot.TrustedKey;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.regex.Pattern;

/** Options of a {@link SnapshotClient}. Immutable. */
public final class SnapshotClientOptions {
  /** The default topic of snapshots. */
  public static final String DEFAULT_TOPIC = "firstseen.snapshots";

  /** The default of {@link Builder#chunkWait}. */
  public static final Duration DEFAULT_CHUNK_WAIT = Duration.ofSeconds(30);

  /** The minimum of {@link Builder#maxUnnamedBytes}, in bytes. */
  public static final long MIN_UNNAMED_BYTES = 1L << 20;

  private static final int MAX_HISTORY = 1000;
  private static final Pattern HOST_AND_PORT = Pattern.compile("\\S+:[0-9]{1,5}");

  // With other values a follower could read uncommitted records, miss committed records, or
  // interfere with another consumer.
  private static final Set<String> OWN_PROPERTIES =
      Set.of(
          "bootstrap.servers",
          "group.id",
          "isolation.level",
          "auto.offset.reset",
          "enable.auto.commit",
          "key.deserializer",
          "value.deserializer");

  private final Builder values;

  private SnapshotClientOptions(Builder values) {
    this.values = values;
  }

  /**
   * Creates a builder; all other options have defaults.
   *
   * @param bootstrapServers the bootstrap brokers, {@code host:port} separated by commas
   * @param setName the name of the set, as configured at its publisher
   * @throws IllegalArgumentException if the brokers or the name are not valid
   */
  public static Builder builder(String bootstrapServers, String setName) {
    return new Builder(bootstrapServers, setName);
  }

  /** Returns the bootstrap brokers, {@code host:port} separated by commas. */
  public String bootstrapServers() {
    return values.bootstrapServers;
  }

  /** Returns the set to follow. */
  public String setName() {
    return values.setName;
  }

  /** Returns the topic of snapshots. */
  public String topic() {
    return values.topic;
  }

  /** Returns the hash function and key that the publisher uses. */
  public KeyHash keyHash() {
    return values.keyHash;
  }

  /** Returns additional settings of the Kafka consumer. */
  public Map<String, String> kafkaProperties() {
    return values.kafkaProperties;
  }

  /**
   * Returns how long chunks may be missing before they are reported and the topic is read again.
   */
  public Duration chunkWait() {
    return values.chunkWait;
  }

  /**
   * Returns the maximum number of bytes of chunks for which no manifest waits; empty for the
   * default.
   */
  public OptionalLong maxUnnamedBytes() {
    return values.maxUnnamedBytes;
  }

  /** Returns the age at which a snapshot becomes stale; empty if only expiry makes it stale. */
  public Optional<Duration> staleAfter() {
    return Optional.ofNullable(values.staleAfter);
  }

  /** Returns whether queries keep using a stale snapshot. */
  public boolean answerWhileStale() {
    return values.answerWhileStale;
  }

  /** Returns the behaviour of queries while no snapshot is available. */
  public NoSnapshotPolicy noSnapshotPolicy() {
    return values.noSnapshotPolicy;
  }

  /** Returns the listener for snapshots and problems. */
  public SnapshotListener listener() {
    return values.listener;
  }

  /** Returns how many earlier snapshots stay loaded. */
  public int history() {
    return values.history;
  }

  /** Returns the directory that keeps snapshots for the next start; empty if they are not kept. */
  public Optional<Path> cacheDirectory() {
    return Optional.ofNullable(values.cacheDirectory);
  }

  /**
   * Returns the trusted keys, one of which must have signed a manifest; empty if no signature is
   * required.
   */
  public Set<TrustedKey> trustedKeys() {
    return values.trustedKeys;
  }

  /**
   * Returns the location of all blobs, which overrides the location in manifests; empty if
   * manifests decide.
   */
  public Optional<URI> blobDirectory() {
    return Optional.ofNullable(values.blobDirectory);
  }

  /** Returns the loader of all blobs; empty if the client fetches them itself. */
  public Optional<BlobLoader> blobLoader() {
    return Optional.ofNullable(values.blobLoader);
  }

  BlobSource blobSource() {
    return new BlobSource(values.blobDirectory, values.blobLoader, !values.trustedKeys.isEmpty());
  }

  /** Returns whether the client follows without a hash key and does not support queries. */
  public boolean isFollowingOnly() {
    return values.isFollowingOnly;
  }

  /** Returns the sequence that is pinned from the start; empty if no sequence is pinned. */
  public OptionalLong pinnedSequence() {
    return values.pinnedSequence;
  }

  static long requireSequence(long sequence) {
    if (sequence < 0) {
      throw new IllegalArgumentException("sequence must be at least 0, got " + sequence);
    }
    return sequence;
  }

  static Duration requirePositive(String name, Duration duration) {
    if (duration.isZero() || duration.isNegative()) {
      throw new IllegalArgumentException(name + " must be longer than 0, got " + duration);
    }
    return duration;
  }

  /** A builder of {@link SnapshotClientOptions}. */
  public static final class Builder implements Cloneable {
    private final String bootstrapServers;
    private final String setName;
    private Map<String, String> kafkaProperties = Map.of();
    private String topic = DEFAULT_TOPIC;
    private KeyHash keyHash = KeyHash.fixed();
    private Duration chunkWait = DEFAULT_CHUNK_WAIT;
    private OptionalLong maxUnnamedBytes = OptionalLong.empty();
    private Duration staleAfter;
    private boolean answerWhileStale = true;
    private NoSnapshotPolicy noSnapshotPolicy = NoSnapshotPolicy.THROW;
    private SnapshotListener listener = new SnapshotListener() {};
    private int history;
    private Path cacheDirectory;
    private Set<TrustedKey> trustedKeys = Set.of();
    private URI blobDirectory;
    private BlobLoader blobLoader;
    private boolean isFollowingOnly;
    private OptionalLong pinnedSequence = OptionalLong.empty();

    private Builder(String bootstrapServers, String setName) {
      for (String server : bootstrapServers.split(",", -1)) {
        if (!HOST_AND_PORT.matcher(server.strip()).matches()) {
          throw new IllegalArgumentException(
              "bootstrapServers must be host:port separated by commas, got '"
                  + bootstrapServers
                  + "'");
        }
      }
      this.bootstrapServers = bootstrapServers;
      this.setName = SnapshotTopicFormat.requireSetName(setName);
    }

    /** Sets the topic of snapshots; default {@link #DEFAULT_TOPIC}. */
    public Builder topic(String newTopic) {
      this.topic = Objects.requireNonNull(newTopic, "topic");
      return this;
    }

    /**
     * Sets the publisher's hash function and key; default {@link KeyHash#fixed()}. Sets with a
     * different hash are rejected, because every result would be wrong.
     */
    public Builder keyHash(KeyHash newKeyHash) {
      this.keyHash = Objects.requireNonNull(newKeyHash, "keyHash");
      return this;
    }

    /**
     * Adds a setting of the Kafka consumer, such as {@code security.protocol}.
     *
     * @throws IllegalArgumentException if the client sets this property itself
     */
    public Builder kafkaProperty(String name, String value) {
      if (OWN_PROPERTIES.contains(name)) {
        throw new IllegalArgumentException("the Kafka property " + name + " is set by the client");
      }
      Map<String, String> properties = new HashMap<>(kafkaProperties);
      properties.put(name, Objects.requireNonNull(value, name));
      this.kafkaProperties = Map.copyOf(properties);
      return this;
    }

    /** Like {@link #kafkaProperty}, for several settings. */
    public Builder kafkaProperties(Map<String, String> properties) {
      properties.forEach(this::kafkaProperty);
      return this;
    }

    /**
     * Sets how long chunks that a manifest needs may be missing after the whole topic was read;
     * default {@link #DEFAULT_CHUNK_WAIT}. After this time, the client reports them and reads the
     * topic again from its beginning. It then repeats this with exponential backoff from ten times
     * this value to one hour, and as soon as another missing blob arrives.
     */
    public Builder chunkWait(Duration newChunkWait) {
      this.chunkWait = requirePositive("chunkWait", newChunkWait);
      return this;
    }

    /**
     * Sets the maximum number of bytes of chunks, in memory or in the {@link #cacheDirectory}, for
     * which no manifest waits yet. Each chunk counts with an overhead of 512 bytes. If the limit is
     * exceeded, the chunks of the oldest blobs are dropped, which is reported to {@link
     * SnapshotListener#onNotice} once per active snapshot. When a manifest needs such a blob, the
     * topic is read again from its beginning. The limit should therefore be at least the bytes that
     * a window publishes. Default: 256 MiB, or twice the active snapshot if that is more.
     *
     * @throws IllegalArgumentException if it is less than {@value #MIN_UNNAMED_BYTES} bytes
     */
    public Builder maxUnnamedBytes(long bytes) {
      if (bytes < MIN_UNNAMED_BYTES) {
        throw new IllegalArgumentException(
            "maxUnnamedBytes must be at least %d, room for one chunk, got %d"
                .formatted(MIN_UNNAMED_BYTES, bytes));
      }
      this.maxUnnamedBytes = OptionalLong.of(bytes);
      return this;
    }

    /**
     * Sets the time after the publication of its manifest at which a snapshot becomes {@link
     * ClientState#STALE}. If not set, a snapshot becomes stale only when its manifest expires.
     */
    public Builder staleAfter(Duration newStaleAfter) {
      this.staleAfter = requirePositive("staleAfter", newStaleAfter);
      return this;
    }

    /** Sets whether queries keep using a stale snapshot; default true. */
    public Builder answerWhileStale(boolean newAnswerWhileStale) {
      this.answerWhileStale = newAnswerWhileStale;
      return this;
    }

    /**
     * Sets the behaviour of queries while no snapshot is available; default {@link
     * NoSnapshotPolicy#THROW}.
     */
    public Builder noSnapshotPolicy(NoSnapshotPolicy newNoSnapshotPolicy) {
      this.noSnapshotPolicy = Objects.requireNonNull(newNoSnapshotPolicy, "noSnapshotPolicy");
      return this;
    }

    /** Sets the listener for snapshots and problems; default none. Problems are always logged. */
    public Builder listener(SnapshotListener newListener) {
      this.listener = Objects.requireNonNull(newListener, "listener");
      return this;
    }

    /**
     * Sets how many earlier snapshots stay loaded, so that {@link SnapshotClient#pin} can return to
     * them immediately; default 0. Unchanged shards are shared between snapshots; each changed
     * shard takes its size again.
     */
    public Builder history(int newHistory) {
      if (newHistory < 0 || newHistory > MAX_HISTORY) {
        throw new IllegalArgumentException(
            "history must be in [0, " + MAX_HISTORY + "], got " + newHistory);
      }
      this.history = newHistory;
      return this;
    }

    /**
     * Keeps snapshots in files that are mapped into memory, not on the heap. The next client starts
     * with the last snapshot, is {@link ClientState#READY} without network access, and reads only
     * newer records from the topic. One directory can be used for all sets of a topic. Its content
     * is checked for damage by crashes and disks, but otherwise trusted: anyone with write access
     * can make the client return any result.
     *
     * <p>Only one client at a time writes to the cache of a set; another client with the same
     * directory starts from the cache and keeps later snapshots in memory. Snapshots that cannot be
     * written also stay in memory, see {@link SnapshotListener#onNotice}. If not set, snapshots are
     * kept in memory.
     */
    public Builder cacheDirectory(Path directory) {
      this.cacheDirectory = Objects.requireNonNull(directory, "cacheDirectory");
      return this;
    }

    /**
     * Rejects manifests, including cached manifests, that are not signed by one of these keys. If
     * not set or empty, signatures are not checked.
     */
    public Builder trustedKeys(Collection<TrustedKey> keys) {
      this.trustedKeys = Set.copyOf(keys);
      return this;
    }

    /**
     * Sets a directory of blobs named by their digests, as a {@code file:}, {@code http:} or {@code
     * https:} URI. If not set, blobs are on the topic or at the location that the manifest names.
     * The manifest's location is used only with {@link #trustedKeys}; otherwise anyone with write
     * access to the topic could choose which files and servers the client reads.
     *
     * @throws IllegalArgumentException if the URI cannot be the URI of a directory
     */
    public Builder blobDirectory(URI directory) {
      this.blobDirectory =
          Manifest.requireBlobs(Objects.requireNonNull(directory, "blobDirectory"));
      return this;
    }

    /**
     * Sets a loader of all blobs, for locations that the client cannot read itself. A thread of the
     * client calls the loader, and is interrupted if the blob is no longer needed. The returned
     * bytes are verified; exceptions are reported and the load is retried.
     */
    public Builder blobLoader(BlobLoader loader) {
      this.blobLoader = Objects.requireNonNull(loader, "blobLoader");
      return this;
    }

    /**
     * Follows a set with any hash key, without support for queries: for programs that monitor or
     * forward snapshots without the key.
     */
    public Builder followingOnly() {
      this.isFollowingOnly = true;
      return this;
    }

    /** Pins a sequence from the start; see {@link SnapshotClient#pin}. */
    public Builder pin(long sequence) {
      this.pinnedSequence = OptionalLong.of(requireSequence(sequence));
      return this;
    }

    /** Returns the options. */
    public SnapshotClientOptions build() {
      try {
        return new SnapshotClientOptions((Builder) clone());
      } catch (CloneNotSupportedException e) {
        throw new IllegalStateException(e);
      }
    }
  }
}
