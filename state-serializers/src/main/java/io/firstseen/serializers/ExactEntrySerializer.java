package io.firstseen.serializers;

import io.firstseen.types.ExactEntry;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * Writes an {@link ExactEntry}.
 *
 * <p>Version 1: a byte of flags (1 has a time, 2 has a key, 4 has a next entry); then the parts
 * that are present: the time in 8 bytes, the key after its length, the next entry in the same form.
 */
public final class ExactEntrySerializer extends ImmutableSerializer<ExactEntry> {
  public static final ExactEntrySerializer INSTANCE = new ExactEntrySerializer();

  private static final long serialVersionUID = 1;

  private static final int TIME = 1;
  private static final int KEY = 2;
  private static final int NEXT = 4;

  @Override
  public void serialize(ExactEntry first, DataOutputView out) throws IOException {
    for (ExactEntry entry = first; entry != null; entry = entry.next()) {
      out.writeByte(
          (entry.endMillis() == 0 ? 0 : TIME)
              | (entry.key() == null ? 0 : KEY)
              | (entry.next() == null ? 0 : NEXT));
      if (entry.endMillis() != 0) {
        out.writeLong(entry.endMillis());
      }
      if (entry.key() != null) {
        ByteFields.writeBytes(entry.key(), out);
      }
    }
  }

  @Override
  public ExactEntry deserialize(DataInputView in) throws IOException {
    int flags = readFlags(in);
    if (flags == 0) {
      return ExactEntry.HASH;
    }
    // Not recursive: an attacker who knows the hash key can create any number of keys with equal
    // hashes.
    Deque<ExactEntry> entries = new ArrayDeque<>();
    entries.push(readEntry(flags, in));
    while ((flags & NEXT) != 0) {
      flags = readFlags(in);
      entries.push(readEntry(flags, in));
    }
    ExactEntry first = entries.pop();
    while (!entries.isEmpty()) {
      ExactEntry before = entries.pop();
      first = new ExactEntry(before.endMillis(), before.key(), first);
    }
    return first;
  }

  private static int readFlags(DataInputView in) throws IOException {
    int flags = in.readUnsignedByte();
    if (flags > (TIME | KEY | NEXT)) {
      throw new IOException("flags of an exact entry must be in [0, 7], got " + flags);
    }
    return flags;
  }

  private static ExactEntry readEntry(int flags, DataInputView in) throws IOException {
    long endMillis = (flags & TIME) == 0 ? 0 : in.readLong();
    byte[] key = (flags & KEY) == 0 ? null : ByteFields.readBytes(in);
    return endMillis == 0 && key == null ? ExactEntry.HASH : new ExactEntry(endMillis, key, null);
  }

  @Override
  public TypeSerializerSnapshot<ExactEntry> snapshotConfiguration() {
    return new Snapshot();
  }

  /** The format version in state. */
  public static final class Snapshot extends VersionedSerializerSnapshot<ExactEntry> {
    public Snapshot() {
      super(1, () -> INSTANCE);
    }
  }
}
