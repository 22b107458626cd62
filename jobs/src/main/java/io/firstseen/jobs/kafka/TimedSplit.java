package io.firstseen.jobs.kafka;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.flink.connector.kafka.source.split.KafkaPartitionSplit;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/** A partition, how far it is read, and the time through which it is read. */
final class TimedSplit extends KafkaPartitionSplit {
  private final long readThroughMillis;

  /**
   * Adds the time to a split.
   *
   * @param readThroughMillis wall-clock time; what is not read yet was written later
   */
  TimedSplit(KafkaPartitionSplit split, long readThroughMillis) {
    super(
        split.getTopicPartition(),
        split.getStartingOffset(),
        split.getStoppingOffset().orElse(NO_STOPPING_OFFSET));
    this.readThroughMillis = readThroughMillis;
  }

  long readThroughMillis() {
    return readThroughMillis;
  }

  @Override
  public boolean equals(Object other) {
    return super.equals(other)
        && other instanceof TimedSplit that
        && readThroughMillis == that.readThroughMillis;
  }

  @Override
  public int hashCode() {
    return 31 * super.hashCode() + Long.hashCode(readThroughMillis);
  }

  /**
   * The bytes of splits in state: the time in eight bytes, big-endian, -1 if there is none, then
   * the bytes of the connector's serializer. The version is that serializer's version plus 100.
   */
  static final class Serializer implements SimpleVersionedSerializer<KafkaPartitionSplit> {
    private static final int WITH_TIME = 100;
    private static final long NO_TIME = -1;

    private final SimpleVersionedSerializer<KafkaPartitionSplit> connectors;

    Serializer(SimpleVersionedSerializer<KafkaPartitionSplit> connectors) {
      this.connectors = connectors;
    }

    @Override
    public int getVersion() {
      return WITH_TIME + connectors.getVersion();
    }

    @Override
    public byte[] serialize(KafkaPartitionSplit split) throws IOException {
      long millis = split instanceof TimedSplit timed ? timed.readThroughMillis : NO_TIME;
      byte[] bytes = connectors.serialize(split);
      return ByteBuffer.allocate(Long.BYTES + bytes.length).putLong(millis).put(bytes).array();
    }

    @Override
    public KafkaPartitionSplit deserialize(int version, byte[] bytes) throws IOException {
      if (version < WITH_TIME) {
        return connectors.deserialize(version, bytes);
      }
      ByteBuffer buffer = ByteBuffer.wrap(bytes);
      long millis = buffer.getLong();
      byte[] rest = new byte[buffer.remaining()];
      buffer.get(rest);
      KafkaPartitionSplit split = connectors.deserialize(version - WITH_TIME, rest);
      return millis == NO_TIME ? split : new TimedSplit(split, millis);
    }
  }
}
