package io.firstseen.serializers;

import io.firstseen.types.KeyEpochs;
import java.io.IOException;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * Writes {@link KeyEpochs}.
 *
 * <p>Version 1: the number of epochs in a byte; for each epoch its end and its number of keys in 8
 * bytes each; then the epoch numbers of the keys after their length.
 */
public final class KeyEpochsSerializer extends ImmutableSerializer<KeyEpochs> {

  public static final KeyEpochsSerializer INSTANCE = new KeyEpochsSerializer();

  private static final long serialVersionUID = 1;

  @Override
  public void serialize(KeyEpochs epochs, DataOutputView out) throws IOException {
    out.writeByte(epochs.endsMillis().length);
    for (int i = 0; i < epochs.endsMillis().length; i++) {
      out.writeLong(epochs.endsMillis()[i]);
      out.writeLong(epochs.counts()[i]);
    }
    ByteFields.writeBytes(epochs.numbers(), out);
  }

  @Override
  public KeyEpochs deserialize(DataInputView in) throws IOException {
    int epochs = in.readUnsignedByte();
    long[] endsMillis = new long[epochs];
    long[] counts = new long[epochs];
    for (int i = 0; i < epochs; i++) {
      endsMillis[i] = in.readLong();
      counts[i] = in.readLong();
    }
    byte[] numbers = ByteFields.readBytes(in);
    return ByteFields.checked(() -> new KeyEpochs(endsMillis, counts, numbers));
  }

  @Override
  public TypeSerializerSnapshot<KeyEpochs> snapshotConfiguration() {
    return new Snapshot();
  }

  /** The format version in state. */
  public static final class Snapshot extends VersionedSerializerSnapshot<KeyEpochs> {
    public Snapshot() {
      super(1, () -> INSTANCE);
    }
  }
}
