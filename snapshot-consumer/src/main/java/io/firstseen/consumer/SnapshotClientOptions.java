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
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.regex.Pattern;

/** What a {@link SnapshotClient} follows, and how. Immutable. */
public final class SnapshotClientOptions {
  /** The default topic of snapshots. */
  public static final String DEFAULT_TOPIC = "firstseen.snapshots";

  /** The default of {@link Builder#chunkWait}. */
  public static final Duration DEFAULT_CHUNK_WAIT = Duration.ofSeconds(30);

  /** The minimum of {@link Builder#maxUnnamedBytes}, in bytes. */
  public static final long MIN_UNNAMED_BYTES = 1L << 20;

  private static final int MAX_HISTORY = 1000;
  private static final Pattern HOST_AND_PORT = Pattern.compile("\\S+:[0-9]{1,5}");

  // With other values a follower could read uncommitted records, miss committed ones, or disturb
  // another consumer.
  private static final Set<String> OWN_PROPERTIES =
      Set.of(
          "bootstrap.servers",
          "group.id",
          "isolation.level",
          "auto.offset.reset",
          "enable.auto.commit",
          "key.deserializer",
          "value.deserializer");

  private final String bootstrapServers;
  private final String setName;
  private final String topic;
  private final KeyHash keyHash;
  private final Map<String, String> kafkaProperties;
  private final Duration chunkWait;
  private final OptionalLong maxUnnamedBytes;
  private final Duration staleAfter;
  private final boolean answerWhileStale;
  private final NoSnapshotPolicy noSnapshotPolicy;
  private final SnapshotListener listener;
  private final int history;
  private final Path cacheDirectory;
  private final Set<TrustedKey> trustedKeys;
  private final URI blobDirectory;
  private final BlobLoader blobLoader;
  private final boolean isFollowingOnly;
  private final OptionalLong pinnedSequence;

  private SnapshotClientOptions(Builder builder) {
    this.bootstrapServers = builder.bootstrapServers;
    this.setName = builder.setName;
    this.topic = builder.topic;
    this.keyHash = builder.keyHash;
    this.kafkaProperties = Map.copyOf(builder.kafkaProperties);
    this.chunkWait = builder.chunkWait;
    this.maxUnnamedBytes = builder.maxUnnamedBytes;
    this.staleAfter = builder.staleAfter;
    this.answerWhileStale = builder.answerWhileStale;
    this.noSnapshotPolicy = builder.noSnapshotPolicy;
    this.listener = builder.listener;
    this.history = builder.history;
    this.cacheDirectory = builder.cacheDirectory;
    this.trustedKeys = Set.copyOf(builder.trustedKeys);
    this.blobDirectory = builder.blobDirectory;
    this.blobLoader = builder.blobLoader;
    this.isFollowingOnly = builder.isFollowingOnly;
    this.pinnedSequence = builder.pinnedSequence;
  }

  /**
   * Options to follow a set; everything else has a default.
   *
   * @param bootstrapServers brokers to ask first, {@code host:port} separated by commas
   * @param setName the name of the set, as its publisher calls it
   * @throws IllegalArgumentException if the brokers or the name are not valid
   */
  public static Builder builder(String bootstrapServers, String setName) {
    return new Builder(bootstrapServers, setName);
  }

  /** Bootstrap brokers, {@code host:port} separated by commas. */
  public String bootstrapServers() {
    return bootstrapServers;
  }

  /** The set to follow. */
  public String setName() {
    return setName;
  }

  /** The topic of snapshots. */
  public String topic() {
    return topic;
  }

  /** The hash function and key that the publisher uses. */
  public KeyHash keyHash() {
    return keyHash;
  }

  /** Further settings of the Kafka consumer. */
  public Map<String, String> kafkaProperties() {
    return kafkaProperties;
  }

  /** How long chunks may be missing before they are reported and the topic is read again. */
  public Duration chunkWait() {
    return chunkWait;
  }

