package io.firstseen.operators.dedup;

import io.firstseen.serializers.Change;
import io.firstseen.types.DedupParameters;
import io.firstseen.types.Operation;
import io.firstseen.types.TimeToLive;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.flink.core.execution.CheckpointingMode;
import org.apache.flink.state.api.output.SnapshotUtils;
import org.apache.flink.state.api.output.TaggedOperatorSubtaskState;
import org.apache.flink.streaming.api.operators.BoundedOneInput;
import org.apache.flink.streaming.api.operators.SimpleOperatorFactory;
import org.apache.flink.streaming.api.operators.StreamOperatorFactory;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * A dedup whose tasks read their keys from files and write their state at the end of the input.
 *
 * <p>The input record of a task names its first file, by the lowest hash in it, and the number of
 * its files. The savepoint writer of the State Processor API, which runs this operator, discards
 * exceptions of an operator. A failure is therefore written to a file next to the others, and the
 * writer then fails because a state is missing.
 */
final class WarmStartOperator extends DedupOperator<Integer, Change<Integer>>
    implements BoundedOneInput {
  private static final long serialVersionUID = 1;

  private static final byte[] NO_KEY = {};

  /** Makes the State Processor API fail: no task has this index. */
  private static final TaggedOperatorSubtaskState NO_STATE =
      new TaggedOperatorSubtaskState(-1, null);

  private final String directory;
  private final String target;
  private final long timestampMillis;
  private final TimeToLive ttl;
  private final long latestMillis;
  private final boolean renewed;
  private boolean failed;

  private WarmStartOperator(
      DedupParameters parameters,
      long pageCacheBytes,
      KnownKeys keys,
      String target,
      long timestampMillis) {
    // It only stores keys and makes no decisions.
    super(parameters, 1, pageCacheBytes, false, new SideOutputs<>(WarmStart.RANGE));
    this.directory = keys.directory().toAbsolutePath().toString();
    this.ttl = parameters.ttl();
    this.latestMillis = keys.latestMillis();
    this.renewed = keys.isRenewed();
    this.target = target;
    this.timestampMillis = timestampMillis;
  }

  /** The factory that the State Processor API needs. */
  @SuppressWarnings("unchecked") // It only emits state, never a change.
  static StreamOperatorFactory<TaggedOperatorSubtaskState> factory(
      DedupParameters parameters,
      long pageCacheBytes,
      KnownKeys keys,
      org.apache.flink.core.fs.Path target,
      long timestampMillis) {
    StreamOperatorFactory<?> factory =
        SimpleOperatorFactory.of(
            new WarmStartOperator(
                parameters, pageCacheBytes, keys, target.toString(), timestampMillis));
    return (StreamOperatorFactory<TaggedOperatorSubtaskState>) factory;
  }

  /**
   * Returns the file to which a failed task writes its error; it contains the error of the last
   * failed task.
   */
  static Path failure(Path directory) {
    return directory.resolve("failure");
  }

  @Override
  public void processElement(StreamRecord<Change<Integer>> range) {
    int first = KnownKeysPart.numberOf(range.getValue().hash());
    try {
      for (int part = first; part < first + range.getValue().event(); part++) {
        learn(part);
      }
    } catch (Exception e) {
      fail(e);
    }
  }

  private void learn(int part) throws Exception {
    KnownKeysPart known = KnownKeysPart.read(Path.of(directory), part, ttl, latestMillis, renewed);
    StreamRecord<Change<Integer>> record = new StreamRecord<>(null);
    for (int i = 0; i < known.count(); i++) {
      record.replace(new Change<>(Operation.ADD, NO_KEY, known.hash(i), null));
      if (known.hasTimes()) {
        record.setTimestamp(known.timeMillis(i));
      }
      learn(record);
    }
    Files.deleteIfExists(KnownKeysPart.file(Path.of(directory), part));
  }

  @Override
  public void endInput() {
    TaggedOperatorSubtaskState state = NO_STATE;
    if (!failed) {
      try {
        writeAll();
        state = snapshot();
      } catch (Exception e) {
        fail(e);
      }
    }
    put(state);
  }

  private TaggedOperatorSubtaskState snapshot() throws Exception {
    return SnapshotUtils.snapshot(
        0,
        this,
        getRuntimeContext().getTaskInfo().getIndexOfThisSubtask(),
        timestampMillis,
        CheckpointingMode.EXACTLY_ONCE,
        false,
        getContainingTask().getConfiguration().getConfiguration(),
        new org.apache.flink.core.fs.Path(target));
  }

  @SuppressWarnings({"unchecked", "rawtypes"})
  private void put(TaggedOperatorSubtaskState state) {
    output.collect((StreamRecord) new StreamRecord<>(state));
  }

  private void fail(Exception e) {
    failed = true;
    try {
      Files.writeString(failure(Path.of(directory)), e.toString());
    } catch (IOException unwritable) {
      LOG.error("the failure cannot be written to a file either", unwritable);
    }
  }
}
