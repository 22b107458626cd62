package io.firstseen.operators.restores;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.core.io.InputStatus;

/** Positions of a script, from a first one on, in order, as far as a valve is open. */
final class GatedSource extends NumberSequenceSource {
  private static final long serialVersionUID = 1;

  private final InTest<Valve> valve;

  GatedSource(long first, InTest<Valve> valve) {
    super(first, Integer.MAX_VALUE);
    this.valve = valve;
  }

  @Override
  public SourceReader<Long, NumberSequenceSplit> createReader(SourceReaderContext context) {
    return new Reader(context, valve.get());
  }

  private static final class Reader implements SourceReader<Long, NumberSequenceSplit> {
    private final SourceReaderContext context;
    private final Valve valve;
    private final CompletableFuture<Void> assigned = new CompletableFuture<>();
    private NumberSequenceSplit split;
    private long next;

    Reader(SourceReaderContext context, Valve valve) {
      this.context = context;
      this.valve = valve;
    }

    @Override
    public void start() {
      if (split == null) {
        context.sendSplitRequest();
      }
    }

    @Override
    public void addSplits(List<NumberSequenceSplit> splits) {
      split = splits.get(0);
      next = split.from();
      assigned.complete(null);
    }

    @Override
    public InputStatus pollNext(ReaderOutput<Long> output) {
      if (split == null) {
        return InputStatus.NOTHING_AVAILABLE;
      }
      if (valve.isOpen(next)) {
        output.collect(next++);
        return InputStatus.MORE_AVAILABLE;
      }
      return valve.isEnd(next) ? InputStatus.END_OF_INPUT : InputStatus.NOTHING_AVAILABLE;
    }

    @Override
    public CompletableFuture<Void> isAvailable() {
      return split == null ? assigned : valve.available(next);
    }

    @Override
    public List<NumberSequenceSplit> snapshotState(long checkpointId) {
      return split == null
          ? List.of()
          : List.of(new NumberSequenceSplit(split.splitId(), next, split.to()));
    }

    @Override
    public void notifyNoMoreSplits() {}

    @Override
    public void close() {}
  }
}
