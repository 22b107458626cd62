package io.firstseen.jobs.kafka;

import io.firstseen.jobs.kafka.WrittenOutcomes.OutcomeShards;
import io.firstseen.jobs.options.JobIdentity;
import io.firstseen.serializers.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.flink.api.common.TaskInfo;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.OperatorStateStore;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.api.java.typeutils.EitherTypeInfo;
import org.apache.flink.metrics.Counter;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.BoundedOneInput;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.types.Either;
import org.apache.flink.util.IOUtils;
import org.apache.kafka.common.KafkaException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ensures, before the sink, that only one job writes the output of a dedup. At the first element,
 * or at the first barrier if the output is already claimed, the job claims the output. The job may
 * claim it if there is no claim, if the claim is in its state, or if it takes the claim over. The
 * operator then aborts the open transactions of jobs with other claims, and reads the outcomes that
 * they committed. It drops outcomes that are already written, so a job may resume from state that
 * is older than the claims.
 *
 * <p>Each transaction contains a record of its progress. The operator emits the key and the value
 * of this record after the outcomes.
 */
final class OneWriterOperator
    extends AbstractStreamOperator<Either<Outcome, Tuple2<String, String>>>
    implements OneInputStreamOperator<Outcome, Either<Outcome, Tuple2<String, String>>>,
        BoundedOneInput {
  static final TypeInformation<Either<Outcome, Tuple2<String, String>>> OUTPUT =
      new EitherTypeInfo<>(
          TypeInformation.of(Outcome.class), Types.TUPLE(Types.STRING, Types.STRING));

  private static final long serialVersionUID = 1;

  private static final Logger LOG = LoggerFactory.getLogger(OneWriterOperator.class);

  // The claims of the line, and the progress of this task.
  private static final ListStateDescriptor<Tuple2<List<String>, List<String>>> WRITER =
      new ListStateDescriptor<>(
          "writer", Types.TUPLE(Types.LIST(Types.STRING), Types.LIST(Types.STRING)));

  private static final ListStateDescriptor<Map<String, String>> IDENTITY =
      new ListStateDescriptor<>("identity", Types.MAP(Types.STRING, Types.STRING));

  private final OutputClaim claims;
  private final OutcomeShards shards;

  private transient ListState<Tuple2<List<String>, List<String>>> state;
  private transient ListState<Map<String, String>> identity;
  // The lines of the topics that the sink writes, in the first task.
  private transient List<ListState<String>> topicStates;
  private transient Brokers brokers;
  private transient List<String> topics;
  private transient ClaimedOutput claimed;
  private transient WrittenOutcomes outcomes;
  private transient boolean hasBegun;
  private transient boolean hasPassed;
  private transient Counter alreadyWritten;

  OneWriterOperator(OutputClaim claims, OutcomeShards shards) {
    this.claims = claims;
    this.shards = shards;
  }

  @Override
  public void initializeState(StateInitializationContext context) throws Exception {
    super.initializeState(context);
    alreadyWritten = getMetricGroup().counter("alreadyWritten");
    OperatorStateStore states = context.getOperatorStateStore();
    state = states.getUnionListState(WRITER);
    PublisherLine line = PublisherLine.NEW;
    WrittenOffsets passed = new WrittenOffsets(shards.count());
    boolean isThere = false;
    for (Tuple2<List<String>, List<String>> each : state.get()) {
      line = line.then(new PublisherLine(each.f0, -1));
      passed.addLines(each.f1);
      isThere = true;
    }
    initializeTopics(states);
    TaskInfo task = getRuntimeContext().getTaskInfo();
    outcomes = new WrittenOutcomes(shards, task, passed);
    claimed =
        new ClaimedOutput(
            claims,
            claims.of(getRuntimeContext().getJobInfo().getJobId()),
            task,
            new ClaimedOutput.State(
                isThere, line, passed, context.getRestoredCheckpointId().orElse(0)));
    Optional<JobIdentity> before = claimed.tail.identity;
    identity = states.getUnionListState(IDENTITY);
    for (Map<String, String> each : identity.get()) {
      before = Optional.of(JobIdentity.of(each));
    }
    before.ifPresent(claims::requireSameOptions);
  }

  private void initializeTopics(OperatorStateStore states) throws Exception {
    brokers = new Brokers(claims.clientProperties());
    topics = claims.topics().now(brokers);
    topicStates = new ArrayList<>();
    List<String> topicsOfState = new ArrayList<>();
    for (String option : claims.topics().names().keySet()) {
      ListState<String> ofOption =
          states.getUnionListState(
              new ListStateDescriptor<>(OutputTopics.state(option), Types.STRING));
      ofOption.get().forEach(topicsOfState::add);
      topicStates.add(ofOption);
    }
    if (!claims.topics().acceptsNew()) {
      OutputTopics.requireSame(topicsOfState, topics);
    }
  }

  private void begin() throws InterruptedException {
    hasBegun = true;
    outcomes.setWritten(
        claimed.begin(isFirstTask() ? claims.topicLines(topics, brokers) : Map.of()));
  }

  @Override
  public void processElement(StreamRecord<Outcome> element) throws Exception {
    if (!hasBegun) {
      begin();
    }
    if (outcomes.isWritten(element.getValue())) {
      alreadyWritten.inc();
    } else {
      hasPassed = true;
      output.collect(
          element.replace(Either.<Outcome, Tuple2<String, String>>Left(element.getValue())));
    }
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
   * Requires that the topics have not changed since the start: the sink would wait for a deleted
   * topic, and has already chosen the partitions of the records that are about to be committed.
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

  private void endTransaction() throws InterruptedException {
    if (!hasBegun) {
      if (!claimed.isClaimed() && !claims.isTakeOver()) {
        // Before the first event, at which the job may still fail, there is nothing to commit.
        return;
      }
      begin();
    }
    outcomes.advance();
    if (hasPassed) {
      hasPassed = false;
      TaskInfo task = getRuntimeContext().getTaskInfo();
      String key =
          claims.writtenKey(task.getIndexOfThisSubtask(), task.getNumberOfParallelSubtasks());
      String value = String.join("\n", outcomes.writtenLines());
      output.collect(new StreamRecord<>(Either.Right(Tuple2.of(key, value))));
    }
  }

  @Override
  public void snapshotState(StateSnapshotContext context) throws Exception {
    super.snapshotState(context);
    // A sink without events has not claimed the output, but another sink of the job may have
    // claimed it.
    state.update(List.of(Tuple2.of(claimed.line().claims(), outcomes.passedLines())));
    identity.update(isFirstTask() ? List.of(claims.identity().values()) : List.of());
    for (int i = 0; i < topics.size(); i++) {
      topicStates.get(i).update(isFirstTask() ? List.of(topics.get(i)) : List.of());
    }
  }

  @Override
  public void close() throws Exception {
    try {
      IOUtils.closeAll(brokers, claimed);
    } finally {
      super.close();
    }
  }
}