  /** The most bytes of chunks for which no manifest waits; empty for the default. */
  public OptionalLong maxUnnamedBytes() {
    return maxUnnamedBytes;
  }

  /** The age at which a snapshot becomes stale; empty if only expiry makes it stale. */
  public Optional<Duration> staleAfter() {
    return Optional.ofNullable(staleAfter);
  }

  /** Whether a stale snapshot keeps answering. */
  public boolean answerWhileStale() {
    return answerWhileStale;
  }

  /** What a query does while no snapshot may answer it. */
  public NoSnapshotPolicy noSnapshotPolicy() {
    return noSnapshotPolicy;
  }

  /** The listener for snapshots and problems. */
  public SnapshotListener listener() {
    return listener;
  }

  /** How many earlier snapshots stay loaded. */
  public int history() {
    return history;
  }

  /** The directory that keeps snapshots for the next start; empty if they are not kept. */
  public Optional<Path> cacheDirectory() {
    return Optional.ofNullable(cacheDirectory);
  }

  /** A manifest must carry a signature by one of these keys; empty if none is required. */
  public Set<TrustedKey> trustedKeys() {
    return trustedKeys;
  }

  /** The location of all blobs, which overrides that in manifests; empty if manifests decide. */
  public Optional<URI> blobDirectory() {
    return Optional.ofNullable(blobDirectory);
  }

  /** The loader of all blobs; empty if the client fetches them itself. */
  public Optional<BlobLoader> blobLoader() {
    return Optional.ofNullable(blobLoader);
  }

  BlobSource blobSource() {
    return new BlobSource(blobDirectory, blobLoader, !trustedKeys.isEmpty());
  }

  /** Whether the client follows without a hash key and answers no queries. */
  public boolean isFollowingOnly() {
    return isFollowingOnly;
  }

