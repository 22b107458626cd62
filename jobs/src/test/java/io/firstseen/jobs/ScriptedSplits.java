package io.firstseen.jobs;

import io.firstseen.serializers.SourceEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceOutput;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SourceSplit;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.core.io.InputStatus;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/** An unbounded source whose splits emit the records that a test in the same process sends. */
final class ScriptedSplits implements Source<SourceEvent, SourceSplit, String> {
  private static final long serialVersionUID = 1;

  // Static, since tasks get copies of the source.
  private static final List<Queue<SourceEvent>> SPLITS = new ArrayList<>();

  /** Creates empty splits, which replace the splits of an earlier source. */
  ScriptedSplits(int count) {
    SPLITS.clear();
    for (int split = 0; split < count; split++) {
      SPLITS.add(new ConcurrentLinkedQueue<>());
    }
  }

  void send(int split, SourceEvent event) {
    SPLITS.get(split).add(event);
  }

  @Override
  public Boundedness getBoundedness() {
    return Boundedness.CONTINUOUS_UNBOUNDED;
  }

  @Override
  public SourceReader<SourceEvent, SourceSplit> createReader(SourceReaderContext context) {
    return new Reader(context.getIndexOfSubtask(), context.currentParallelism());
  }

  /** Reads the splits whose number modulo the parallelism equals the task's index. */
  private static final class Reader implements SourceReader<SourceEvent, SourceSplit> {
    private final int subtask;
    private final int parallelism;

    Reader(int subtask, int parallelism) {
      this.subtask = subtask;
      this.parallelism = parallelism;
    }

    @Override
    public void start() {
      // All splits are there.
    }

    @Override
    public InputStatus pollNext(ReaderOutput<SourceEvent> output) {
      // Creates all splits' outputs before the first event; Flink does so when it assigns splits.
      Map<Integer, SourceOutput<SourceEvent>> outputs = new TreeMap<>();
      for (int split = subtask; split < SPLITS.size(); split += parallelism) {
        outputs.put(split, output.createOutputForSplit(Integer.toString(split)));
      }
      for (int split : outputs.keySet()) {
        for (SourceEvent e = SPLITS.get(split).poll(); e != null; e = SPLITS.get(split).poll()) {
          outputs.get(split).collect(e);
        }
      }
      return InputStatus.NOTHING_AVAILABLE;
    }

    @Override
    public CompletableFuture<Void> isAvailable() {
      return CompletableFuture.runAsync(
          () -> {}, CompletableFuture.delayedExecutor(10, TimeUnit.MILLISECONDS));
    }

    @Override
    public List<SourceSplit> snapshotState(long checkpointId) {
      throw new UnsupportedOperationException("the source keeps no state");
    }

    @Override
    public void addSplits(List<SourceSplit> splits) {
      throw new UnsupportedOperationException("splits are known beforehand");
    }

    @Override
    public void notifyNoMoreSplits() {
      // Splits are known beforehand.
    }

    @Override
    public void close() {
      // Nothing is open.
    }
  }

  /** No splits to return. */
  private static final class NoEnumerator implements SplitEnumerator<SourceSplit, String> {
    @Override
    public void start() {
      // Splits are known beforehand.
    }

    @Override
    public void handleSplitRequest(int subtask, String host) {
      throw new UnsupportedOperationException("splits are known beforehand");
    }

    @Override
    public void addSplitsBack(List<SourceSplit> splits, int subtask) {
      throw new UnsupportedOperationException("the source keeps no state");
    }

    @Override
    public void addReader(int subtask) {
      // The readers know their splits.
    }

    @Override
    public String snapshotState(long checkpointId) {
      throw new UnsupportedOperationException("the source keeps no state");
    }

    @Override
    public void close() {
      // Nothing is open.
    }
  }

  @Override
  public SplitEnumerator<SourceSplit, String> createEnumerator(
      SplitEnumeratorContext<SourceSplit> context) {
    return new NoEnumerator();
  }

  @Override
  public SplitEnumerator<SourceSplit, String> restoreEnumerator(
      SplitEnumeratorContext<SourceSplit> context, String checkpoint) {
    throw new UnsupportedOperationException("the source keeps no state");
  }

  @Override
  public SimpleVersionedSerializer<SourceSplit> getSplitSerializer() {
    return new NoSerializer<>();
  }

  @Override
  public SimpleVersionedSerializer<String> getEnumeratorCheckpointSerializer() {
    return new NoSerializer<>();
  }

  private static final class NoSerializer<T> implements SimpleVersionedSerializer<T> {
    @Override
    public int getVersion() {
      return 1;
    }

    @Override
    public byte[] serialize(T value) {
      throw new UnsupportedOperationException("the source keeps no state");
    }

    @Override
    public T deserialize(int version, byte[] bytes) {
      throw new UnsupportedOperationException("the source keeps no state");
    }
  }
}
