package io.firstseen.sql;

import io.firstseen.consumer.SnapshotClient;
import io.firstseen.consumer.SnapshotClientOptions;
import io.firstseen.filters.key.InvalidKeyException;
import io.firstseen.filters.key.KeyHash;
import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.functions.FunctionContext;
import org.apache.flink.table.functions.ScalarFunction;
import org.apache.flink.table.functions.SpecializedFunction;
import org.apache.flink.table.functions.UserDefinedFunction;
import org.apache.flink.table.types.inference.CallContext;
import org.jspecify.annotations.Nullable;

/**
 * {@code SNAPSHOT_CONTAINS(set, key)}: whether a key is in the current snapshot of a set, as {@link
 * SnapshotClient#mightContain(byte[], byte[])} says. The set is a literal, the key a STRING or
 * BYTES before canonicalisation. NULL for a NULL key; FALSE for a key without a canonical form,
 * which no set holds.
 *
 * <p>Settings of the session say where snapshots are: {@code SET
 * 'firstseen.snapshots.bootstrap-servers' = 'broker:9092'}, {@link #TOPIC}, {@link #HASH_KEY_FILE}
 * and {@link #WAIT}.
 *
 * <p>A task waits at its start for the first snapshot. From then on the last good snapshot answers,
 * however old. The tasks of a job in one JVM share one client for each set, which the last of them
 * closes. The function is not deterministic, as the set changes.
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
   * A file with the hash key of the snapshots, which every TaskManager reads; the public key unless
   * set.
   */
  public static final ConfigOption<String> HASH_KEY_FILE =
      ConfigOptions.key("firstseen.snapshots.hash-key-file").stringType().noDefaultValue();

  /** How long a task waits for the first snapshot at its start; at least 1 ms. */
  public static final ConfigOption<Duration> WAIT =
      ConfigOptions.key("firstseen.snapshots.wait")
          .durationType()
          .defaultValue(Duration.ofMinutes(1));

  private static final long serialVersionUID = 1;

  /** Those of the job: every job has a class loader of its own. */
  private static final Map<Source, Shared> CLIENTS = new HashMap<>();

  /** Null until the function is specialised for a call. */
  private final @Nullable Source source;

  private final long waitMillis;
  private transient @Nullable SnapshotClient client;

  /** What a client follows. */
  private record Source(
      String bootstrapServers, String topic, String set, @Nullable String hashKeyFile)
      implements Serializable {

    SnapshotClient start() throws IOException {
      SnapshotClientOptions.Builder options =
          SnapshotClientOptions.builder(bootstrapServers, set).topic(topic);
      if (hashKeyFile != null) {
        options.keyHash(KeyHash.fromFile(Path.of(hashKeyFile)));
      }
      return SnapshotClient.start(options.build());
    }
  }

  private static final class Shared {
    final SnapshotClient client;
    int users;

    Shared(SnapshotClient client) {
      this.client = client;
    }
  }

  /**
   * For Flink: {@code CREATE FUNCTION SNAPSHOT_CONTAINS AS 'io.firstseen.sql.SnapshotContains'}.
   */
  public SnapshotContains() {
    this(null, 0);
  }

  private SnapshotContains(@Nullable Source source, long waitMillis) {
    this.source = source;
    this.waitMillis = waitMillis;
  }

  /**
   * The function for one call.
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
    Duration wait = settings.get(WAIT);
    if (wait.toMillis() < 1) {
      throw new ValidationException(
          "'%s' must be at least 1 ms, got %d".formatted(WAIT.key(), wait.toMillis()));
    }
    try {
      // Refuses wrong brokers and names here, and not on the TaskManagers.
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
   * @throws IOException if the hash key cannot be read
   * @throws TimeoutException if no snapshot answers in time; the message says why
   */
  @Override
  public void open(FunctionContext context)
      throws IOException, InterruptedException, TimeoutException {
    if (source == null) {
      throw new IllegalStateException("SNAPSHOT_CONTAINS must be called from a query");
    }
    SnapshotClient opened = acquire(source);
    try {
      var unused = opened.awaitReady(Duration.ofMillis(waitMillis));
    } catch (InterruptedException | TimeoutException | RuntimeException e) {
      release(source);
      throw e;
    }
    client = opened;
  }

  private static SnapshotClient acquire(Source source) throws IOException {
    synchronized (CLIENTS) {
      Shared shared = CLIENTS.get(source);
      if (shared == null) {
        shared = new Shared(source.start());
        CLIENTS.put(source, shared);
      }
      shared.users++;
      return shared.client;
    }
  }

  private static void release(Source source) {
    synchronized (CLIENTS) {
      Shared shared = CLIENTS.get(source);
      if (--shared.users == 0) {
        CLIENTS.remove(source);
        shared.client.close();
      }
    }
  }

  /** The sets that this JVM follows; for tests. */
  static int clients() {
    synchronized (CLIENTS) {
      return CLIENTS.size();
    }
  }

  /** For a key in UTF-8; see the class. */
  public @Nullable Boolean eval(
      @DataTypeHint(value = "STRING", bridgedTo = StringData.class) StringData set,
      @DataTypeHint(value = "STRING", bridgedTo = StringData.class) @Nullable StringData key) {
    return key == null ? null : contains(key.toBytes());
  }

  /** For a key of bytes; see the class. */
  public @Nullable Boolean eval(
      @DataTypeHint(value = "STRING", bridgedTo = StringData.class) StringData set,
      byte @Nullable [] key) {
    return key == null ? null : contains(key);
  }

  private boolean contains(byte[] key) {
    try {
      return client.mightContain(null, key);
    } catch (InvalidKeyException e) {
      return false;
    }
  }

  @Override
  public void close() {
    if (client != null) {
      client = null;
      release(source);
    }
  }
}
