package io.firstseen.sql;

import io.firstseen.consumer.SnapshotClient;
import io.firstseen.consumer.SnapshotClientOptions;
import io.firstseen.consumer.UnusableSetException;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.TrustedKey;
import io.firstseen.operators.KeyHashSource;
import java.io.IOException;
import java.io.Serializable;
import java.net.URI;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeoutException;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.functions.FunctionContext;
import org.apache.flink.table.functions.ScalarFunction;
import org.apache.flink.table.functions.SpecializedFunction;
import org.apache.flink.table.functions.UserDefinedFunction;
import org.apache.flink.table.types.inference.CallContext;
import org.apache.flink.util.TemporaryClassLoaderContext;
import org.apache.flink.util.TimeUtils;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;

/**
 * A function that queries the snapshots of sets, which literal arguments name. Session settings
 * configure the snapshots: {@code SET 'firstseen.snapshots.bootstrap-servers' = 'broker:9092'} and
 * the other options of this class. Settings that begin with {@link #PROPERTIES} configure the Kafka
 * clients.
 *
 * <p>A task waits for the first snapshot of each set when it starts. From then on, calls use the
 * last valid snapshot, regardless of its age. The tasks of a job in one JVM share one client per
 * set, which the last task closes. If the classes are in Flink's {@code lib/}, the tasks of all
 * jobs with equal settings and hash key share a client. The functions are not deterministic, as
 * sets change.
 */
public abstract class SnapshotFunction extends ScalarFunction implements SpecializedFunction {
  public static final ConfigOption<String> BOOTSTRAP_SERVERS =
      ConfigOptions.key("firstseen.snapshots.bootstrap-servers")
          .stringType()
          .noDefaultValue()
          .withDescription("Brokers, `host:port` separated by commas. Required.");

  public static final ConfigOption<String> TOPIC =
      ConfigOptions.key("firstseen.snapshots.topic")
          .stringType()
          .defaultValue(SnapshotClientOptions.DEFAULT_TOPIC)
          .withDescription("Snapshots topic.");

  public static final ConfigOption<String> HASH_KEY_FILE =
      ConfigOptions.key("firstseen.snapshots.hash-key-file")
          .stringType()
          .noDefaultValue()
          .withDescription(
              "File with the hash key of the snapshots, which every TaskManager reads. Default: the"
                  + " public key.");

  public static final ConfigOption<Duration> WAIT =
      ConfigOptions.key("firstseen.snapshots.wait")
          .durationType()
          .defaultValue(Duration.ofMinutes(1))
          .withDescription(
              "Time that a task waits at its start for the first snapshot, from 1 ms to 36500 d."
                  + " Then the task fails, and Flink restarts the job.");

  public static final ConfigOption<List<String>> PUBLIC_KEY =
      ConfigOptions.key("firstseen.snapshots.public-key")
          .stringType()
          .asList()
          .noDefaultValue()
          .withDescription(
              "Files with public Ed25519 keys in PEM format, separated by semicolons, which every"
                  + " TaskManager reads. Manifests without a"
                  + " [signature](secure-sets.md#sign-manifests) by one of them are rejected."
                  + " Default: signatures are not checked.");

  public static final ConfigOption<String> BLOBS =
      ConfigOptions.key("firstseen.snapshots.blobs")
          .stringType()
          .noDefaultValue()
          .withDescription(
              "URI of the [directory of blobs](blobs.md), with `file:`, `http:` or `https:`.");

  /** The prefix of settings of the Kafka clients. */
  public static final String PROPERTIES = "firstseen.snapshots.properties.";

  private static final Duration MIN_WAIT = Duration.ofMillis(1);
  private static final Duration MAX_WAIT = Duration.ofDays(36_500);
  private static final long serialVersionUID = 2;

  /**
   * The clients of the job if the job's class loader has loaded this class, or the clients of all
   * jobs in the JVM if Flink's class loader has.
   */
  private static final Map<Followed, Shared> CLIENTS = new HashMap<>();

  /** Empty until the function is specialised for a call. */
  private final List<Source> sources;