  /** The sequence that is pinned from the start; empty if none is. */
  public OptionalLong pinnedSequence() {
    return pinnedSequence;
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

  /** Makes {@link SnapshotClientOptions}. */
  public static final class Builder {
    private final String bootstrapServers;
    private final String setName;
    private final Map<String, String> kafkaProperties = new LinkedHashMap<>();
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

    /** The topic of snapshots; {@link #DEFAULT_TOPIC} if not set. */
    public Builder topic(String newTopic) {
      this.topic = Objects.requireNonNull(newTopic, "topic");
      return this;
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
     * A further setting of the Kafka consumer, such as {@code security.protocol}.
     *
     * @throws IllegalArgumentException if the client sets this property itself
     */
    public Builder kafkaProperty(String name, String value) {
      if (OWN_PROPERTIES.contains(name)) {
        throw new IllegalArgumentException("the Kafka property " + name + " is set by the client");
      }
      kafkaProperties.put(name, Objects.requireNonNull(value, name));
      return this;
    }

    /** Like {@link #kafkaProperty}, for several settings. */
    public Builder kafkaProperties(Map<String, String> properties) {
      properties.forEach(this::kafkaProperty);
      return this;
    }

    /**
     * How long chunks that a manifest needs may be missing, after all of the topic was read, before
     * they are reported and the topic is read once more from its beginning; {@link
     * #DEFAULT_CHUNK_WAIT} if not set. After ten such waits the topic is read again, then after
     * twice as long, and so on up to an hour; and as soon as another missing blob comes.
     */
    public Builder chunkWait(Duration newChunkWait) {
      this.chunkWait = requirePositive("chunkWait", newChunkWait);
      return this;
    }

    /**
     * The most bytes that chunks may take, in memory or in the {@link #cacheDirectory}, before a
     * manifest waits for them. Each chunk counts with 512 bytes more than its own. When they take
     * more, those of the oldest blobs are dropped, and {@link SnapshotListener#onNotice} says so
     * once for each snapshot that answers. When a manifest needs such a blob, the topic is read
     * again from its beginning. So allow at least what a window publishes. If not set, 256 MiB, or
     * twice the snapshot that answers if that is more.
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
     * How long after the publication of its manifest a snapshot becomes {@link ClientState#STALE}.
     * If not set, a snapshot is stale only once its manifest has expired.
     */
    public Builder staleAfter(Duration newStaleAfter) {
      this.staleAfter = requirePositive("staleAfter", newStaleAfter);
      return this;
    }

    /** Whether a stale snapshot keeps answering; true if not set. */
    public Builder answerWhileStale(boolean newAnswerWhileStale) {
      this.answerWhileStale = newAnswerWhileStale;
      return this;
    }

    /**
     * What a query does while no snapshot may answer it: {@link NoSnapshotPolicy#THROW} if not set.
     */
    public Builder noSnapshotPolicy(NoSnapshotPolicy newNoSnapshotPolicy) {
      this.noSnapshotPolicy = Objects.requireNonNull(newNoSnapshotPolicy, "noSnapshotPolicy");
      return this;
    }

    /**
     * The listener for snapshots and problems; none if not set. Problems are logged in any case.
     */
    public Builder listener(SnapshotListener newListener) {
      this.listener = Objects.requireNonNull(newListener, "listener");
      return this;
    }

    /**
     * How many earlier snapshots stay loaded, so that {@link SnapshotClient#pin} can return to them
     * at once; 0 if not set. Unchanged shards are shared between snapshots; each changed shard
     * costs its size once more.
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
     * with the last of them, {@link ClientState#READY} without the network, and reads only newer
     * records from the topic. One directory serves all sets of a topic. Its content is checked for
     * damage by crashes and disks, but otherwise trusted: whoever can write to it can make the
     * client answer anything.
     *
     * <p>One client at a time writes to the cache of a set; another one on the same directory
     * starts from it and keeps later snapshots in memory. Anything that cannot be written stays in
     * memory as well, see {@link SnapshotListener#onNotice}. If not set, snapshots are in memory.
     */
    public Builder cacheDirectory(Path directory) {
      this.cacheDirectory = Objects.requireNonNull(directory, "cacheDirectory");
      return this;
    }

    /**
     * Refuses manifests, also cached ones, that none of these keys has signed. If not set or empty,
     * signatures are not checked.
     */
    public Builder trustedKeys(Collection<TrustedKey> keys) {
      this.trustedKeys = Set.copyOf(keys);
      return this;
    }

    /**
     * A directory of blobs named by their digests, as {@code file:}, {@code http:} or {@code
     * https:}. If not set, blobs are on the topic or at the location that the manifest names. That
     * location is used only with {@link #trustedKeys}; otherwise whoever can write to the topic
     * would choose which files and servers the client reads.
     *
     * @throws IllegalArgumentException if it cannot be the URI of a directory
     */
    public Builder blobDirectory(URI directory) {
      this.blobDirectory =
          Manifest.requireBlobs(Objects.requireNonNull(directory, "blobDirectory"));
      return this;
    }

    /**
     * A loader of all blobs, for locations that the client cannot read itself. A thread of the
     * client calls it, and is interrupted if the blob is no longer needed. The bytes that it
     * returns are verified; an exception is reported and the load tried again.
     */
    public Builder blobLoader(BlobLoader loader) {
      this.blobLoader = Objects.requireNonNull(loader, "blobLoader");
      return this;
    }

    /**
     * Follows a set of any hash key and answers no queries: for programs that monitor or forward
     * snapshots without having the key.
     */
    public Builder followingOnly() {
      this.isFollowingOnly = true;
      return this;
    }

    /** Pins a sequence from the start, as {@link SnapshotClient#pin} does later. */
    public Builder pin(long sequence) {
      this.pinnedSequence = OptionalLong.of(requireSequence(sequence));
      return this;
    }

    /** The options. */
    public SnapshotClientOptions build() {
      return new SnapshotClientOptions(this);
    }
  }
}
