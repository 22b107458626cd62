package io.firstseen.benchmarks.shared;

import java.util.List;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceSplit;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/**
 * A source whose readers know what to make, so that its enumerator has no splits and no state.
 *
 * @param <T> type of the records
 * @param <S> what a reader writes to a checkpoint
 */
public abstract class SelfSplitSource<T, S extends SourceSplit> implements Source<T, S, Integer> {
  private static final long serialVersionUID = 1;

  @Override
  public final Boundedness getBoundedness() {
    return Boundedness.CONTINUOUS_UNBOUNDED;
  }

  @Override
  public final SplitEnumerator<S, Integer> createEnumerator(SplitEnumeratorContext<S> context) {
    return new NoEnumerator<>();
  }

  @Override
  public final SplitEnumerator<S, Integer> restoreEnumerator(
      SplitEnumeratorContext<S> context, Integer state) {
    return new NoEnumerator<>();
  }

  @Override
  public final SimpleVersionedSerializer<Integer> getEnumeratorCheckpointSerializer() {
    return new NothingSerializer<>(0);
  }

  private static final class NoEnumerator<S extends SourceSplit>
      implements SplitEnumerator<S, Integer> {
    @Override
    public void start() {}

    @Override
    public void handleSplitRequest(int subtask, String host) {}

    @Override
    public void addSplitsBack(List<S> splits, int subtask) {}

    @Override
    public void addReader(int subtask) {}

    @Override
    public Integer snapshotState(long checkpointId) {
      return 0;
    }

    @Override
    public void close() {}
  }

  /** Writes the only value of a type, which takes no bytes. */
  protected static final class NothingSerializer<S> implements SimpleVersionedSerializer<S> {
    private final S only;

    public NothingSerializer(S only) {
      this.only = only;
    }

    @Override
    public int getVersion() {
      return 1;
    }

    @Override
    public byte[] serialize(S value) {
      return new byte[0];
    }

    @Override
    public S deserialize(int version, byte[] serialized) {
      return only;
    }
  }
}
