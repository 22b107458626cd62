package io.firstseen.fuzz;

import static io.firstseen.fuzz.Fail.require;
import static io.firstseen.fuzz.Fail.requireSame;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.firstseen.filters.cuckoo.CuckooFilter;
import io.firstseen.filters.cuckoo.CuckooFormat;
import io.firstseen.filters.cuckoo.CuckooPage;
import io.firstseen.filters.cuckoo.CuckooShape;
import io.firstseen.filters.cuckoo.InsertionResult;
import io.firstseen.filters.cuckoo.LogSegment;
import io.firstseen.filters.cuckoo.MalformedFilterException;
import io.firstseen.serializers.AuditCountsSerializer;
import io.firstseen.serializers.ChangeSerializer;
import io.firstseen.serializers.CuckooPageSerializer;
import io.firstseen.serializers.DedupParametersSerializer;
import io.firstseen.serializers.ExactEntrySerializer;
import io.firstseen.serializers.GolombCodedSetSerializer;
import io.firstseen.serializers.HashedOperationSerializer;
import io.firstseen.serializers.KeyEpochsSerializer;
import io.firstseen.serializers.OutcomeSerializer;
import io.firstseen.serializers.PackChainSerializer;
import io.firstseen.serializers.PendingOperationSerializer;
import io.firstseen.serializers.PublishedShardSerializer;
import io.firstseen.serializers.RejectedSerializer;
import io.firstseen.serializers.ShardChainSerializer;
import io.firstseen.serializers.ShardSnapshotSerializer;
import io.firstseen.serializers.ShardSummarySerializer;
import io.firstseen.serializers.ShardWindowsSerializer;
import io.firstseen.serializers.SnapshotRecordSerializer;
import io.firstseen.serializers.SourceEventSerializer;
import io.firstseen.types.DedupParameters;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;

/**
 * All values in Flink's state, in every version that can be read, are either rejected with an
 * {@link IOException} or written in a form that is read as the same value. Pages of filters are
 * written back unchanged.
 */
class StateFuzzTest {
  /** An event with headers needs several small objects for every few bytes. */
  private static final long FACTOR = 128;

  private static final List<TypeSerializer<?>> SERIALIZERS =
      List.of(
          AuditCountsSerializer.INSTANCE,
          new ChangeSerializer<>(SourceEventSerializer.INSTANCE),
          DedupParametersSerializer.INSTANCE,
          ExactEntrySerializer.INSTANCE,
          GolombCodedSetSerializer.INSTANCE,
          HashedOperationSerializer.INSTANCE,
          KeyEpochsSerializer.INSTANCE,
          OutcomeSerializer.INSTANCE,
          PackChainSerializer.INSTANCE,
          PendingOperationSerializer.INSTANCE,
          PublishedShardSerializer.INSTANCE,
          new RejectedSerializer<>(SourceEventSerializer.INSTANCE),
          ShardChainSerializer.INSTANCE,
          ShardSnapshotSerializer.INSTANCE,
          ShardSummarySerializer.INSTANCE,
          ShardWindowsSerializer.INSTANCE,
          SnapshotRecordSerializer.INSTANCE,
          SourceEventSerializer.INSTANCE);

  /** The serializers of all versions before the current one. */
  private static final List<TypeSerializer<?>> EARLIER =
      Stream.of(
              DedupParametersSerializer.INSTANCE,
              OutcomeSerializer.INSTANCE,
              SourceEventSerializer.INSTANCE)
          .<TypeSerializer<?>>flatMap(
              serializer ->
                  IntStream.range(1, serializer.snapshotConfiguration().getCurrentVersion())
                      .mapToObj(version -> ofVersion(serializer, version)))
          .toList();

