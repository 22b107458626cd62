package io.firstseen.sql;

import io.firstseen.consumer.SnapshotClient;
import io.firstseen.consumer.SnapshotClientOptions;
import io.firstseen.consumer.UnusableSetException;
import io.firstseen.filters.key.InvalidKeyException;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.operators.KeyHashSource;
import java.io.IOException;
import java.io.Serializable;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.functions.FunctionContext;
import org.apache.flink.table.functions.ScalarFunction;
import org.apache.flink.table.functions.SpecializedFunction;
import org.apache.flink.table.functions.UserDefinedFunction;
import org.apache.flink.table.types.inference.CallContext;
import org.apache.flink.util.TimeUtils;
import org.jspecify.annotations.Nullable;

/**
 * {@code SNAPSHOT_CONTAINS(set, key)} returns whether the current snapshot of a set contains a key,
 * like {@link SnapshotClient#mightContain(byte[], byte[])}. The set is a literal, the key a STRING
 * or BYTES before canonicalisation. Returns NULL for a NULL key and for a key without a canonical
 * form, which cannot be looked up.
 *
 * <p>Session settings configure the snapshots: {@code SET 'firstseen.snapshots.bootstrap-servers' =
 * 'broker:9092'}, {@link #TOPIC}, {@link #HASH_KEY_FILE} and {@link #WAIT}.
 *
 * <p>A task waits for the first snapshot when it starts. From then on, calls use the last valid
 * snapshot, regardless of its age. The tasks of a job in one JVM share one client per set, which
 * the last task closes. If this class is in Flink's {@code lib/}, the tasks of all jobs with equal
 * settings and hash key share a client. The function is not deterministic, as the set changes.
 */
public final class SnapshotContains extends ScalarFunction implements SpecializedFunction {
  /** The brokers of the snapshots topic, {@code host:port} separated by commas; required. */
  public static final ConfigOption<String> BOOTSTRAP_SERVERS =
      ConfigOptions.key("firstseen.snapshots.bootstrap-servers").stringType().noDefaultValue();

  /** The snapshots topic. */
  public static final ConfigOption<String> TOPIC =
      ConfigOptions.key("firstseen.snapshots.topic")
          .stringType()
          .defaultValue(SnapshotClientOptions.DEFAULT_TOPIC);

  /**
   * A file with the hash key of the snapshots, which every TaskManager reads; default: the public
   * key.
   */
  public static final ConfigOption<String> HASH_KEY_FILE =
      ConfigOptions.key("firstseen.snapshots.hash-key-file").stringType().noDefaultValue();

  /** How long a task waits for the first snapshot at its start; in [1 ms, 36500 d]. */
  public static final ConfigOption<Duration> WAIT =
      ConfigOptions.key("firstseen.snapshots.wait")
          .durationType()
          .defaultValue(Duration.ofMinutes(1));

  private static final Duration MIN_WAIT = Duration.ofMillis(1);
  private static final Duration MAX_WAIT = Duration.ofDays(36_500);
  private static final long serialVersionUID = 1;

  /**
   * The clients of the job if the job's class loader has loaded this class, or the clients of all
   * jobs in the JVM if Flink's class loader has.
   */
  private static final Map<Followed, Shared> CLIENTS = new HashMap<>();

  /** Null until the function is specialised for a call. */
  private final @Nullable Source source;

  private final long waitMillis;
  private transient @Nullable Shared shared;
  private transient @Nullable SnapshotClient client;

  /** The snapshots that a call follows, by its settings. */
  record Source(String bootstrapServers, String topic, String set, @Nullable String hashKeyFile)
      implements Serializable {

    private KeyHash keyHash() throws IOException {
      return hashKeyFile == null
          ? KeyHash.fixed()
          : KeyHash.fromFile(KeyHashSource.requireNoDirectory(Path.of(hashKeyFile)));
    }
  }

  /** Identifies a client; a different hash key in the same file requires a different client. */
  private record Followed(Source source, KeyHash.Algorithm algorithm, long keyCheck) {
    SnapshotClient start(KeyHash keyHash) {
      return SnapshotClient.start(
          SnapshotClientOptions.builder(source.bootstrapServers, source.set)
              .topic(source.topic)
              .keyHash(keyHash)
              .build());
    }
  }

  /** A client that is shared by several users; each user must release it. */
  static final class Shared {
    private final Followed followed;
    private final SnapshotClient client;
    private int users;

    private Shared(Followed followed, SnapshotClient client) {
      this.followed = followed;
      this.client = client;
    }
  }

  /**
   * Called by Flink: {@code CREATE FUNCTION SNAPSHOT_CONTAINS AS
   * 'io.firstseen.sql.SnapshotContains'}.
   */
  public SnapshotContains() {
    this(null, 0);
  }

  private SnapshotContains(@Nullable Source source, long waitMillis) {
    this.source = source;
    this.waitMillis = waitMillis;
  }

