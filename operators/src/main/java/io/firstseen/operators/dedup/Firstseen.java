package io.firstseen.operators.dedup;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstseen.filters.cuckoo.CuckooShape;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.near.NearRule;
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
import java.util.Locale;
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
import org.jspecify.annotations.Nullable;

/**
 * Adds a dedup to a job: {@code Firstseen.dedup(clicks).keyText(Click::url).apply()}.
 *
 * <p>Each event has a key, which is canonicalised, prefixed with its scope, and hashed to 64 bits.
 * The hash selects a shard. The shard's cuckoo filter, which is managed keyed state, decides:
 *
 * <table>
 * <caption>The output of an event</caption>
 * <tr><th>event</th><th>key not in the filter</th><th>key in the filter</th></tr>
 * <tr><td>add</td><td>{@link DedupStreams#accepted}, the key becomes live</td>
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
 *   <li>A key seen for the first time is reported as a duplicate with at most the chosen
 *       false-positive rate as long as the number of live keys does not exceed the capacity. Beyond
 *       the capacity the filter continues to work, and the rate is {@code 2 n / 2^P} at {@code n}
 *       live keys.
 *   <li>Events of one key from one input task keep their order. Event timestamps and watermarks are
 *       forwarded unchanged.
 *   <li>Exactly once through Flink's checkpoints, on heap and RocksDB, at any parallelism up to the
 *       number of shards. A replay has the same result.
 * </ul>
 *
 * <p>A delete of a key that was not accepted may remove another key with the same fingerprint: with
 * a probability of at most the false-positive rate for an arbitrary key, and certainly for a key
 * that was dropped as a false duplicate. The other key is then accepted again when it next arrives.
 * No new key is lost.
 *
 * <p>This describes the mode {@link DedupMode#APPROXIMATE}. In the exact modes ({@link #mode}) no
 * key is mistaken for another.
 *
 * <p>The job must run in streaming mode. A job in batch mode, which would sort the events, fails at
 * startup with an error; a job that uses Flink's changelog over the heap backend also fails.
 *
 * <p>The canonicaliser, the hash and its key, the number of shards, the mode, and whether there is
 * a ttl are fixed for the life of the state. A job with different values fails at startup without
 * restarts, with an error that names them. The capacity and the rate are fixed when the state is
 * first written; later values have no effect.
 *
 * <p>In Flink's test harness: {@code apply().accepted().getTransformation()} is a {@code
 * OneInputTransformation} that has the operator's factory, its key selector and, for {@code setup},
 * its output type, from which a {@code KeyedOneInputStreamOperatorTestHarness} can be created. The
 * operator decides on events in batches of sixteen, after 5 ms of processing time, or before it
 * forwards a watermark. Call {@code prepareSnapshotPreBarrier} before {@code snapshot}, as Flink
 * does; otherwise {@code snapshot} fails.
 *
 * <p>Methods reject null arguments; {@link #apply} rejects numbers that are out of bounds. An
 * exception in an extractor fails the job, as in any Flink function. This builder is used on the
 * client, once and by one thread.
 *
 * @param <T> type of the events; any that Flink has a serializer for
 */
public final class Firstseen<T> {
  /** The default of {@link #shards}. */
  public static final int DEFAULT_SHARDS = 128;

  /** The default of {@link #capacity}. */
  public static final long DEFAULT_CAPACITY = 1_000_000;

  /** The default of {@link #falsePositiveRate}. */
  public static final double DEFAULT_FALSE_POSITIVE_RATE = 0.001;

  /** The default of {@link #audit()}: one hash in this many is audited. */
  public static final int DEFAULT_AUDIT_SLICES = 1024;

  /** The maximum of {@link #audit(int)}. */
  public static final int MAX_AUDIT_SLICES = 1 << 20;

  /** The default of {@link #pageCacheBytes}, per task. */
  public static final long DEFAULT_PAGE_CACHE_BYTES = 64L << 20;

  /** The maximum number of shards, which is Flink's maximum number of key groups. */
  public static final int MAX_SHARDS = 1 << 15;