  private final long waitMillis;
  private transient List<Shared> shared = new ArrayList<>();

  /** The snapshots that a call follows, by its settings. */
  record Source(
      String bootstrapServers,
      String topic,
      String set,
      Map<String, String> properties,
      @Nullable String blobs,
      @Nullable String hashKeyFile,
      List<String> publicKeys)
      implements Serializable {

    KeyHash keyHash() throws IOException {
      return hashKeyFile == null
          ? KeyHash.fixed()
          : KeyHash.fromFile(KeyHashSource.requireNoDirectory(Path.of(hashKeyFile)));
    }

    /** Checks the settings, except for files that only TaskManagers read. */
    private SnapshotClientOptions.Builder client() {
      SnapshotClientOptions.Builder options =
          SnapshotClientOptions.builder(bootstrapServers, set)
              .topic(topic)
              .kafkaProperties(properties);
      return blobs == null ? options : options.blobDirectory(URI.create(blobs));
    }
  }

  /** Identifies a client; a different hash key in the same file requires a different client. */
  private record Followed(
      Source source, KeyHash.Algorithm algorithm, long keyCheck, List<TrustedKey> trusted) {}

  /** A client that is shared by several users; each user must release it. */
  static final class Shared {
    private final Followed followed;
    final SnapshotClient client;
    private int users;

    private Shared(Followed followed, SnapshotClient client) {
      this.followed = followed;
      this.client = client;
    }
  }

  SnapshotFunction(List<Source> sources, Duration wait) {
    this.sources = sources;
    this.waitMillis = wait.toMillis();
  }

  abstract String sqlName();

  /** Returns the function for one call. */
  abstract SnapshotFunction specialized(List<Source> sources, Duration wait, CallContext call);

  /** Returns the names of the sets of a call: by default, of the set in the first argument. */
  List<String> sets(CallContext call) {
    return List.of(literal(call, 0, "set"));
  }

  final String literal(CallContext call, int index, String subject) {
    if (!call.isArgumentLiteral(index) || call.isArgumentNull(index)) {
      throw new ValidationException("the %s of %s must be a literal".formatted(subject, sqlName()));
    }
    return call.getArgumentValue(index, String.class).orElseThrow();
  }

