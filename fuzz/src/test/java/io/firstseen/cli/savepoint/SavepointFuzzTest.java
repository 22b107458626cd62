package io.firstseen.cli.savepoint;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.firstseen.cli.shared.Fields;
import io.firstseen.fuzz.Bounds;
import io.firstseen.operators.dedup.DedupSavepoint;
import io.firstseen.serializers.AuditCountsSerializer;
import io.firstseen.serializers.DedupParametersSerializer;
import io.firstseen.serializers.ShardSummarySerializer;
import io.firstseen.types.AuditCounts;
import io.firstseen.types.DedupParameters;
import io.firstseen.types.ShardSummary;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.apache.flink.core.memory.DataInputDeserializer;

/**
 * The state that {@code savepoint info} reads is either rejected with an {@link IOException} or
 * printed.
 */
class SavepointFuzzTest {
  /** The table and the JSON contain lines of text for each shard. */
  private static final long FACTOR = 4_096;

  private static final int MAX_SHARDS = 64;

  @FuzzTest
  void summary(byte[] input) throws Exception {
    Bounds.hold(input.length, FACTOR, () -> print(input));
  }

  private static void print(byte[] bytes) {
    DedupSavepoint savepoint;
    try {
      savepoint = read(new DataInputDeserializer(bytes));
    } catch (IOException e) {
      return;
    }
    Fields fields = new SavepointSummary(savepoint).fields(true);
    if (fields.table().isEmpty() || fields.json().isEmpty()) {
      throw new AssertionError("no text");
    }
  }

  private static DedupSavepoint read(DataInputDeserializer in) throws IOException {
    DedupParameters parameters = DedupParametersSerializer.INSTANCE.deserialize(in);
    AuditCounts audit = in.readBoolean() ? AuditCountsSerializer.INSTANCE.deserialize(in) : null;
    List<ShardSummary> shards = new ArrayList<>();
    while (shards.isEmpty()
        || (shards.size() < Math.min(MAX_SHARDS, parameters.shardCount()) && in.available() > 0)) {
      shards.add(ShardSummarySerializer.INSTANCE.deserialize(in));
    }
    return new DedupSavepoint(
        in.available(),
        1,
        in.available() > 0 ? in.readUnsignedByte() : 0,
        parameters,
        shards,
        audit,
        audit,
        audit,
        in.available() >= Long.BYTES ? OptionalLong.of(in.readLong()) : OptionalLong.empty());
  }
}
