package io.firstseen.benchmarks.shared;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SourceSplit;
import org.apache.flink.core.io.InputStatus;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/**
 * Makes the URLs of stages. A stage begins when {@link Stages} allows it, and ends with a watermark
 * of the stage's number. There are no splits: each reader makes every n-th pair of records. It
 * stores no state, because the jobs of the benchmarks never recover.
 */
public final class StagedSource extends SelfSplitSource<Url, StagedSource.NoSplit> {
  private static final long serialVersionUID = 1;

  /** Records that a reader makes before it yields to the task's other work. */
  private static final int BATCH = 16;

  private final List<Stage> stages;

  public StagedSource(List<Stage> stages) {
    this.stages = List.copyOf(stages);
  }

  @Override
  public SourceReader<Url, NoSplit> createReader(SourceReaderContext context) {
    return new Reader(context.getIndexOfSubtask(), context.currentParallelism());
  }

  @Override
  public SimpleVersionedSerializer<NoSplit> getSplitSerializer() {
    return new NothingSerializer<>(new NoSplit());
  }

  private final class Reader implements SourceReader<Url, NoSplit> {
    private final Stages order = Stages.current();
    private final long first;
    private final long overOthers;
    private int stage;
    private long next;

    Reader(int index, int parallelism) {
      this.first = 2L * index;
      this.overOthers = 2L * parallelism - 1;
      this.next = first;
    }

    @Override
    public InputStatus pollNext(ReaderOutput<Url> output) {
      if (!order.begun(stage).isDone()) {
        return InputStatus.NOTHING_AVAILABLE;
      }
      if (stage == stages.size()) {
        return InputStatus.END_OF_INPUT;
      }
      Stage now = stages.get(stage);
      for (int i = 0; i < BATCH && next < now.records(); i++) {
        output.collect(Url.of(now.keyAt(next)));
        next += (next & 1) == 0 ? 1 : overOthers;
      }
      if (next >= now.records()) {
        output.emitWatermark(new Watermark(stage));
        stage++;
        next = first;
      }
      return InputStatus.MORE_AVAILABLE;
    }

    @Override
    public CompletableFuture<Void> isAvailable() {
      return order.begun(stage);
    }

    @Override
    public List<NoSplit> snapshotState(long checkpointId) {
      return List.of();
    }

    @Override
    public void start() {}

    @Override
    public void addSplits(List<NoSplit> splits) {}

    @Override
    public void notifyNoMoreSplits() {}

    @Override
    public void close() {}
  }

  /** The enumerator makes none. */
  public static final class NoSplit implements SourceSplit {
    @Override
    public String splitId() {
      return "none";
    }
  }
}