  /** So that pages can split far beyond a small capacity. */
  private static final int MIN_BITS_OF_BANDS = 28;

  private final DataStream<T> events;
  private Extractor<T, String> problem = event -> null;
  private Extractor<T, byte[]> key;
  private Extractor<T, Operation> operation = event -> Operation.ADD;
  private boolean hasOperations;
  private Extractor<T, byte[]> scope = event -> null;
  private Canonicaliser canonicaliser = Canonicaliser.NONE;
  private @Nullable NearRule near;
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
   * Creates a builder of a dedup of a stream.
   *
   * @param events events from any source, bounded or not; preferably with object reuse enabled and
   *     generic types disabled
   * @param <T> type of the events
   */
  public static <T> Firstseen<T> dedup(DataStream<T> events) {
    return new Firstseen<>(Objects.requireNonNull(events, "events"));
  }

  /**
   * Creates a builder for a dedup of texts that reports near-duplicates as duplicates. Equivalent
   * to {@code dedup(texts).canonicaliser(Canonicaliser.TEXT).near(rule)}.
   *
   * @param <T> type of the events
   */
  public static <T> Firstseen<T> nearDuplicates(DataStream<T> texts, NearRule rule) {
    return dedup(texts).canonicaliser(Canonicaliser.TEXT).near(rule);
  }

  /**
   * Creates a builder that is only used for its {@link #parameters} and cannot be applied.
   *
   * @param <T> type of the events
   */
  public static <T> Firstseen<T> withoutEvents() {
    return new Firstseen<>(null);
  }

  /**
   * Sets the extractor that detects unusable events: it returns the reason why the event becomes a
   * dead letter, or null if the event can be used. By default, only key, scope and operation
   * decide.
   *
   * @param newProblem called first, once per event; may be a {@link
   *     org.apache.flink.api.common.functions.RichFunction}, of which only {@code open} is called
   */
  public Firstseen<T> problem(Extractor<T, String> newProblem) {
    problem = Objects.requireNonNull(newProblem, "problem");
    return this;
  }

  /**
   * Sets the extractor of an event's key. Either this or {@link #keyText} must be called.
   *
   * <p>An event is a dead letter if its key is null, empty, longer than {@link
   * io.firstseen.filters.key.Keys#MAX_KEY_BYTES} bytes before or after canonicalisation, or
   * rejected by the canonicaliser. The array is not changed. Extractors that return an array of the
   * event itself are fastest, because the key is then not sent over the network a second time.
   */
  public Firstseen<T> key(Extractor<T, byte[]> newKey) {
    key = Objects.requireNonNull(newKey, "key");
    return this;
  }

  /**
   * Sets the extractor of a text key; the UTF-8 bytes of the text are the key. An unpaired
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
   * Sets the extractor of an event's operation; by default, every event is an add. An event with a
   * null operation is a dead letter.
   */
  public Firstseen<T> operation(Extractor<T, Operation> newOperation) {
    operation = Objects.requireNonNull(newOperation, "operation");
    hasOperations = true;
    return this;
  }

  /**
   * Sets the extractor of the scope (tenant) of an event's key, null or empty for no scope. Equal
   * keys of two scopes are different keys. Scopes share the filters and the capacity. An event is a
   * dead letter if its scope is longer than {@link io.firstseen.filters.key.Keys#MAX_KEY_BYTES}
   * bytes.
   */
  public Firstseen<T> scope(Extractor<T, byte[]> newScope) {
    scope = Objects.requireNonNull(newScope, "scope");
    return this;
  }

  /**
   * Sets how keys are canonicalised; default {@link Canonicaliser#NONE}, which does not change
   * them. Fixed for the life of the state.
   */
  public Firstseen<T> canonicaliser(Canonicaliser newCanonicaliser) {
    canonicaliser = Objects.requireNonNull(newCanonicaliser, "canonicaliser");
    return this;
  }