  /**
   * Returns the function for one call.
   *
   * @throws ValidationException if a set is not a literal, or a setting is missing or not valid
   */
  @Override
  public final UserDefinedFunction specialize(SpecializedContext context) {
    List<String> sets = sets(context.getCallContext());
    ReadableConfig settings = context.getConfiguration();
    String servers = settings.get(BOOTSTRAP_SERVERS);
    if (servers == null) {
      throw new ValidationException(
          "%s needs the setting '%s'".formatted(sqlName(), BOOTSTRAP_SERVERS.key()));
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
    TreeMap<String, String> properties = new TreeMap<>();
    settings
        .toMap()
        .forEach(
            (key, value) -> {
              if (key.startsWith(PROPERTIES)) {
                properties.put(key.substring(PROPERTIES.length()), value);
              }
            });
    List<Source> followed = new ArrayList<>();
    for (String set : sets) {
      Source source =
          new Source(
              servers,
              settings.get(TOPIC),
              set,
              properties,
              settings.get(BLOBS),
              settings.get(HASH_KEY_FILE),
              settings.getOptional(PUBLIC_KEY).map(ArrayList::new).orElseGet(ArrayList::new));
      // Kafka loads classes by name with the loader of the thread, which does not have the classes
      // of a jar that was added to the session.
      var loader = TemporaryClassLoaderContext.of(SnapshotFunction.class.getClassLoader());
      try {
        // Rejects invalid brokers, names and properties here instead of on the TaskManagers.
        var unused = source.client().build();
        Map<String, Object> consumer = new HashMap<>(properties);
        consumer.put(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, servers);
        consumer.put(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
        consumer.put(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
        var unusedToo = new ConsumerConfig(consumer);
      } catch (IllegalArgumentException | ConfigException e) {
        throw new ValidationException(sqlName() + ": " + e.getMessage(), e);
      } finally {
        loader.close();
      }
      followed.add(source);
    }
    return specialized(followed, wait, context.getCallContext());
  }

  @Override
  public boolean isDeterministic() {
    return false;
  }

  /**
   * Waits for the first snapshot of each set.
   *
   * @throws IOException if a key file cannot be read now
   * @throws TimeoutException if no snapshot becomes active in time; the message states the reason
   * @throws SuppressRestartsException if a restart cannot help: a file does not contain a key, or a
   *     set cannot be used with the hash key, with this version or by this function
   */
  @Override
  public void open(FunctionContext context)
      throws IOException, InterruptedException, TimeoutException {
    if (sources.isEmpty()) {
      throw new IllegalStateException(sqlName() + " must be called from a query");
    }
    shared = new ArrayList<>();
    try {
      for (Source source : sources) {
        shared.add(follow(source));
      }
      requireUsable();
    } catch (IllegalArgumentException e) {
      close();
      throw permanent(e.getMessage());
    } catch (IOException | InterruptedException | TimeoutException | RuntimeException e) {
      close();
      throw e;
    }
  }

  /**
   * Checks that the function can query the sets.
   *
   * @throws IllegalArgumentException if a set is of another kind
   */
  void requireUsable() {}

  private Shared follow(Source source) throws IOException, InterruptedException, TimeoutException {
    Shared opened = open(source);
    try {
      var unused = opened.client.awaitReady(Duration.ofMillis(waitMillis));
      return opened;
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
  }

  private Shared open(Source source) throws IOException {
    KeyHash keyHash;
    try {
      keyHash = source.keyHash();
    } catch (NoSuchFileException | AccessDeniedException | IllegalArgumentException e) {
      throw permanent(
          "cannot read the hash key at %s on this TaskManager: %s; put the key of set '%s' there"
              .formatted(source.hashKeyFile, reason(e), source.set));
    }
    List<TrustedKey> trusted = new ArrayList<>();
    for (String file : source.publicKeys) {
      try {
        trusted.add(TrustedKey.read(Path.of(file)));
      } catch (NoSuchFileException | AccessDeniedException | IllegalArgumentException e) {
        throw permanent(
            "cannot read the public key at %s on this TaskManager: %s; put the key of the publisher there"
                .formatted(file, reason(e)));
      }
    }
    return acquire(source, keyHash, trusted);
  }

  private static String reason(Exception e) {
    return e instanceof NoSuchFileException
        ? "there is no such file"
        : e instanceof AccessDeniedException ? "permission denied" : e.getMessage();
  }

  /**
   * Returns an exception without a cause, because the SQL client shows only the innermost cause.
   */
  private SuppressRestartsException permanent(String reason) {
    return new SuppressRestartsException(new ValidationException(sqlName() + ": " + reason));
  }

  static Shared acquire(Source source, KeyHash keyHash, List<TrustedKey> trusted) {
    Followed followed = new Followed(source, keyHash.algorithm(), keyHash.keyCheck(), trusted);
    synchronized (CLIENTS) {
      Shared shared =
          CLIENTS.computeIfAbsent(
              followed,
              key ->
                  new Shared(
                      key,
                      SnapshotClient.start(
                          source.client().keyHash(keyHash).trustedKeys(trusted).build())));
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

  /** Returns the number of sets that this JVM follows; for tests. */
  static int clients() {
    synchronized (CLIENTS) {
      return CLIENTS.size();
    }
  }

  static byte @Nullable [] bytes(@Nullable StringData text) {
    return text == null ? null : text.toBytes();
  }

  final int sets() {
    return sources.size();
  }

  /** Returns the client of the set with this index in {@link #sets(CallContext)}. */
  final SnapshotClient client(int index) {
    return shared.get(index).client;
  }

  @Override
  public void close() {
    // Not opened if the task was cancelled before.
    if (shared != null) {
      shared.forEach(SnapshotFunction::release);
      shared = new ArrayList<>();
    }
  }
}
