package io.firstseen.jobs.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.ScopedKey;
import io.firstseen.filters.key.Shards;
import io.firstseen.jobs.kafka.WrittenOutcomes.OutcomeShards;
import io.firstseen.operators.KeyHashSource;
import io.firstseen.serializers.Outcome;
import io.firstseen.serializers.Place;
import io.firstseen.serializers.SourceEvent;
import io.firstseen.types.Operation;
import java.util.List;
import org.apache.flink.api.common.TaskInfoImpl;
import org.junit.jupiter.api.Test;

class WrittenOutcomesTest {
  private static final Shards SHARDS = new Shards(2);

  /** The tasks of both shards had written to different offsets. */
  private static WrittenOutcomes outcomes(boolean isByScope) {
    OutcomeShards shards = new OutcomeShards(2, KeyHashSource.inJob(KeyHash.fixed()), isByScope);
    WrittenOutcomes outcomes =
        new WrittenOutcomes(shards, new TaskInfoImpl("sink", 2, 0, 1, 0), new WrittenOffsets(2));
    WrittenOffsets written = new WrittenOffsets(2);
    written.addLines(List.of("0-0 events-0@10", "1-1 events-0@20"));
    outcomes.setWritten(written);
    return outcomes;
  }

  private static Outcome outcome(byte[] key, long offset) {
    return Outcome.of(
        Outcome.Kind.ACCEPTED,
        key,
        SourceEvent.of(Operation.ADD, null, key, null, 0, new Place("events", 0, offset)));
  }

  private static int shard(byte[] bytes) {
    return SHARDS.shardOf(KeyHash.fixed().hash(bytes));
  }

  @Test
  void theKeyOrItsScopeSelectsTheOffset() throws Exception {
    WrittenOutcomes byKey = outcomes(false);
    WrittenOutcomes byScope = outcomes(true);
    int different = 0;
    for (int i = 0; i < 20; i++) {
      byte[] scope = ("scope-" + i % 3).getBytes(UTF_8);
      byte[] key = ScopedKey.join(i % 4 == 0 ? null : scope, ("key-" + i).getBytes(UTF_8));
      assertThat(byKey.isWritten(outcome(key, 15))).isEqualTo(shard(key) == 1);
      int ofScope = shard(i % 4 == 0 ? new byte[0] : scope);
      assertThat(byScope.isWritten(outcome(key, 15))).isEqualTo(ofScope == 1);
      different += shard(key) == ofScope ? 0 : 1;
    }
    assertThat(different).isBetween(5, 15);
  }
}