  /**
   * Reports near-duplicates of live texts as duplicates: a text is a duplicate if the rule finds a
   * live text of the same scope that resembles it. Needs {@link Canonicaliser#TEXT}, and {@link
   * DedupMode#APPROXIMATE} or {@link DedupMode#EXACT}. Unless this is called, keys are compared as
   * a whole. Fixed for the life of the state.
   *
   * <p>{@link Change#match} of the result names the text that a duplicate matches, and the number
   * of equal bands.
   *
   * <p>The first text of a group is accepted, and only accepted texts are compared. The delete of a
   * rejected near-duplicate removes nothing. One task compares all texts of a scope, so the
   * parallelism is at most the number of scopes. {@link #capacity} counts texts. {@link
   * #falsePositiveRate} is the share of new texts that the filter alone drops; {@link
   * NearRule#matchProbability} gives the probability that two texts match.
   */
  public Firstseen<T> near(NearRule newNear) {
    near = Objects.requireNonNull(newNear, "near");
    return this;
  }

  /**
   * Sets the keyed hash; default {@link KeyHash#fixed}, whose hash key is public. Anyone who knows
   * the hash key can construct keys that are reported as duplicates of other keys, or whose
   * deletion removes other keys. Use a secret hash key if senders may be hostile. Fixed for the
   * life of the state.
   *
   * <p>The job contains the hash key, so anyone who can read Flink's files of the job, such as
   * high-availability metadata and the cluster's blobs, obtains it. {@link #hash(KeyHashSource)}
   * keeps the hash key out of these files.
   */
  public Firstseen<T> hash(KeyHash newHash) {
    return hash(KeyHashSource.inJob(newHash));
  }

  /**
   * Sets the keyed hash as {@link #hash(KeyHash)} does; with {@link KeyHashSource#onWorkers}, the
   * tasks read the hash key.
   */
  public Firstseen<T> hash(KeyHashSource newHash) {
    hash = Objects.requireNonNull(newHash, "hash");
    return this;
  }

  /**
   * Sets the expected number of live keys, over all shards and scopes, at least 1; default {@value
   * #DEFAULT_CAPACITY}. More keys are not an error; they raise the false-positive rate in
   * proportion. No memory is reserved: filters grow with their keys.
   */
  public Firstseen<T> capacity(long newCapacity) {
    capacity = newCapacity;
    return this;
  }

  /**
   * Sets the maximum false-positive rate at capacity, in (0, 0.1]; default {@value
   * #DEFAULT_FALSE_POSITIVE_RATE}. A rate ten times lower costs 3.3 more bits per key.
   */
  public Firstseen<T> falsePositiveRate(double rate) {
    falsePositiveRate = rate;
    return this;
  }

  /**
   * Sets the number of shards, each with a separate filter: a power of two in [1, {@value
   * #MAX_SHARDS}]; default {@value #DEFAULT_SHARDS}. It is also the dedup's maximum parallelism.
   * Fixed for the life of the state.
   */
  public Firstseen<T> shards(int newShards) {
    shards = newShards;
    return this;
  }

  /**
   * Sets whether only the filters decide, which is the default, or also an exact set of the live
   * keys. Fixed for the life of the state.
   *
   * <p>In an exact mode every live key also has an entry in state. No key is dropped or forgotten
   * because of another key, and a delete of a key that was not accepted is always an unknown
   * delete. The false-positive rate is then the share of new keys that cost an unnecessary look-up
   * in the set.
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
   * <p>With {@link #near}, keeps the live texts themselves under one of their hashes in N, and
   * compares new texts with them. Metrics also show precision and recall.
   *
   * <p>Costs a read and a write of state for one event in N, and an entry for one live key in N.
   * With more keys, a larger N suffices: a confidence interval of ±10 % of the rate needs about 700
   * false positives, which is 700 / rate audited new keys.
   *
   * <p>The value is fixed when the state is first written. State that was written without an audit
   * continues without an audit, because it is not known which of its keys were dropped. Exact modes
   * reject an audit, because they do not drop new keys.
   *
   * @param slices N, in [1, {@value #MAX_AUDIT_SLICES}]; 0 for no audit
   */
  public Firstseen<T> audit(int slices) {
    auditSlices = slices;
    return this;
  }