  private static <T> TypeSerializer<T> ofVersion(TypeSerializer<T> serializer, int version) {
    TypeSerializerSnapshot<T> snapshot = serializer.snapshotConfiguration();
    try {
      snapshot.readSnapshot(
          version, new DataInputDeserializer(new byte[0]), StateFuzzTest.class.getClassLoader());
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    return snapshot.restoreSerializer();
  }

  /**
   * @param input a byte that chooses the serializer, and the value
   */
  @FuzzTest
  void value(byte[] input) throws Exception {
    if (input.length == 0) {
      return;
    }
    int choice = (input[0] & 0xFF) % (SERIALIZERS.size() + EARLIER.size());
    boolean isCurrent = choice < SERIALIZERS.size();
    TypeSerializer<?> serializer =
        isCurrent ? SERIALIZERS.get(choice) : EARLIER.get(choice - SERIALIZERS.size());
    byte[] value = Arrays.copyOfRange(input, 1, input.length);
    Bounds.hold(value.length, FACTOR, () -> readAndWrite(serializer, value));
  }

  /** A page. */
  @FuzzTest
  void page(byte[] input) throws Exception {
    Bounds.hold(input.length, FACTOR, () -> readPage(input));
  }

  /**
   * @param input a byte that gives P, and a segment of the log
   */
  @FuzzTest
  void segment(byte[] input) throws Exception {
    if (input.length == 0) {
      return;
    }
    CuckooShape shape =
        new CuckooShape(
            CuckooShape.MIN_IDENTITY_BITS
                + (input[0] & 0xFF)
                    % (CuckooShape.MAX_IDENTITY_BITS - CuckooShape.MIN_IDENTITY_BITS + 1));
    byte[] value = Arrays.copyOfRange(input, 1, input.length);
    Bounds.hold(
        value.length,
        FACTOR,
        () -> {
          try {
            requireSame("a segment", LogSegment.of(shape, value).toBytes(), value);
          } catch (MalformedFilterException e) {
            // Rejected.
          }
        });
  }

  private static <T> void readAndWrite(TypeSerializer<T> serializer, byte[] bytes)
      throws IOException {
    T value;
    try {
      value = serializer.deserialize(new DataInputDeserializer(bytes));
    } catch (IOException e) {
      return;
    }
    TypeSerializer<T> writer = writer(serializer, value);
    byte[] written = write(writer, value);
    T again = writer.deserialize(new DataInputDeserializer(written));
    requireSame("a value of " + writer.getClass(), write(writer, again), written);
  }

  /** Nothing is written in an earlier version. */
  @SuppressWarnings("unchecked") // The current serializer of the same values.
  private static <T> TypeSerializer<T> writer(TypeSerializer<T> serializer, T value) {
    return value instanceof DedupParameters
        ? (TypeSerializer<T>) DedupParametersSerializer.INSTANCE
        : serializer;
  }

  private static <T> byte[] write(TypeSerializer<T> serializer, T value) throws IOException {
    DataOutputSerializer out = new DataOutputSerializer(64);
    serializer.serialize(value, out);
    return out.getCopyOfBuffer();
  }

  private static void readPage(byte[] bytes) throws IOException {
    DataInputDeserializer in = new DataInputDeserializer(bytes);
    CuckooPage page;
    try {
      page = CuckooPageSerializer.INSTANCE.deserialize(in);
    } catch (IOException e) {
      return;
    }
    byte[] read = Arrays.copyOf(bytes, bytes.length - in.available());
    requireSame("a page", write(CuckooPageSerializer.INSTANCE, page), read);
    try {
      page.verify();
    } catch (MalformedFilterException e) {
      return;
    }
    CuckooPage copy = page.copy();
    copy.touch();
    DataOutputSerializer out = new DataOutputSerializer(bytes.length);
    CuckooFormat.writePage(copy, out);
    requireSame("a copy of a page", out.getCopyOfBuffer(), read);
    useAsFilter(page, read);
  }

  /** A verified page of depth 0 is a filter: operations on it must work. */
  private static void useAsFilter(CuckooPage page, byte[] bytes) throws IOException {
    if (page.depth() != 0 || page.hasEpochs()) {
      return;
    }
    CuckooFilter filter;
    try {
      filter = CuckooFilter.readFrom(new ByteArrayInputStream(Checksums.filterOf(page, bytes)));
    } catch (MalformedFilterException e) {
      throw new AssertionError("a page that verifies must be a filter", e);
    }
    long count = filter.count();
    long hash = bytes.length > 20 ? bytes[20] * 0x9E3779B97F4A7C15L : 0;
    InsertionResult result = filter.insert(hash);
    require(filter.mightContain(hash), "a hash must be found after its insertion");
    if (result == InsertionResult.STORED) {
      require(filter.count() == count + 1, "an insertion must count");
      require(filter.delete(hash), "an inserted hash must be deleted");
    }
    require(filter.count() == count, "a deletion must count");
    filter.writeTo(new ByteArrayOutputStream());
  }
}
