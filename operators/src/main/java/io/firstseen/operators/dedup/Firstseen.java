package io.firstseen.operators.dedup;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstseen.filters.cuckoo.CuckooShape;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.operators.ShardKeys;
import io.firstseen.serializers.Change;
import io.firstseen.serializers.ChangeSerializer;
import io.firstseen.serializers.InFlightChangeSerializer;
import io.firstseen.serializers.Rejected;
import io.firstseen.serializers.RejectedSerializer;
import io.firstseen.types.DedupMode;
import io.firstseen.types.DedupParameters;
import io.firstseen.types.Operation;
import io.firstseen.types.TimeToLive;
import java.util.Objects;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.util.OutputTag;

/**
 * Puts a dedup into a job: {@code Firstseen.dedup(clicks).keyText(Click::url).apply()}.
 *
 * <p>An event gets a key, in canonical form and joined with its scope, and the key's 64-bit hash;
 * the hash chooses one of the shards, and the shard's cuckoo filter in managed keyed state decides:
 *
 * <table>
 * <caption>What becomes of an event</caption>
 * <tr><th>event</th><th>key not in the filter</th><th>key in the filter</th></tr>
 * <tr><td>add</td><td>{@link DedupStreams#accepted}, the key lives from now on</td>
 *     <td>{@link DedupStreams#duplicates}, nothing changes</td></tr>
 * <tr><td>delete</td><td>{@link DedupStreams#unknownDeletes}, nothing changes</td>
 *     <td>{@link DedupStreams#accepted}, the key is forgotten</td></tr>
 * <tr><td>no usable key</td><td colspan="2">{@link DedupStreams#deadLetters}</td></tr>
 * </table>
 *
 * <p>What it promises, if only keys that were accepted are deleted:
 *
 * <ul>
 *   <li>No two accepted adds of one live key.
 *   <li>A key seen for the first time is taken for a duplicate with at most the chosen
 *       false-positive rate as long as no more keys are live than the capacity, and by the filter's
 *       law, {@code 2 n / 2^P} at {@code n} live keys, past it. Nothing stops there.
 *   <li>The events of one key that come from one task of the input stay in their order. Event
 *       timestamps and watermarks pass through.
 *   <li>Exactly once through Flink's checkpoints, on heap and RocksDB, at any parallelism up to the
 *       number of shards; a replay decides as the first time.
 * </ul>
 *
 * <p>A delete of a key that was not accepted may take away the key of another: with at most the
 * false-positive rate if that key is any key, for certain if it was dropped as a false duplicate.
 * The other key is then accepted once more when it comes again. New keys are never lost by it.
 *
 * <p>All this is the mode {@link DedupMode#APPROXIMATE}; in the exact ones ({@link #mode}) no key
 * is taken for another.
 *
 * <p>For jobs in streaming mode: one in batch mode, which would sort the events, fails at its start
 * with a sentence that says so, and so does one with a changelog over the heap backend.
 *
 * <p>The canonicaliser, the hash and its key, the number of shards, the mode, and whether there is
 * a ttl are fixed for the life of the state: a job that differs in them fails at its start, for
 * good, with a sentence that names them. Capacity and rate are those with which the state was first
 * written; later values change nothing.
 *
 * <p>In Flink's test harness: {@code apply().accepted().getTransformation()} is a {@code
 * OneInputTransformation} that has the operator's factory, its key selector and, for {@code setup},
 * its output type: all that a {@code KeyedOneInputStreamOperatorTestHarness} asks for. Events are
 * decided on sixteen at a time, or as soon as processing time has gone on by 5 ms, or before a
 * watermark passes; before {@code snapshot}, {@code prepareSnapshotPreBarrier} is to be called, as
 * Flink does, or the operator refuses.
 *
 * <p>A null argument is refused at once, a number out of its bounds by {@link #apply}. An exception
 * from an extractor fails the job, as in any function of Flink. This object is a description on the
 * side of the client; it is used once, by one thread.
 *
 * @param <T> type of the events; any that Flink has a serializer for
 */
public final class Firstseen<T> {
  /** Shards unless {@link #shards} says otherwise. */
  public static final int DEFAULT_SHARDS = 128;

  /** Live keys expected unless {@link #capacity} says otherwise. */
  public static final long DEFAULT_CAPACITY = 1_000_000;

  /** Rate unless {@link #falsePositiveRate} says otherwise. */
  public static final double DEFAULT_FALSE_POSITIVE_RATE = 0.001;

  /** One hash in so many that {@link #audit()} looks at. */
  public static final int DEFAULT_AUDIT_SLICES = 1024;

  /** One hash in so many that {@link #audit(int)} looks at, at the fewest. */
  public static final int MAX_AUDIT_SLICES = 1 << 20;

