package io.firstseen.operators.dedup;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.ObjectInputFilter.FilterInfo;
import java.io.ObjectInputFilter.Status;
import java.io.ObjectInputStream;
import java.io.ObjectStreamConstants;
import java.nio.ByteBuffer;

/**
 * The bytes of a savepoint's metadata, as Flink reads them. At their end Flink deserialises the
 * properties of the checkpoint using Java serialization without a filter, so untrusted metadata
 * could create objects of any class. This class first reads them with a filter that allows only the
 * classes of the properties.
 */
final class MetadataBytes extends ByteArrayInputStream {

  MetadataBytes(byte[] metadata) {
    super(metadata);
  }

  @Override
  public synchronized int read() {
    checkObject();
    return super.read();
  }

  @Override
  public synchronized int read(byte[] bytes, int offset, int length) {
    checkObject();
    return super.read(bytes, offset, length);
  }

  /** Checks the object that begins here, if Flink deserialises it. */
  private void checkObject() {
    ByteBuffer left = ByteBuffer.wrap(buf, pos, count - pos);
    if (left.remaining() < Short.BYTES
        || left.getShort() != ObjectStreamConstants.STREAM_MAGIC
        || !isReadAsObject()) {
      return;
    }
    try (ObjectInputStream objects =
        new ObjectInputStream(new ByteArrayInputStream(buf, pos, count - pos))) {
      objects.setObjectInputFilter(MetadataBytes::check);
      objects.readObject();
    } catch (IOException | ClassNotFoundException e) {
      throw new IllegalStateException(
          "an object that is not in a checkpoint's properties: " + e, e);
    }
  }

  private static boolean isReadAsObject() {
    return StackWalker.getInstance()
        .walk(
            frames ->
                frames.anyMatch(
                    frame -> frame.getClassName().equals(ObjectInputStream.class.getName())));
  }

  private static Status check(FilterInfo info) {
    Class<?> type = info.serialClass();
    if (type == null) {
      return Status.UNDECIDED;
    }
    String name = type.getName();
    return type == Enum.class
            || name.startsWith("org.apache.flink.runtime.checkpoint.")
            || name.startsWith("org.apache.flink.core.execution.")
        ? Status.ALLOWED
        : Status.REJECTED;
  }
}
