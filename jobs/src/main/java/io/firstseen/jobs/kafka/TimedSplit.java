package io.firstseen.jobs.kafka;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.flink.connector.kafka.source.split.KafkaPartitionSplit;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.kafka.common.Uuid;

/** A partition with its position, the time through which it is read, and the topic's id. */
final class TimedSplit extends KafkaPartitionSplit {
  static final long NO_TIME = -1;

  private final long readThroughMillis;
  private final Uuid topicId;

  /** All unread records were written after the wall-clock time; a zero id is unknown. */
  TimedSplit(KafkaPartitionSplit split, long readThroughMillis, Uuid topicId) {
    super(
        split.getTopicPartition(),
        split.getStartingOffset(),
        split.getStoppingOffset().orElse(NO_STOPPING_OFFSET));
    this.readThroughMillis = readThroughMillis;
    this.topicId = topicId;
  }

  long readThroughMillis() {
    return readThroughMillis;
  }

  /** Returns the id of the split's topic; zero if it is unknown. */
  static Uuid topicId(KafkaPartitionSplit split) {
    return split instanceof TimedSplit timed ? timed.topicId : Uuid.ZERO_UUID;
  }

  /**
   * The format of splits in state: the time in eight bytes, big-endian, -1 if it is unknown; the id
   * of the topic in sixteen bytes; then the bytes of the connector's serializer. The version is the
   * version of the connector's serializer plus 200. Versions from 100 to 199 have no id.
   */
  static final class Serializer implements SimpleVersionedSerializer<KafkaPartitionSplit> {
    private static final int WITH_TIME = 100;
    private static final int WITH_ID = 200;

    private final SimpleVersionedSerializer<KafkaPartitionSplit> connectors;

    Serializer(SimpleVersionedSerializer<KafkaPartitionSplit> connectors) {
      this.connectors = connectors;
    }

    @Override
    public int getVersion() {
      return WITH_ID + connectors.getVersion();
    }

    @Override
    public byte[] serialize(KafkaPartitionSplit split) throws IOException {
      long millis = split instanceof TimedSplit timed ? timed.readThroughMillis : NO_TIME;
      Uuid id = topicId(split);
      byte[] bytes = connectors.serialize(split);
      return ByteBuffer.allocate(3 * Long.BYTES + bytes.length)
          .putLong(millis)
          .putLong(id.getMostSignificantBits())
          .putLong(id.getLeastSignificantBits())
          .put(bytes)
          .array();
    }

    @Override
    public KafkaPartitionSplit deserialize(int version, byte[] bytes) throws IOException {
      if (version < WITH_TIME) {
        return connectors.deserialize(version, bytes);
      }
      ByteBuffer buffer = ByteBuffer.wrap(bytes);
      long millis = buffer.getLong();
      Uuid id = version < WITH_ID ? Uuid.ZERO_UUID : new Uuid(buffer.getLong(), buffer.getLong());
      byte[] rest = new byte[buffer.remaining()];
      buffer.get(rest);
      KafkaPartitionSplit split = connectors.deserialize(version % WITH_TIME, rest);
      return millis == NO_TIME && id.equals(Uuid.ZERO_UUID)
          ? split
          : new TimedSplit(split, millis, id);
    }
  }
}