  /** Bytes of cached pages a task unless {@link #pageCacheBytes} says otherwise. */
  public static final long DEFAULT_PAGE_CACHE_BYTES = 64L << 20;

  /** Most shards: as many as Flink has key groups at most. */
  public static final int MAX_SHARDS = 1 << 15;

  private final DataStream<T> events;
  private Extractor<T, byte[]> key;
  private Extractor<T, Operation> operation = event -> Operation.ADD;
  private Extractor<T, byte[]> scope = event -> null;
  private Canonicaliser canonicaliser = Canonicaliser.NONE;
  private KeyHash hash = KeyHash.fixed();
  private long capacity = DEFAULT_CAPACITY;
  private double falsePositiveRate = DEFAULT_FALSE_POSITIVE_RATE;
  private int shards = DEFAULT_SHARDS;
  private DedupMode mode = DedupMode.APPROXIMATE;
  private TimeToLive ttl;
  private int auditSlices;
  private long pageCacheBytes = DEFAULT_PAGE_CACHE_BYTES;
  private String uidPrefix = "firstseen";

  private Firstseen(DataStream<T> events) {
    this.events = events;
  }

  /**
   * Starts to describe a dedup of a stream.
   *
   * @param events events of any origin, bounded or not; best with object reuse enabled and generic
   *     types disabled
   * @param <T> type of the events
   */
  public static <T> Firstseen<T> dedup(DataStream<T> events) {
    return new Firstseen<>(Objects.requireNonNull(events, "events"));
  }

  /**
   * Starts to describe a dedup for its {@link #parameters} alone; it cannot be applied.
   *
   * @param <T> type of the events
   */
  public static <T> Firstseen<T> withoutEvents() {
    return new Firstseen<>(null);
  }

  /**
   * Where an event's key is; this or {@link #keyText} must be called.
   *
   * <p>An event is a dead letter if its key is null, empty, longer than {@link
   * io.firstseen.filters.key.Keys#MAX_KEY_BYTES} bytes as it comes or in its canonical form, or
   * refused by the canonicaliser. The array is not changed. An extractor that gives an array of the
   * event itself is the fastest: such a key does not cross the network a second time.
   */
  public Firstseen<T> key(Extractor<T, byte[]> newKey) {
    key = Objects.requireNonNull(newKey, "key");
    return this;
  }

  /**
   * Where an event's key is, if it is a text; its UTF-8 bytes are the key. Half a surrogate pair
   * counts as a question mark, as {@link String#getBytes(java.nio.charset.Charset)} has it.
   */
  public Firstseen<T> keyText(Extractor<T, String> text) {
    Objects.requireNonNull(text, "text");
    return key(
        event -> {
          String value = text.extract(event);
          return value == null ? null : value.getBytes(UTF_8);
        });
  }

  /**
   * What an event does with its key; every event adds unless this says otherwise. An event for
   * which it is null is a dead letter.
   */
  public Firstseen<T> operation(Extractor<T, Operation> newOperation) {
    operation = Objects.requireNonNull(newOperation, "operation");
    return this;
  }

  /**
   * The scope (tenant) of an event's key, null or empty for none; equal keys of two scopes differ.
   * Scopes share the filters and the capacity. An event is a dead letter if its scope is longer
   * than {@link io.firstseen.filters.key.Keys#MAX_KEY_BYTES} bytes.
   */
  public Firstseen<T> scope(Extractor<T, byte[]> newScope) {
    scope = Objects.requireNonNull(newScope, "scope");
    return this;
  }

  /**
   * How keys are brought into canonical form; {@link Canonicaliser#NONE}, which takes them as they
   * are, unless this says otherwise. Fixed for the life of the state.
   */
  public Firstseen<T> canonicaliser(Canonicaliser newCanonicaliser) {
    canonicaliser = Objects.requireNonNull(newCanonicaliser, "canonicaliser");
    return this;
  }

  /**
   * The keyed hash; unless this is called, {@link KeyHash#fixed}, a key that everybody knows. Who
   * knows the key can find keys that pass for duplicates of others, or whose deletion takes others
   * away: use a secret one where input is hostile. Fixed for the life of the state.
   */
  public Firstseen<T> hash(KeyHash newHash) {
    hash = Objects.requireNonNull(newHash, "hash");
    return this;
  }

  /**
   * Live keys expected, over all shards and scopes, at least 1; {@value #DEFAULT_CAPACITY} unless
   * this says otherwise. More are no error: the rate follows the filter's law. Nothing is allocated
   * for it: filters grow with their keys.
   */
  public Firstseen<T> capacity(long newCapacity) {
    capacity = newCapacity;
    return this;
  }

