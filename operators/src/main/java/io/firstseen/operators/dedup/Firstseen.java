package io.firstseen.operators.dedup;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstseen.filters.cuckoo.CuckooShape;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.operators.KeyHashSource;
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
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.apache.flink.api.common.ExecutionConfig;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.DataStreamUtils;
import org.apache.flink.streaming.api.datastream.KeyedStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.transformations.OneInputTransformation;
import org.apache.flink.streaming.api.transformations.SideOutputTransformation;
import org.apache.flink.streaming.api.transformations.TimestampsAndWatermarksTransformation;
import org.apache.flink.streaming.api.transformations.UnionTransformation;
import org.apache.flink.util.OutputTag;

/**
 * Adds a dedup to a job: {@code Firstseen.dedup(clicks).keyText(Click::url).apply()}.
 *
 * <p>Each event has a key, which is brought into canonical form, joined with its scope, and hashed
 * to 64 bits. The hash selects a shard. The shard's cuckoo filter, which is managed keyed state,
 * decides:
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
 * <p>Guarantees, if only accepted keys are deleted:
 *
 * <ul>
 *   <li>No two accepted adds of one live key.
 *   <li>A key seen for the first time is taken for a duplicate with at most the chosen
 *       false-positive rate as long as there are no more live keys than the capacity. Beyond it the
 *       filter goes on, and the rate is {@code 2 n / 2^P} at {@code n} live keys.
 *   <li>The events of one key that come from one task of the input stay in their order. Event
 *       timestamps and watermarks pass through.
 *   <li>Exactly once through Flink's checkpoints, on heap and RocksDB, at any parallelism up to the
 *       number of shards. A replay has the same result.
 * </ul>
 *
 * <p>A delete of a key that was not accepted may remove another key with the same fingerprint: with
 * a probability of at most the false-positive rate for an arbitrary key, and certainly for a key
 * that was dropped as a false duplicate. The other key is then accepted once more when it arrives
 * again. No new key is lost by this.
 *
 * <p>This describes the mode {@link DedupMode#APPROXIMATE}. In the exact modes ({@link #mode}) no
 * key is taken for another.
 *
 * <p>The job must run in streaming mode. A job in batch mode, which would sort the events, fails at
 * its start with an error that says so; so does a job that uses Flink's changelog over the heap
 * backend.
 *
 * <p>The canonicaliser, the hash and its key, the number of shards, the mode, and whether there is
 * a ttl are fixed for the life of the state. A job with other values fails at its start without
 * restarts, with an error that names them. The capacity and the rate are those with which the state
 * was first written; later values have no effect.
 *
 * <p>In Flink's test harness: {@code apply().accepted().getTransformation()} is a {@code
 * OneInputTransformation} that has the operator's factory, its key selector and, for {@code setup},
 * its output type: which is all that a {@code KeyedOneInputStreamOperatorTestHarness} needs. Events
 * are decided on in batches of sixteen, or after 5 ms of processing time, or before a watermark
 * passes. Call {@code prepareSnapshotPreBarrier} before {@code snapshot}, as Flink does; otherwise
 * the operator refuses the snapshot.
 *
 * <p>A null argument is refused at once, a number out of bounds by {@link #apply}. An exception
 * from an extractor fails the job, as in any function of Flink. This object is a description on the
 * client; it is used once, by one thread.
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

  /** {@link #audit()} checks one hash in this many. */
  public static final int DEFAULT_AUDIT_SLICES = 1024;

  /** {@link #audit(int)} checks at least one hash in this many. */
  public static final int MAX_AUDIT_SLICES = 1 << 20;

  /** Bytes of cached pages in each task unless {@link #pageCacheBytes} says otherwise. */
  public static final long DEFAULT_PAGE_CACHE_BYTES = 64L << 20;

  /** The most shards: Flink's highest number of key groups. */
  public static final int MAX_SHARDS = 1 << 15;

  private final DataStream<T> events;
  private Extractor<T, String> problem = event -> null;
  private Extractor<T, byte[]> key;
  private Extractor<T, Operation> operation = event -> Operation.ADD;
  private boolean hasOperations;
  private Extractor<T, byte[]> scope = event -> null;
  private Canonicaliser canonicaliser = Canonicaliser.NONE;
  private KeyHashSource hash = KeyHashSource.inJob(KeyHash.fixed());
  private long capacity = DEFAULT_CAPACITY;
  private double falsePositiveRate = DEFAULT_FALSE_POSITIVE_RATE;
  private int shards = DEFAULT_SHARDS;
  private DedupMode mode = DedupMode.APPROXIMATE;
  private TimeToLive ttl;
  private int auditSlices;
  private long pageCacheBytes = DEFAULT_PAGE_CACHE_BYTES;
  private String uidPrefix = "firstseen";
  private boolean inTaskOfInput;

  private Firstseen(DataStream<T> events) {
    this.events = events;
  }

  /**
   * Starts to describe a dedup of a stream.
   *
   * @param events events from any source, bounded or not; best with object reuse enabled and
   *     generic types disabled
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
   * Sets how to recognise an event that cannot be used: the extractor returns the reason, with
   * which the event becomes a dead letter, or null if the event can be used. Unless this is called,
   * only key, scope and operation decide.
   *
   * @param newProblem asked first, once for each event; may be a {@link
   *     org.apache.flink.api.common.functions.RichFunction}, of which only {@code open} is called
   */
  public Firstseen<T> problem(Extractor<T, String> newProblem) {
    problem = Objects.requireNonNull(newProblem, "problem");
    return this;
  }

  /**
   * Sets how to extract an event's key. Either this or {@link #keyText} must be called.
   *
   * <p>An event is a dead letter if its key is null, empty, longer than {@link
   * io.firstseen.filters.key.Keys#MAX_KEY_BYTES} bytes before or after canonicalisation, or refused
   * by the canonicaliser. The array is not changed. An extractor that returns an array of the event
   * itself is the fastest: such a key is not sent over the network a second time.
   */
  public Firstseen<T> key(Extractor<T, byte[]> newKey) {
    key = Objects.requireNonNull(newKey, "key");
    return this;
  }

  /**
   * Sets how to extract an event's key if it is a text; its UTF-8 bytes are the key. An unpaired
   * surrogate becomes a question mark, as in {@link String#getBytes(java.nio.charset.Charset)}.
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
   * Sets how to extract an event's operation; unless this is called, every event is an add. An
   * event with a null operation is a dead letter.
   */
  public Firstseen<T> operation(Extractor<T, Operation> newOperation) {
    operation = Objects.requireNonNull(newOperation, "operation");
    hasOperations = true;
    return this;
  }

  /**
   * Sets how to extract the scope (tenant) of an event's key, null or empty for none. Equal keys of
   * two scopes are different keys. Scopes share the filters and the capacity. An event is a dead
   * letter if its scope is longer than {@link io.firstseen.filters.key.Keys#MAX_KEY_BYTES} bytes.
   */
  public Firstseen<T> scope(Extractor<T, byte[]> newScope) {
    scope = Objects.requireNonNull(newScope, "scope");
    return this;
  }

  /**
   * Sets how keys are brought into canonical form; {@link Canonicaliser#NONE}, which leaves them
   * unchanged, unless this is called. Fixed for the life of the state.
   */
  public Firstseen<T> canonicaliser(Canonicaliser newCanonicaliser) {
    canonicaliser = Objects.requireNonNull(newCanonicaliser, "canonicaliser");
    return this;
  }

  /**
   * Sets the keyed hash; {@link KeyHash#fixed}, whose hash key is public, unless this is called.
   * Anyone who knows the hash key can construct keys that are taken for duplicates of other keys,
   * or whose deletion removes other keys. Use a secret hash key if senders may be hostile. Fixed
   * for the life of the state.
   *
   * <p>The hash key goes with the job, so whoever can read Flink's files of the job has it: those
   * for high availability, and the blobs of the cluster. {@link #hash(KeyHashSource)} keeps it out.
   */
  public Firstseen<T> hash(KeyHash newHash) {
    return hash(KeyHashSource.inJob(newHash));
  }

  /**
   * Sets the keyed hash as {@link #hash(KeyHash)} does; {@link KeyHashSource#onWorkers} has its
   * tasks read the hash key.
   */
  public Firstseen<T> hash(KeyHashSource newHash) {
    hash = Objects.requireNonNull(newHash, "hash");
    return this;
  }

  /**
   * Sets the expected number of live keys, over all shards and scopes, at least 1; {@value
   * #DEFAULT_CAPACITY} unless this is called. More keys are not an error; they raise the
   * false-positive rate in proportion. No memory is reserved for it: filters grow with their keys.
   */
  public Firstseen<T> capacity(long newCapacity) {
    capacity = newCapacity;
    return this;
  }

  /**
   * Sets the highest false-positive rate at capacity, in (0, 0.1]; {@value
   * #DEFAULT_FALSE_POSITIVE_RATE} unless this is called. A rate ten times lower costs 3.3 more bits
   * for each key.
   */
  public Firstseen<T> falsePositiveRate(double rate) {
    falsePositiveRate = rate;
    return this;
  }

  /**
   * Sets the number of shards, each with a filter of its own: a power of two in [1, {@value
   * #MAX_SHARDS}], {@value #DEFAULT_SHARDS} unless this is called. It is also the dedup's highest
   * parallelism. Fixed for the life of the state.
   */
  public Firstseen<T> shards(int newShards) {
    shards = newShards;
    return this;
  }

  /**
   * Sets whether only the filters decide, which is the default, or an exact set of the live keys
   * behind them. Fixed for the life of the state.
   *
   * <p>In an exact mode every live key also has an entry in state. No key is dropped or forgotten
   * because of another, and a delete of a key that was not accepted is always an unknown delete.
   * The false-positive rate is then the share of new keys that cost an unnecessary look-up in the
   * set.
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
   * Keeps the exact set of the live keys' hashes for one hash in N, and counts the new keys that
   * the filter drops among them. Metrics show the measured false-positive rate with its confidence
   * interval; {@link DedupStreams#falselyDropped} has the events. Off unless this is called.
   *
   * <p>Costs a read and a write of state for one event in N, and an entry for one live key in N.
   * With more keys, a larger N is enough: an interval of a tenth of the rate to either side needs
   * about 700 false positives, which is 700 / rate audited new keys.
   *
   * <p>The value with which the state was first written stays in use. State that was written
   * without an audit continues without one, because it is not known which of its keys were dropped.
   * An exact mode has no audit, because it drops no key.
   *
   * @param slices N, in [1, {@value #MAX_AUDIT_SLICES}]; 0 for no audit
   */
  public Firstseen<T> audit(int slices) {
    auditSlices = slices;
    return this;
  }

  /**
   * Sets when keys are forgotten; never, unless this is called. A forgotten key is accepted again
   * when it arrives again. Nothing is emitted when a key is forgotten.
   *
   * <p>A key is forgotten no earlier than the ttl after its time, and no later than another eighth
   * of the ttl after that.
   *
   * <p>With {@link TimeToLive.Clock#EVENT}, the time of a key is the timestamp of its event, or the
   * watermark if that is later, and the watermark decides when it is forgotten. So events need
   * timestamps, and an event that is not late never finds its key forgotten too early. Without
   * watermarks no key is forgotten, and the job logs a warning at its second checkpoint. A key may
   * stay longer if its timestamp is more than a quarter of the ttl ahead of the watermark. The last
   * watermark of a bounded input forgets no key. With {@link TimeToLive.Clock#PROCESSING}, the time
   * of a key is the processing time of its event.
   *
   * <p>The length may change at any restart, also for keys that are already stored: each is then
   * kept for the new length, plus at most five eighths of the longest length that was in use since
   * it arrived. Keys that were forgotten before stay forgotten. Whether there is a ttl, its clock
   * and its since are fixed for the life of the state.
   *
   * <p>Needs about 4.1 more bits for each key, and at most 4.5 if filters are as full as usual.
   */
  public Firstseen<T> ttl(TimeToLive newTtl) {
    ttl = Objects.requireNonNull(newTtl, "ttl");
    return this;
  }

  /**
   * Sets a ttl in event time, measured from when a key was first seen. Equivalent to {@code
   * ttl(TimeToLive.of(length))}.
   *
   * @throws IllegalArgumentException if the length is out of bounds
   */
  public Firstseen<T> ttl(Duration length) {
    return ttl(TimeToLive.of(length));
  }

  /**
   * Sets the size of the page cache of a task in bytes, 0 or more; 64 MiB unless this is called.
   * Only state backends that keep state off the heap, such as RocksDB, use it. A changed page is
   * written to state when it leaves the cache, and before each checkpoint. May be changed at any
   * restart.
   */
  public Firstseen<T> pageCacheBytes(long newPageCacheBytes) {
    pageCacheBytes = newPageCacheBytes;
    return this;
  }

  /**
   * Sets the prefix of the operators' uids and names; {@code firstseen} unless this is called.
   * Needed if a job has more than one dedup. Flink finds the state by it at a restart.
   */
  public Firstseen<T> uidPrefix(String newUidPrefix) {
    uidPrefix = Objects.requireNonNull(newUidPrefix, "uidPrefix");
    return this;
  }

  /**
   * Runs the dedup in the task of its input, without an exchange between them. Off unless this is
   * called. It is for an input of parallelism 1 in an environment of parallelism 1, and saves what
   * it costs to write an event for another thread and to read it there; but one thread then does
   * all the work.
   *
   * <p>The operator with which that task begins, such as the source, must have the number of shards
   * as its maximum parallelism, as Flink goes by the first operator of a task. No operator may
   * change an event object that it has emitted, as the dedup keeps a few. The parallelism of the
   * output must not be set. The state restores at any parallelism in a job that does not call this,
   * and the other way round. A job that Flink itself rescales ends at once, with an error that says
   * so.
   */
  public Firstseen<T> inTaskOfInput() {
    inTaskOfInput = true;
    return this;
  }

  /**
   * The parameters with which this dedup builds its state.
   *
   * @throws IllegalArgumentException as {@link #apply}
   */
  public DedupParameters parameters() {
    if (shards < 1 || shards > MAX_SHARDS || Integer.bitCount(shards) != 1) {
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
        auditSlices,
        canonicaliser.strippedParameters());
  }

  /**
   * Adds the operators to the job: {@code <prefix>-identify}, with the parallelism of the input,
   * and {@code <prefix>-dedup}, with the parallelism of the environment. The latter decides on a
   * few events together: each waits for others for at most {@value EventBatch#MAX_MILLIS} ms.
   *
   * @throws IllegalArgumentException if a parameter is out of bounds, if the capacity of a shard
   *     and the rate together need longer identities (fingerprints) than the filters support, if
   *     {@link #inTaskOfInput} was called and a parallelism is not 1, or if {@link #operation} was
   *     called and the input is a union of streams of different parallelism, whose events Flink
   *     would bring out of their order
   * @throws NullPointerException if neither {@link #key} nor {@link #keyText} was called
   */
  public DedupStreams<T> apply() {
    TypeInformation<Change<T>> changeType = ChangeSerializer.info(events.getType());
    SideOutputs<T> outputs = new SideOutputs<>(changeType);
    OutcomeStream<T, Change<T>> all = apply(outputs, changeType);
    SingleOutputStreamOperator<Change<T>> accepted = all.outcomes();
    return new DedupStreams<>(
        accepted,
        accepted.getSideOutput(outputs.duplicates),
        accepted.getSideOutput(outputs.unknownDeletes),
        all.deadLetters(),
        accepted.getSideOutput(outputs.falselyDropped));
  }

  /**
   * Adds the operators to the job as {@link #apply()} does, but emits the decisions on all events
   * on one stream. So operators after it can be chained to the dedup, whereas a union of the
   * streams of {@link DedupStreams} needs an exchange between threads.
   *
   * @param outcome makes what is emitted for an event
   * @param type the type information of the results
   * @param <R> type of the results
   * @throws IllegalArgumentException as {@link #apply()}
   * @throws NullPointerException as {@link #apply()}
   */
  public <R> OutcomeStream<T, R> apply(OutcomeFunction<T, R> outcome, TypeInformation<R> type) {
    Objects.requireNonNull(outcome, "outcome");
    return apply(new OneOutput<>(events.getExecutionEnvironment().clean(outcome)), type);
  }

  private <R> OutcomeStream<T, R> apply(Emission<T, R> emission, TypeInformation<R> type) {
    Objects.requireNonNull(key, "key must be set");
    DedupParameters parameters = parameters();
    requireOneTask();
    requireOrder();
    TypeInformation<T> eventType = events.getType();
    OutputTag<Rejected<T>> rejectedTag =
        new OutputTag<>("rejected", RejectedSerializer.info(eventType));
    SingleOutputStreamOperator<Change<T>> identified =
        events
            .process(
                new IdentifyFunction<>(
                    problem, key, operation, scope, canonicaliser, hash, rejectedTag),
                InFlightChangeSerializer.info(eventType, key::extract))
            // With another parallelism than the input, Flink would spread the events of one source
            // task over several tasks, and two events of one key could overtake each other.
            .setParallelism(events.getParallelism())
            .name(uidPrefix + "-identify")
            .uid(uidPrefix + "-identify");
    KeySelector<Change<T>, Integer> keys = shardKeys(shards);
    KeyedStream<Change<T>, Integer> byShard =
        inTaskOfInput
            ? DataStreamUtils.reinterpretAsKeyedStream(identified, keys, Types.INT)
            : identified.keyBy(keys, Types.INT);
    SingleOutputStreamOperator<R> decided =
        byShard
            .transform(
                dedupUid(uidPrefix),
                type,
                new DedupOperator<>(
                    parameters, falsePositiveRate, pageCacheBytes, inTaskOfInput, emission))
            .setMaxParallelism(shards)
            .uid(dedupUid(uidPrefix));
    return new OutcomeStream<>(decided, identified.getSideOutput(rejectedTag));
  }

  private void requireOneTask() {
    int ofInput = events.getParallelism();
    int ofDedup = events.getExecutionEnvironment().getParallelism();
    if (inTaskOfInput && (ofInput != 1 || ofDedup != 1)) {
      throw new IllegalArgumentException(
          "a dedup in the task of its input needs parallelism 1, the input has %d and the environment %d"
              .formatted(ofInput, ofDedup));
    }
  }

  private void requireOrder() {
    Set<Integer> parallelisms = new TreeSet<>();
    Transformation<?> input = events.getTransformation();
    int behind = parallelism(input);
    while (isChainable(input)) {
      behind = parallelism(input);
      input = input.getInputs().get(0);
    }
    if (input instanceof UnionTransformation) {
      addParallelisms(input, parallelisms);
    }
    // Many tasks that send to one keep the order of each.
    if (hasOperations && parallelisms.size() > 1 && behind > 1) {
      throw new IllegalArgumentException(
          "streams of different parallelism cannot be united before a dedup with deletes, as a"
              + " delete could overtake the add before it: give them one parallelism, got "
              + parallelisms);
    }
  }

  /** What may follow on a union without a partitioning of its own. */
  private static boolean isChainable(Transformation<?> input) {
    return input instanceof OneInputTransformation
        || input instanceof TimestampsAndWatermarksTransformation
        || input instanceof SideOutputTransformation;
  }

  private void addParallelisms(Transformation<?> input, Set<Integer> parallelisms) {
    if (input instanceof UnionTransformation) {
      input.getInputs().forEach(each -> addParallelisms(each, parallelisms));
    } else {
      parallelisms.add(parallelism(input));
    }
  }

  private int parallelism(Transformation<?> of) {
    return of.getParallelism() == ExecutionConfig.PARALLELISM_DEFAULT
        ? events.getExecutionEnvironment().getParallelism()
        : of.getParallelism();
  }

  /** The uid of the stateful operator. */
  static String dedupUid(String uidPrefix) {
    return uidPrefix + "-dedup";
  }

  /** Selects the Flink key of a change, which is that of its shard. */
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
