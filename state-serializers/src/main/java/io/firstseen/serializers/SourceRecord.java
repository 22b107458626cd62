package io.firstseen.serializers;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The Kafka record of an event, except its value, which is the event's payload.
 *
 * @param partition the partition that it was read from
 * @param timestampMillis its timestamp, negative for none
 * @param key its key, null for none
 * @param headers its headers, in order
 */
// Equality by content is written out below.
@SuppressWarnings("ArrayRecordComponent")
public record SourceRecord(
    int partition, long timestampMillis, byte @Nullable [] key, List<Header> headers) {
  public SourceRecord {
    headers = List.copyOf(headers);
  }

  /**
   * A header.
   *
   * @param name its name; several headers may have the same name
   * @param value its value, null for none
   */
  @SuppressWarnings("ArrayRecordComponent")
  public record Header(String name, byte @Nullable [] value) {
    public Header {
      Objects.requireNonNull(name, "name");
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Header that
          && name.equals(that.name)
          && Arrays.equals(value, that.value);
    }

    @Override
    public int hashCode() {
      return Objects.hash(name, Arrays.hashCode(value));
    }
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof SourceRecord that
        && partition == that.partition
        && timestampMillis == that.timestampMillis
        && Arrays.equals(key, that.key)
        && headers.equals(that.headers);
  }

  @Override
  public int hashCode() {
    return Objects.hash(partition, timestampMillis, Arrays.hashCode(key), headers);
  }
}