  /**
   * Highest rate of false positives at capacity, in (0, 0.1]; {@value #DEFAULT_FALSE_POSITIVE_RATE}
   * unless this says otherwise. A tenth of it costs 3.3 bits a key.
   */
  public Firstseen<T> falsePositiveRate(double rate) {
    falsePositiveRate = rate;
    return this;
  }

  /**
   * Number of filters, a power of two in [1, {@value #MAX_SHARDS}], {@value #DEFAULT_SHARDS} unless
   * this says otherwise, fixed for the life of the state. Also the highest parallelism that the
   * dedup can be scaled to.
   */
  public Firstseen<T> shards(int newShards) {
    shards = newShards;
    return this;
  }

  /**
   * Whether the filters decide alone, as they do unless this says otherwise, or stand in front of
   * the exact set of live keys. Fixed for the life of the state.
   *
   * <p>In an exact mode every live key takes an entry in state besides; no key is dropped or
   * forgotten for another's sake, and a delete of a key that was not accepted is always an unknown
   * one. The false-positive rate is then the share of new keys that cost a look at the set for
   * nothing.
   */
  public Firstseen<T> mode(DedupMode newMode) {
    mode = Objects.requireNonNull(newMode, "mode");
    return this;
  }

  /** Audits one hash in {@value #DEFAULT_AUDIT_SLICES}; see {@link #audit(int)}. */
  public Firstseen<T> audit() {
    return audit(DEFAULT_AUDIT_SLICES);
  }

  /**
   * Keeps the exact set of the live keys' hashes for one hash in so many, and counts which keys the
   * filter drops there though they are new: metrics give the measured false-positive rate with its
   * confidence interval, {@link DedupStreams#falselyDropped} the events. Off unless this is called.
   *
   * <p>Costs a read and a write of state for one event in so many, and an entry for one live key in
   * so many. The more keys come the fewer it takes: an interval of a tenth of the rate to either
   * side wants some 700 false positives, 700 / rate audited new keys.
   *
   * <p>State decides: the slice is the one with which the state was first written, and state
   * written without an audit goes on without, as nobody knows which of its keys were dropped. An
   * exact mode has no audit, for it drops nothing.
   *
   * @param slices one hash in so many, in [1, {@value #MAX_AUDIT_SLICES}]; 0 for no audit
   */
  public Firstseen<T> audit(int slices) {
    auditSlices = slices;
    return this;
  }

  /**
   * When keys are forgotten; never, unless this says otherwise. A key that is forgotten is accepted
   * again when it comes again; nothing is emitted when it is forgotten.
   *
   * <p>A key is forgotten no earlier than the ttl after its time, and no later than an eighth of it
   * after that. By {@link TimeToLive.Clock#EVENT} its time is its event's timestamp, or the
   * watermark where that is later, and it is forgotten when the watermark has come so far: so
   * events need timestamps, and no event that is not late meets a key forgotten too early. Without
   * watermarks nothing is forgotten. A key may stay longer where its timestamp is more than a
   * quarter of the ttl ahead of the watermark. The last watermark of a bounded input forgets
   * nothing. By {@link TimeToLive.Clock#PROCESSING} its time is when it came.
   *
   * <p>The length may change at any restart, for the keys that are there too: each is then kept for
   * the new one, and at most five eighths of the longest one since it came longer. What was
   * forgotten before stays so. Whether there is a ttl, its clock and its since are fixed for the
   * life of the state.
   *
   * <p>Takes about 4.1 bits a key more, and 4.5 at most where filters are as full as they usually
   * are.
   */
  public Firstseen<T> ttl(TimeToLive newTtl) {
    ttl = Objects.requireNonNull(newTtl, "ttl");
    return this;
  }

  /**
   * Bytes of pages that a task keeps on the heap on state backends that keep state elsewhere, as
   * RocksDB does; 0 or more, 64 MiB unless this says otherwise. The heap backend needs none. A
   * changed page is written to state when it leaves this cache, and before each checkpoint. May be
   * changed at any restart.
   */
  public Firstseen<T> pageCacheBytes(long newPageCacheBytes) {
    pageCacheBytes = newPageCacheBytes;
    return this;
  }

  /**
   * Start of the operators' uids and names, {@code firstseen} unless this says otherwise; needed if
   * a job has more than one dedup. State is found again by it.
   */
  public Firstseen<T> uidPrefix(String newUidPrefix) {
    uidPrefix = Objects.requireNonNull(newUidPrefix, "uidPrefix");
    return this;
  }