  /**
   * Sets when keys are forgotten; by default they are never forgotten. A forgotten key is accepted
   * again when it next arrives. No event is emitted when a key is forgotten.
   *
   * <p>A key is forgotten no earlier than the ttl after its time, and no later than another eighth
   * of the ttl after that.
   *
   * <p>With {@link TimeToLive.Clock#EVENT}, the time of a key is the timestamp of its event, or the
   * watermark if that is later, and the watermark decides when it is forgotten. Events therefore
   * need timestamps, and the key of an event that is not late is never forgotten too early. Without
   * watermarks no key is forgotten, and the job logs a warning at its second checkpoint. A key may
   * be kept longer if its timestamp is more than a quarter of the ttl ahead of the watermark. The
   * last watermark of a bounded input forgets no key. With {@link TimeToLive.Clock#PROCESSING}, the
   * time of a key is the processing time of its event.
   *
   * <p>The length may change at any restart, also for keys that are already stored: each key is
   * then kept for the new length, plus at most five eighths of the longest length that was in use
   * since it arrived. Keys that were already forgotten stay forgotten. Whether there is a ttl, its
   * clock and its {@link TimeToLive.Since} are fixed for the life of the state.
   *
   * <p>Needs about 4.1 more bits per key, and at most 4.5 if filters are as full as usual.
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
   * Sets the size of the page cache of a task in bytes, 0 or more; default 64 MiB. Only state
   * backends that keep state off the heap, such as RocksDB, use it. A changed page is written to
   * state when it is evicted from the cache, and before each checkpoint. May be changed at any
   * restart.
   */
  public Firstseen<T> pageCacheBytes(long newPageCacheBytes) {
    pageCacheBytes = newPageCacheBytes;
    return this;
  }

  /**
   * Sets the prefix of the operators' uids and names; default {@code firstseen}. Required if a job
   * has more than one dedup. Flink uses the uids to find the state at a restart.
   */
  public Firstseen<T> uidPrefix(String newUidPrefix) {
    uidPrefix = Objects.requireNonNull(newUidPrefix, "uidPrefix");
    return this;
  }

  /**
   * Runs the dedup in the task of its input, without an exchange between them. Off by default. Use
   * it for an input of parallelism 1 in an environment of parallelism 1. It saves the cost of
   * passing events to another thread, but one thread then does all the work.
   *
   * <p>The first operator of this task, such as the source, must have the number of shards as its
   * maximum parallelism, because Flink uses the maximum parallelism of the first operator of a
   * task. No operator may change an event object that it has emitted, because the dedup buffers a
   * few events. The parallelism of the output must not be set. The state can be restored at any
   * parallelism in a job that does not call this method, and vice versa. If Flink rescales the job,
   * the job fails immediately with an error.
   */
  public Firstseen<T> inTaskOfInput() {
    inTaskOfInput = true;
    return this;
  }