  /**
   * Returns the function for one call.
   *
   * @throws ValidationException if the set is not a literal, or a setting is missing or not valid
   */
  @Override
  public UserDefinedFunction specialize(SpecializedContext context) {
    CallContext call = context.getCallContext();
    if (!call.isArgumentLiteral(0) || call.isArgumentNull(0)) {
      throw new ValidationException("the set of SNAPSHOT_CONTAINS must be a literal");
    }
    String set = call.getArgumentValue(0, String.class).orElseThrow();
    ReadableConfig settings = context.getConfiguration();
    String servers = settings.get(BOOTSTRAP_SERVERS);
    if (servers == null) {
      throw new ValidationException(
          "SNAPSHOT_CONTAINS needs the setting '" + BOOTSTRAP_SERVERS.key() + "'");
    }
    Duration wait;
    try {
      wait = settings.get(WAIT);
    } catch (IllegalArgumentException e) {
      throw new ValidationException(
          "'%s' must be a duration, such as '1 min', got '%s'"
              .formatted(WAIT.key(), settings.toMap().get(WAIT.key())));
    }
    if (wait.compareTo(MIN_WAIT) < 0 || wait.compareTo(MAX_WAIT) > 0) {
      throw new ValidationException(
          "'%s' must be in [1 ms, 36500 d], got %s"
              .formatted(WAIT.key(), TimeUtils.formatWithHighestUnit(wait)));
    }
    try {
      // Rejects invalid brokers and names here instead of on the TaskManagers.
      var unused = SnapshotClientOptions.builder(servers, set).topic(settings.get(TOPIC)).build();
    } catch (IllegalArgumentException e) {
      throw new ValidationException("SNAPSHOT_CONTAINS: " + e.getMessage(), e);
    }
    return new SnapshotContains(
        new Source(servers, settings.get(TOPIC), set, settings.get(HASH_KEY_FILE)),
        wait.toMillis());
  }

  @Override
  public boolean isDeterministic() {
    return false;
  }

  /**
   * Waits for the first snapshot.
   *
   * @throws IOException if the hash key cannot be read now
   * @throws TimeoutException if no snapshot becomes active in time; the message states the reason
   * @throws SuppressRestartsException if a restart cannot help: the file does not contain a hash
   *     key, or the set cannot be used with the hash key or with this version
   */
  @Override
  public void open(FunctionContext context)
      throws IOException, InterruptedException, TimeoutException {
    if (source == null) {
      throw new IllegalStateException("SNAPSHOT_CONTAINS must be called from a query");
    }
    Shared opened;
    try {
      opened = acquire(source);
    } catch (NoSuchFileException | AccessDeniedException | IllegalArgumentException e) {
      String reason =
          e instanceof NoSuchFileException
              ? "there is no such file"
              : e instanceof AccessDeniedException ? "permission denied" : e.getMessage();
      throw permanent(
          "cannot read the hash key at %s on this TaskManager: %s; put the key of set '%s' there"
              .formatted(source.hashKeyFile, reason, source.set));
    }
    try {
      var unused = opened.client.awaitReady(Duration.ofMillis(waitMillis));
    } catch (UnusableSetException e) {
      release(opened);
      throw permanent(
          "%s; '%s' is %s"
              .formatted(
                  e.getMessage(),
                  HASH_KEY_FILE.key(),
                  source.hashKeyFile == null ? "not set" : "'" + source.hashKeyFile + "'"));
    } catch (InterruptedException | TimeoutException | RuntimeException e) {
      release(opened);
      throw e;
    }
    shared = opened;
    client = opened.client;
  }

  /**
   * Returns an exception without a cause, because the SQL client shows only the innermost cause.
   */
  private static SuppressRestartsException permanent(String reason) {
    return new SuppressRestartsException(new ValidationException("SNAPSHOT_CONTAINS: " + reason));
  }

  static Shared acquire(Source source) throws IOException {
    KeyHash keyHash = source.keyHash();
    Followed followed = new Followed(source, keyHash.algorithm(), keyHash.keyCheck());
    synchronized (CLIENTS) {
      Shared shared = CLIENTS.get(followed);
      if (shared == null) {
        shared = new Shared(followed, followed.start(keyHash));
        CLIENTS.put(followed, shared);
      }
      shared.users++;
      return shared;
    }
  }

  static void release(Shared shared) {
    synchronized (CLIENTS) {
      if (--shared.users > 0) {
        return;
      }
      CLIENTS.remove(shared.followed);
    }
    // Closed without the lock, for which other tasks wait, because closing waits for the client's
    // thread.
    shared.client.close();
  }

  /** Returns the sets that this JVM follows; for tests. */
  static int clients() {
    synchronized (CLIENTS) {
      return CLIENTS.size();
    }
  }

  /** Evaluates the function for a key in UTF-8. */
  public @Nullable Boolean eval(
      @DataTypeHint(value = "STRING", bridgedTo = StringData.class) StringData set,
      @DataTypeHint(value = "STRING", bridgedTo = StringData.class) @Nullable StringData key) {
    return key == null ? null : contains(key.toBytes());
  }

  /** Evaluates the function for a key of bytes. */
  public @Nullable Boolean eval(
      @DataTypeHint(value = "STRING", bridgedTo = StringData.class) StringData set,
      byte @Nullable [] key) {
    return key == null ? null : contains(key);
  }

  private @Nullable Boolean contains(byte[] key) {
    try {
      return client.mightContain(null, key);
    } catch (InvalidKeyException e) {
      // NULL, so that neither the condition nor its negation holds.
      return null;
    }
  }

  @Override
  public void close() {
    if (shared != null) {
      Shared released = shared;
      shared = null;
      client = null;
      release(released);
    }
  }
}
