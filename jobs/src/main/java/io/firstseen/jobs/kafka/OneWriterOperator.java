package io.firstseen.jobs.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.jobs.options.JobIdentity;
import io.firstseen.operators.KeyHashSource;
import io.firstseen.serializers.Outcome;
import io.firstseen.serializers.Place;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import org.apache.flink.api.common.TaskInfo;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.metrics.Counter;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.BoundedOneInput;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListTransactionsOptions;
import org.apache.kafka.clients.admin.TransactionListing;
import org.apache.kafka.clients.admin.TransactionState;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ensures that only one job writes the output of a dedup, before its sink. At its first element, or
 * at its first barrier if there is a claim already, the job claims the output, if it may: if there
 * is no claim, or one of its state, or one that it takes over. It then aborts the open transactions
 * of the jobs with other claims, and reads what they have committed. It does not pass on outcomes
 * that are already written, so a job may go on from state that is older than the claims.
 *
 * <p>With each transaction goes a record of how far the outcomes are written.
 */
final class OneWriterOperator extends AbstractStreamOperator<Outcome>
    implements OneInputStreamOperator<Outcome, Outcome>, BoundedOneInput {
  private static final long serialVersionUID = 1;

  private static final Logger LOG = LoggerFactory.getLogger(OneWriterOperator.class);

  // The claims of the line, and how far this task has written.
  private static final ListStateDescriptor<Tuple2<List<String>, List<String>>> WRITER =
      new ListStateDescriptor<>(
          "writer", Types.TUPLE(Types.LIST(Types.STRING), Types.LIST(Types.STRING)));

  // The options of the job that wrote the state.
  private static final ListStateDescriptor<Map<String, String>> IDENTITY =
      new ListStateDescriptor<>("identity", Types.MAP(Types.STRING, Types.STRING));

  private final OutputClaim claims;
  private final int shards;
  private final @Nullable KeyHashSource hashSource;

  private transient ListState<Tuple2<List<String>, List<String>>> state;
  private transient ListState<Map<String, String>> identity;
  // The lines of the topics that the sink writes, of the first task.
  private transient List<ListState<String>> topicStates;
  private transient BrokerTopics brokers;
  private transient List<String> topics;
  private transient String claim;
  private transient PublisherLine line;
  private transient boolean hasState;
  private transient long restoredCheckpoint;
  private transient int firstShard;
  private transient int lastShard;
  private transient String writtenKey;
  // By the state and what came since, and by the topic.
  private transient WrittenOffsets passed;
  private transient WrittenOffsets written;
  private transient Set<String> writtenKeys;
  private transient ClaimsTail tail;
  private transient boolean hasBegun;
  private transient boolean hasPassed;
  private transient Map<TopicPartition, Input> inputs;
  private transient @Nullable Input lastInput;
  private transient @Nullable KeyHash hash;
  private transient Counter alreadyWritten;

  /** A partition that events come from. */
  private static final class Input {
    final TopicPartition partition;
    // For each shard, the offset up to which outcomes are written already; null if there are none.
    long @Nullable [] ahead;
    @Nullable Place last;

    Input(TopicPartition partition, long @Nullable [] ahead) {
      this.partition = partition;
      this.ahead = ahead;
    }
  }

  /**
   * Makes the operator.
   *
   * @param shards of the dedup if its tasks have shards; 1 if a task has the events of partitions
   * @param hashSource the hash that shards go by; null with one shard
   */
  OneWriterOperator(OutputClaim claims, int shards, @Nullable KeyHashSource hashSource) {
    this.claims = claims;
    this.shards = shards;
    this.hashSource = hashSource;
  }

  @Override
  public void initializeState(StateInitializationContext context) throws Exception {
    super.initializeState(context);
    TaskInfo task = getRuntimeContext().getTaskInfo();
    int index = task.getIndexOfThisSubtask();
    int tasks = task.getNumberOfParallelSubtasks();
    writtenKey = claims.writtenKey(index, tasks);
    if (shards > 1) {
      KeyGroupRange range =
          KeyGroupRangeAssignment.computeKeyGroupRangeForOperatorIndex(shards, tasks, index);
      firstShard = range.getStartKeyGroup();
      lastShard = range.getEndKeyGroup();
    }
    claim = claims.of(getRuntimeContext().getJobInfo().getJobId());
    restoredCheckpoint = context.getRestoredCheckpointId().orElse(0);
    line = claims.takenOver();
    passed = new WrittenOffsets(shards);
    written = new WrittenOffsets(shards);
    inputs = new HashMap<>();
    alreadyWritten = getMetricGroup().counter("alreadyWritten");
    state = context.getOperatorStateStore().getUnionListState(WRITER);
    PublisherLine restored = PublisherLine.NEW;
    for (Tuple2<List<String>, List<String>> each : state.get()) {
      restored = restored.then(new PublisherLine(each.f0, -1));
      passed.addLines(each.f1);
      hasState = true;
    }
    line = line.then(restored);
    brokers = new BrokerTopics(claims.clientProperties());
    topics = claims.topics().now(brokers);
    topicStates = new ArrayList<>();
    List<String> topicsOfState = new ArrayList<>();
    for (String option : claims.topics().names().keySet()) {
      ListState<String> ofOption =
          context
              .getOperatorStateStore()
              .getUnionListState(
                  new ListStateDescriptor<>(OutputTopics.state(option), Types.STRING));
      ofOption.get().forEach(topicsOfState::add);
      topicStates.add(ofOption);
    }
    if (!claims.topics().acceptsNew()) {
      OutputTopics.requireSame(topicsOfState, topics);
    }
    tail = new ClaimsTail(claims.clientProperties(), claims.topic(), claims.output());
    tail.readToEnd();
    readWritten(false);
    requireMayBegin(false);
    Optional<JobIdentity> before = tail.identity();
    identity = context.getOperatorStateStore().getUnionListState(IDENTITY);
    for (Map<String, String> each : identity.get()) {
      before = Optional.of(JobIdentity.of(each));
    }
    before.ifPresent(claims::requireSameOptions);
  }

  /**
   * Requires that the output is this job's.
   *
   * @param isClaimed whether another task has claimed it for this start of the job, which may have
   *     written outcomes since
   */
  private void requireMayBegin(boolean isClaimed) {
    Optional<String> newest = tail.newest();
    boolean isMine = newest.isEmpty() || newest.get().equals(claim) || line.holds(newest.get());
    if (!isMine && (line.holds(claim) || tail.all().contains(claim))) {
      throw claims.refused(PublisherLine.job(newest.get()) + " has taken it over");
    }
    Optional<String> ahead = isClaimed ? Optional.empty() : written.beyond(passed);
    if (!isMine || (ahead.isPresent() && !claims.isTakeOver())) {
      throw claims.refused(
          "it has %s, of %s, and this job %s (%s)"
              .formatted(
                  ahead
                      .map(place -> "outcomes of events up to " + place)
                      .orElse("a claim without outcomes since"),
                  newest.map(PublisherLine::job).orElse("an unknown job"),
                  whereThisGoesOn(),
                  "write to other topics, start from the newest state of that job, or start this one"
                      + " with --take-over"));
    }
  }

  private String whereThisGoesOn() {
    if (!hasState || line.claims().isEmpty()) {
      return "has no state of it";
    }
    String job = PublisherLine.job(line.claims().get(line.claims().size() - 1));
    return passed.isEmpty()
        ? "goes on from the beginning, of " + job
        : "goes on after %s, of %s".formatted(passed.places(), job);
  }

  /**
   * Claims the output, ends what others have under way there, and learns what they have written.
   */
  private void begin() throws Exception {
    hasBegun = true;
    tail.readToEnd();
    // Again, or a job that is refused by what was written meanwhile would end the other one.
    readWritten(false);
    // A job with state begins in all tasks before it can write.
    boolean isClaimed = !hasState && tail.newest().equals(Optional.of(claim));
    requireMayBegin(isClaimed);
    if (!tail.newest().equals(Optional.of(claim))) {
      try (Producer<byte[], byte[]> producer = producer()) {
        send(producer, OutputClaim.claimKey(claims.output()), claim.getBytes(UTF_8));
      }
      for (String other : tail.readToEnd()) {
        if (!other.equals(claim)) {
          throw claims.refused(PublisherLine.job(other) + " has claimed it at the same time");
        }
      }
      LOG.info("{} has claimed the output on topic {}", claim, claims.output());
    }
    if (!tail.identity().equals(Optional.of(claims.identity()))) {
      try (Producer<byte[], byte[]> producer = producer()) {
        send(producer, OutputClaim.identityKey(claims.output()), claims.identity().toBytes());
      }
    }
    if (isFirstTask() && !topics.equals(tail.topics().get(claims.topicsKey()))) {
      try (Producer<byte[], byte[]> producer = producer()) {
        send(producer, claims.topicsKey(), String.join("\n", topics).getBytes(UTF_8));
      }
    }
    // A task that had claimed may have failed before it was here.
    for (String other : tail.all()) {
      if (!other.equals(claim)) {
        abortTransactions(other);
      }
    }
    readWritten(true);
    // Another task may have claimed it at the same time, and written since.
    requireMayBegin(isClaimed || (!hasState && tail.all().equals(Set.of(claim))));
    if (!hasState) {
      forgetWritten();
    } else if (written.beyond(passed).isPresent()) {
      LOG.warn(
          "the output on topic {} has outcomes of events up to {}: this job goes on after {}, and"
              + " passes over those between",
          claims.output(),
          written.beyond(passed).get(),
          passed.places());
      hash = hashSource == null ? null : hashSource.open();
    }
    line = line.then(new PublisherLine(List.of(claim), -1)).since(Optional.of(claim));
  }

  private Producer<byte[], byte[]> producer() {
    return new KafkaProducer<>(
        claims.clientProperties(), new ByteArraySerializer(), new ByteArraySerializer());
  }

  private void send(Producer<byte[], byte[]> producer, String key, byte @Nullable [] value)
      throws InterruptedException {
    try {
      producer.send(new ProducerRecord<>(claims.topic(), 0, key.getBytes(UTF_8), value)).get();
    } catch (ExecutionException e) {
      throw new KafkaException("cannot write to topic " + claims.topic(), e.getCause());
    }
  }

  /**
   * Aborts the open transactions of another job, those of its other sinks too, as an open one hides
   * what is after it on the topic of claims. Not those of the checkpoint that this job was restored
   * from: its committers commit them.
   */
  private void abortTransactions(String other) throws InterruptedException {
    boolean isOfState = hasState && line.claims().get(line.claims().size() - 1).equals(other);
    try (Admin admin = Admin.create(claims.clientProperties())) {
      List<String> open = new ArrayList<>();
      for (TransactionListing each :
          admin
              .listTransactions(
                  new ListTransactionsOptions().filterStates(List.of(TransactionState.ONGOING)))
              .all()
              .get()) {
        String id = each.transactionalId();
        if (OutputClaim.isOf(other, id) && !(isOfState && checkpointOf(id) <= restoredCheckpoint)) {
          open.add(id);
        }
      }
      if (!open.isEmpty()) {
        LOG.info("aborts {} open transactions of {}", open.size(), PublisherLine.job(other));
        admin.fenceProducers(open).all().get();
      }
    } catch (ExecutionException e) {
      throw new KafkaException(
          "cannot abort the transactions of " + PublisherLine.job(other), e.getCause());
    }
  }

  /** The connector ends an id with the number of the checkpoint that the transaction is for. */
  private static long checkpointOf(String transactionalId) {
    return Long.parseLong(transactionalId.substring(transactionalId.lastIndexOf('-') + 1));
  }

  /**
   * Reads what is written.
   *
   * @param isAll whether to wait for the transactions from before the newest claim
   */
  private void readWritten(boolean isAll) {
    TopicPartition partition = new TopicPartition(claims.topic(), 0);
    try (TailReader reader =
        new TailReader(claims.clientProperties(), IsolationLevel.READ_COMMITTED, claims.topic())) {
      reader.startAt(List.of(partition));
      Map<TopicPartition, Long> ends = new HashMap<>(reader.ends(List.of(partition)));
      if (isAll) {
        // A job of the same id may have written more since its claim.
        ends.merge(partition, tail.newestSince(), Math::max);
      }
      Map<String, String> values = new HashMap<>();
      reader.readTo(ends, record -> takeWritten(record, values));
      written = new WrittenOffsets(shards);
      for (Map.Entry<String, String> value : values.entrySet()) {
        addWritten(value.getKey(), value.getValue());
      }
      writtenKeys = values.keySet();
    }
  }

  private void takeWritten(ConsumerRecord<byte[], byte[]> record, Map<String, String> values) {
    String key = record.key() == null ? "" : new String(record.key(), UTF_8);
    if (!key.startsWith(claims.writtenPrefix())) {
      return;
    }
    if (record.value() == null) {
      values.remove(key);
    } else {
      values.put(key, new String(record.value(), UTF_8));
    }
  }

  private void addWritten(String key, String value) {
    try {
      if (hasState) {
        written.addLines(value.lines().toList());
      } else {
        // This dedup may begin with known keys and other shards.
        written.addLinesOfAnyShards(value.lines().toList());
      }
    } catch (IllegalArgumentException e) {
      throw claims.refused(
          "record %s of topic %s is not of this dedup: %s"
              .formatted(key, claims.topic(), e.getMessage()));
    }
  }

  /**
   * Removes what other jobs have written, which says nothing of a job that begins anew. Each task
   * removes the record that it writes itself, before it writes it, and the first one those that no
   * task writes.
   */
  private void forgetWritten() throws InterruptedException {
    TaskInfo task = getRuntimeContext().getTaskInfo();
    Set<String> ofThisJob = new HashSet<>();
    for (int i = 0; i < task.getNumberOfParallelSubtasks(); i++) {
      ofThisJob.add(claims.writtenKey(i, task.getNumberOfParallelSubtasks()));
    }
    List<String> gone =
        writtenKeys.stream()
            .filter(key -> key.equals(writtenKey) || (isFirstTask() && !ofThisJob.contains(key)))
            .toList();
    if (!gone.isEmpty()) {
      try (Producer<byte[], byte[]> producer = producer()) {
        for (String key : gone) {
          send(producer, key, null);
        }
      }
    }
    written = new WrittenOffsets(shards);
  }

  @Override
  public void processElement(StreamRecord<Outcome> element) throws Exception {
    if (!hasBegun) {
      begin();
    }
    Place place = element.getValue().event().place();
    if (place.isOfKafka()) {
      Input input = input(place);
      input.last = place;
      if (input.ahead != null && isWritten(input, element.getValue())) {
        alreadyWritten.inc();
        return;
      }
    }
    hasPassed = true;
    output.collect(element);
  }

  private Input input(Place place) {
    if (lastInput == null
        || lastInput.partition.partition() != place.partition()
        || !lastInput.partition.topic().equals(place.source())) {
      lastInput =
          inputs.computeIfAbsent(
              new TopicPartition(place.source(), place.partition()),
              partition ->
                  new Input(partition, written.beyond(passed, partition, firstShard, lastShard)));
    }
    return lastInput;
  }

  private boolean isWritten(Input input, Outcome outcome) {
    long offset = outcome.event().place().offset();
    int shard = hash == null ? 0 : new Shards(shards).shardOf(hash.hash(outcome.canonicalKey()));
    if (offset <= input.ahead[shard]) {
      return true;
    }
    if (offset > Arrays.stream(input.ahead).max().orElseThrow()) {
      input.ahead = null;
    }
    return false;
  }

  @Override
  public void prepareSnapshotPreBarrier(long checkpointId) throws Exception {
    super.prepareSnapshotPreBarrier(checkpointId);
    if (isFirstTask()) {
      requireTopics();
    }
    endTransaction();
  }

  private boolean isFirstTask() {
    return getRuntimeContext().getTaskInfo().getIndexOfThisSubtask() == 0;
  }

  /**
   * Requires that the topics are those of the start: the sink would wait for a topic that is gone,
   * and has by now chosen the partitions of all records that are about to be committed.
   */
  private void requireTopics() {
    try {
      OutputTopics.requireSame(topics, claims.topics().now(brokers));
    } catch (KafkaException e) {
      LOG.warn("cannot compare the topics that the job writes now: {}", e.getMessage());
    }
  }

  @Override
  public void endInput() throws Exception {
    endTransaction();
  }

  /** Passes on how far the outcomes of a transaction go, if there are any. */
  private void endTransaction() throws Exception {
    if (!hasBegun) {
      tail.readToEnd();
      if (tail.newest().isEmpty() && !claims.isTakeOver()) {
        // There is nothing to commit before the first event, at which the job may still fail.
        return;
      }
      begin();
    }
    for (Input input : inputs.values()) {
      if (input.last != null) {
        passed.advance(input.last, firstShard, lastShard);
        input.last = null;
      }
    }
    if (hasPassed) {
      hasPassed = false;
      List<String> own = passed.lines(firstShard, lastShard);
      written.addLines(own);
      output.collect(
          new StreamRecord<>(
              OutputClaim.written(writtenKey, written.lines(firstShard, lastShard))));
    }
  }

  @Override
  public void snapshotState(StateSnapshotContext context) throws Exception {
    super.snapshotState(context);
    // A sink without events has not claimed the output, but another one of the job may have.
    PublisherLine own = hasBegun ? line : line.then(new PublisherLine(List.of(claim), -1));
    state.update(List.of(Tuple2.of(own.claims(), passed.lines(firstShard, lastShard))));
    identity.update(isFirstTask() ? List.of(claims.identity().values()) : List.of());
    for (int i = 0; i < topics.size(); i++) {
      topicStates.get(i).update(isFirstTask() ? List.of(topics.get(i)) : List.of());
    }
  }

  @Override
  public void close() throws Exception {
    try {
      if (brokers != null) {
        brokers.close();
      }
      if (tail != null) {
        tail.close();
      }
    } finally {
      super.close();
    }
  }
}