  /**
   * What state of this dedup is built with.
   *
   * @throws IllegalArgumentException as {@link #apply}
   */
  public DedupParameters parameters() {
    if (shards > MAX_SHARDS) {
      throw new IllegalArgumentException(
          "shards must be a power of two in [1, " + MAX_SHARDS + "], got " + shards);
    }
    Shards byHash = new Shards(shards);
    if (capacity < 1) {
      throw new IllegalArgumentException("capacity must be at least 1, got " + capacity);
    }
    if (pageCacheBytes < 0) {
      throw new IllegalArgumentException(
          "pageCacheBytes must be at least 0, got " + pageCacheBytes);
    }
    if (auditSlices < 0 || auditSlices > MAX_AUDIT_SLICES) {
      throw new IllegalArgumentException(
          "audit must be in [0, " + MAX_AUDIT_SLICES + "], got " + auditSlices);
    }
    long keysOfShard = (capacity - 1) / shards + 1;
    int mostBits = Math.min(CuckooShape.MAX_IDENTITY_BITS, Long.SIZE - byHash.bits());
    if (falsePositiveRate > 0 && 2 * keysOfShard / falsePositiveRate > Math.scalb(1.0, mostBits)) {
      throw new IllegalArgumentException(
          "capacity / shards / falsePositiveRate must be at most 2^%d, got %d / %d / %s"
              .formatted(mostBits - 1, capacity, shards, falsePositiveRate));
    }
    CuckooShape shape = CuckooShape.forCapacity(keysOfShard, falsePositiveRate);
    return new DedupParameters(
        shape.identityBits(),
        shards,
        hash.algorithm().id(),
        hash.keyCheck(),
        canonicaliser.id(),
        canonicaliser.version(),
        mode,
        ttl,
        auditSlices);
  }

  /**
   * Adds the operators to the job: {@code <prefix>-identify}, as parallel as the input, and {@code
   * <prefix>-dedup}, as parallel as the environment says. The latter decides on a few events
   * together: each waits for others, for {@value EventBatch#MAX_MILLIS} ms at most.
   *
   * @throws IllegalArgumentException if a parameter is out of its bounds, or the capacity of a
   *     shard and the rate together ask for identities longer than the filters have
   * @throws NullPointerException if neither {@link #key} nor {@link #keyText} was called
   */
  public DedupStreams<T> apply() {
    Objects.requireNonNull(key, "key must be set");
    DedupParameters parameters = parameters();
    TypeInformation<T> eventType = events.getType();
    TypeInformation<Change<T>> changeType = ChangeSerializer.info(eventType);
    OutputTag<Rejected<T>> rejectedTag =
        new OutputTag<>("rejected", RejectedSerializer.info(eventType));
    OutputTag<Change<T>> duplicatesTag = new OutputTag<>("duplicates", changeType);
    OutputTag<Change<T>> unknownDeletesTag = new OutputTag<>("unknown-deletes", changeType);

    OutputTag<Change<T>> falselyDroppedTag = new OutputTag<>("falsely-dropped", changeType);

    SingleOutputStreamOperator<Change<T>> identified =
        events
            .process(
                new IdentifyFunction<>(key, operation, scope, canonicaliser, hash, rejectedTag),
                InFlightChangeSerializer.info(eventType, key::extract))
            // As many tasks as feed it: Flink would spread a single source's events over several,
            // and two events of one key would race each other.
            .setParallelism(events.getParallelism())
            .name(uidPrefix + "-identify")
            .uid(uidPrefix + "-identify");
    SingleOutputStreamOperator<Change<T>> accepted =
        identified
            .keyBy(Firstseen.<T>shardKeys(shards), Types.INT)
            .transform(
                uidPrefix + "-dedup",
                changeType,
                new DedupOperator<>(
                    parameters,
                    falsePositiveRate,
                    pageCacheBytes,
                    duplicatesTag,
                    unknownDeletesTag,
                    falselyDroppedTag))
            .setMaxParallelism(shards)
            .uid(dedupUid(uidPrefix));
    return new DedupStreams<>(
        accepted,
        accepted.getSideOutput(duplicatesTag),
        accepted.getSideOutput(unknownDeletesTag),
        identified.getSideOutput(rejectedTag),
        accepted.getSideOutput(falselyDroppedTag));
  }

  /** The uid of the operator that has the state. */
  static String dedupUid(String uidPrefix) {
    return uidPrefix + "-dedup";
  }

  /** Flink's key of a change: that of its shard. */
  static <T> KeySelector<Change<T>, Integer> shardKeys(int shards) {
    return new ShardKeySelector<>(new Shards(shards), ShardKeys.of(shards, shards));
  }

  private static final class ShardKeySelector<T> implements KeySelector<Change<T>, Integer> {
    private static final long serialVersionUID = 1;

    private final Shards shards;
    private final ShardKeys keys;

    ShardKeySelector(Shards shards, ShardKeys keys) {
      this.shards = shards;
      this.keys = keys;
    }

    @Override
    public Integer getKey(Change<T> change) {
      return keys.keyOf(shards.shardOf(change.hash()));
    }
  }
}
