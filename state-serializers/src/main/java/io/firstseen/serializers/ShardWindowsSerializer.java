package io.firstseen.serializers;

import io.firstseen.types.ShardWindows;
import java.io.IOException;
import java.util.Arrays;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * Writes {@link ShardWindows}.
 *
 * <p>Version 2: the end of the last closed window and the live count in 8 bytes each, the number of
 * open windows in 4, the end of each in 8. Version 1 was of other formats of snapshots and cannot
 * be read.
 */
public final class ShardWindowsSerializer extends ImmutableSerializer<ShardWindows> {

  public static final ShardWindowsSerializer INSTANCE = new ShardWindowsSerializer();

  private static final long serialVersionUID = 1;

  private static final int READ_AT_ONCE = 1_024;

  @Override
  public void serialize(ShardWindows windows, DataOutputView out) throws IOException {
    out.writeLong(windows.closedUntilMillis());
    out.writeLong(windows.liveCount());
    out.writeInt(windows.openEndsMillis().length);
    for (long end : windows.openEndsMillis()) {
      out.writeLong(end);
    }
  }

  @Override
  public ShardWindows deserialize(DataInputView in) throws IOException {
    long closedUntilMillis = in.readLong();
    long liveCount = in.readLong();
    int open = in.readInt();
    if (open < 0) {
      throw new IOException("number of open windows must be at least 0, got " + open);
    }
    // Grows with the bytes read, so that a forged number cannot allocate more memory than the input
    // has bytes.
    long[] openEndsMillis = new long[Math.min(open, READ_AT_ONCE)];
    for (int i = 0; i < open; i++) {
      if (i == openEndsMillis.length) {
        openEndsMillis = Arrays.copyOf(openEndsMillis, (int) Math.min(open, 2L * i));
      }
      openEndsMillis[i] = in.readLong();
    }
    return new ShardWindows(closedUntilMillis, liveCount, openEndsMillis);
  }

  @Override
  public TypeSerializerSnapshot<ShardWindows> snapshotConfiguration() {
    return new Snapshot();
  }

  /** The format version in state. */
  public static final class Snapshot extends VersionedSerializerSnapshot<ShardWindows> {
    public Snapshot() {
      super(2, () -> INSTANCE);
    }
  }
}