  /**
   * Returns the parameters with which this dedup builds its state.
   *
   * @throws IllegalArgumentException in the same cases as {@link #apply}
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
    if (mode.isExact() && auditSlices > 0) {
      throw new IllegalArgumentException(
          "audit needs the mode approximate, got "
              + mode.id()
              + ", in which the filter drops no"
              + " key: start without an audit"
              + (near == null
                  ? ""
                  : ", or audit the same texts in the mode approximate to measure"
                      + " precision and recall of the rule"));
    }
    if (near != null) {
      requireNear();
    }
    // All texts may have one scope, and so one shard.
    long keysOfShard =
        near == null ? (capacity - 1) / shards + 1 : Math.multiplyExact(capacity, near.hashes());
    NearRule ofFilter = near == null ? null : near.ofFilter(mode.isExact());
    double rate = ofFilter == null ? falsePositiveRate : ofFilter.bandRate(falsePositiveRate);
    int mostBits = Math.min(CuckooShape.MAX_IDENTITY_BITS, Long.SIZE - byHash.bits());
    if (near == null
        && falsePositiveRate > 0
        && 2 * keysOfShard / falsePositiveRate > Math.scalb(1.0, mostBits)) {
      throw new IllegalArgumentException(
          "capacity / shards / falsePositiveRate must be at most 2^%d, got %d / %d / %s"
              .formatted(mostBits - 1, capacity, shards, falsePositiveRate));
    }
    CuckooShape shape = CuckooShape.forCapacity(keysOfShard, rate);
    return new DedupParameters(
        ofFilter == null
            ? shape.identityBits()
            : Math.max(shape.identityBits(), MIN_BITS_OF_BANDS) + ofFilter.tagBits(),
        shards,
        hash.algorithm().id(),
        hash.keyCheck(),
        canonicaliser.id(),
        canonicaliser.version(),
        mode,
        ttl,
        auditSlices,
        canonicaliser.strippedParameters(),
        near == null ? "" : near.toString());
  }

  private void requireNear() {
    if (!canonicaliser.is(Canonicaliser.TEXT)) {
      throw new IllegalArgumentException(
          "near needs the canonicaliser text, got " + canonicaliser.id());
    }
    if (mode == DedupMode.EXACT_KEYS) {
      throw new IllegalArgumentException(
          "near needs the mode approximate or exact, got the mode " + mode.id());
    }
    if (!(falsePositiveRate > 0 && falsePositiveRate <= CuckooShape.MAX_FALSE_POSITIVE_RATE)) {
      throw new IllegalArgumentException(
          "falsePositiveRate must be in (0, %s], got %s"
              .formatted(CuckooShape.MAX_FALSE_POSITIVE_RATE, falsePositiveRate));
    }
    NearRule ofFilter = near.ofFilter(mode.isExact());
    double identities = 2.0 * capacity * near.hashes() / ofFilter.bandRate(falsePositiveRate);
    int bits = CuckooShape.MAX_IDENTITY_BITS - ofFilter.tagBits();
    if (identities > Math.scalb(1.0, bits)) {
      throw new IllegalArgumentException(
          String.format(
              Locale.ROOT,
              "capacity must be at most %,.0f with near %s and the falsePositiveRate %s, got %d",
              Math.floor(Math.scalb(capacity / identities, bits)),
              near,
              falsePositiveRate,
              capacity));
    }
  }

  /**
   * Adds the operators to the job: {@code <prefix>-identify}, with the parallelism of the input,
   * and {@code <prefix>-dedup}, with the parallelism of the environment. The latter decides on a
   * few events together: each event waits for other events for at most {@value
   * EventBatch#MAX_MILLIS} ms.
   *
   * @throws IllegalArgumentException if a parameter is out of bounds, if the capacity of a shard
   *     and the rate together need longer identities (fingerprints) than the filters support, if
   *     {@link #inTaskOfInput} was called and a parallelism is not 1, or if {@link #operation} was
   *     called and the input is a union of streams of different parallelism, whose events Flink
   *     would reorder
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
   * on one stream. Operators after the dedup can then be chained to it, whereas a union of the
   * streams of {@link DedupStreams} needs an exchange between threads.
   *
   * @param outcome creates the result that is emitted for an event
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
                    problem, key, operation, scope, canonicaliser, near, hash, rejectedTag),
                InFlightChangeSerializer.info(eventType, key::extract))
            // With a different parallelism from the input, Flink would distribute the events of one
            // source task over several tasks, and two events of one key could overtake each other.
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
    // If many tasks send to one task, the order of each sender is kept.
    if (hasOperations && parallelisms.size() > 1 && behind > 1) {
      throw new IllegalArgumentException(
          "streams of different parallelism cannot be united before a dedup with deletes, as a"
              + " delete could overtake the add before it: give them one parallelism, got "
              + parallelisms);
    }
  }

  /** Transformations that may follow a union without partitioning. */
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

  static String dedupUid(String uidPrefix) {
    return uidPrefix + "-dedup";
  }

  static <T> KeySelector<Change<T>, Integer> shardKeys(int shards) {
    Shards byHash = new Shards(shards);
    ShardKeys keys = ShardKeys.of(shards, shards);
    return change -> keys.keyOf(byHash.shardOf(change.hash()));
  }
}
