package io.firstseen.benchmarks.billions;

import io.firstseen.benchmarks.shared.SelfSplitSource;
import io.firstseen.benchmarks.shared.Url;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SourceSplit;
import org.apache.flink.core.io.InputStatus;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/**
 * Makes URLs of {@value Url#SHORT_BYTES} bytes, in groups of {@value #GROUP}: the URLs of the next
 * keys, and a repeat drawn at random from all keys before. Each reader makes every n-th group, and
 * a checkpoint has the next group of each. At the limit of {@link #makeUpTo} the stream waits; it
 * does not end.
 */
final class UrlStream extends SelfSplitSource<Url, UrlStream.Part> {
  private static final long serialVersionUID = 1;

  /** The records of a group. */
  static final int GROUP = 5;

  /** The new keys of a group. */
  static final int NEW_KEYS = GROUP - 1;

  /** Groups that a reader makes before it yields to the task's other work. */
  private static final int BATCH = 4;

  /** Flink creates the readers in this JVM, where they find it. */
  private static volatile Limit limit = new Limit(0);

  /** Lets the readers make this many groups in all, and then wait. */
  static void makeUpTo(long groups) {
    Limit before = limit;
    limit = new Limit(groups);
    before.replaced.complete(null);
  }

  /** Lets all readers wait. */
  static void pause() {
    makeUpTo(0);
  }

  /** The number of different keys among the first records; at least 0. */
  static long keys(long records) {
    return records / GROUP * NEW_KEYS + Math.min(records % GROUP, NEW_KEYS);
  }

  /** The number of the key that a group repeats. */
  static long repeated(long group) {
    return (Url.scramble(~group) >>> 1) % (NEW_KEYS * (group + 1));
  }

  @Override
  public SourceReader<Url, Part> createReader(SourceReaderContext context) {
    return new Reader(context.getIndexOfSubtask(), context.currentParallelism());
  }

  @Override
  public SimpleVersionedSerializer<Part> getSplitSerializer() {
    return new PartSerializer();
  }

  private static final class Limit {
    final long groups;
    final CompletableFuture<Void> replaced = new CompletableFuture<>();

    Limit(long groups) {
      this.groups = groups;
    }
  }

  private static final class Reader implements SourceReader<Url, Part> {
    private final int overOthers;
    private long next;

    Reader(int index, int parallelism) {
      this.next = index;
      this.overOthers = parallelism;
    }

    @Override
    public InputStatus pollNext(ReaderOutput<Url> output) {
      for (int i = 0; i < BATCH && hasNext(); i++) {
        for (int key = 0; key < NEW_KEYS; key++) {
          output.collect(Url.shortOf(NEW_KEYS * next + key));
        }
        output.collect(Url.shortOf(repeated(next)));
        next += overOthers;
      }
      return hasNext() ? InputStatus.MORE_AVAILABLE : InputStatus.NOTHING_AVAILABLE;
    }

    private boolean hasNext() {
      return next < limit.groups;
    }

    @Override
    public CompletableFuture<Void> isAvailable() {
      Limit now = limit;
      return next < now.groups ? CompletableFuture.completedFuture(null) : now.replaced;
    }

    @Override
    public List<Part> snapshotState(long checkpointId) {
      return List.of(new Part(next));
    }

    /** Called after a restore, with what {@link #snapshotState} gave. */
    @Override
    public void addSplits(List<Part> parts) {
      next = parts.get(0).next();
    }

    @Override
    public void start() {}

    @Override
    public void notifyNoMoreSplits() {}

    @Override
    public void close() {}
  }

  /** The groups of a reader that are still to be made; the enumerator makes none. */
  record Part(long next) implements SourceSplit {
    @Override
    public String splitId() {
      return "rest";
    }
  }

  private static final class PartSerializer implements SimpleVersionedSerializer<Part> {
    @Override
    public int getVersion() {
      return 1;
    }

    @Override
    public byte[] serialize(Part part) {
      return ByteBuffer.allocate(Long.BYTES).putLong(part.next()).array();
    }

    @Override
    public Part deserialize(int version, byte[] bytes) {
      return new Part(ByteBuffer.wrap(bytes).getLong());
    }
  }
}
