package io.firstseen.operators.dedup;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.filters.key.Shards;
import io.firstseen.operators.ShardKeys;
import io.firstseen.operators.dedup.DedupTasks.Backend;
import io.firstseen.serializers.Change;
import io.firstseen.serializers.ChangeSerializer;
import io.firstseen.types.Operation;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.common.watermark.WatermarkDeclarations;
import org.apache.flink.runtime.event.WatermarkEvent;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.streaming.runtime.streamrecord.LatencyMarker;
import org.apache.flink.streaming.runtime.streamrecord.RecordAttributesBuilder;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.streaming.util.KeyedOneInputStreamOperatorTestHarness;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Events wait for a few others, but not long, and nothing passes them. */
// Flink's harness may be interrupted while it closes.
@SuppressWarnings("try")
class EventBatchTest {
  private static final int SOME = EventBatch.EVENTS - 1;

  /** Stream elements that follow events. */
  private enum Follower {
    WATERMARK {
      @Override
      void come(Harness harness) throws Exception {
        harness.processWatermark(7);
      }
    },
    GENERAL_WATERMARK {
      @Override
      void come(Harness harness) throws Exception {
        harness
            .getOneInputOperator()
            .processWatermark(
                new WatermarkEvent(
                    WatermarkDeclarations.newBuilder("other")
                        .typeLong()
                        .combineFunctionMax()
                        .build()
                        .newWatermark(7),
                    false));
      }
    },
    LATENCY_MARKER {
      @Override
      void come(Harness harness) throws Exception {
        harness
            .getOneInputOperator()
            .processLatencyMarker(new LatencyMarker(1, new OperatorID(), 0));
      }
    },
    STATUS {
      @Override
      void come(Harness harness) throws Exception {
        harness.processWatermarkStatus(WatermarkStatus.IDLE);
      }
    },
    ATTRIBUTES {
      @Override
      void come(Harness harness) throws Exception {
        harness.processRecordAttributes(
            new RecordAttributesBuilder(List.of()).setBacklog(true).build());
      }
    },
    BARRIER {
      @Override
      void come(Harness harness) throws Exception {
        harness.prepareSnapshotPreBarrier(1);
      }
    },
    END {
      @Override
      void come(Harness harness) throws Exception {
        harness.getOperator().finish();
      }
    };

    abstract void come(Harness harness) throws Exception;
  }

  @Test
  void waitForAFewOthers() throws Exception {
    try (Harness harness = new Harness()) {
      List<String> keys = harness.send("a", SOME);
      assertThat(harness.accepted()).isEmpty();
      keys.addAll(harness.send("b", 1));
      assertThat(harness.accepted()).isEqualTo(keys);
    }
  }

  @Test
  void waitAFewMillisecondsAtMost() throws Exception {
    try (Harness harness = new Harness()) {
      List<String> keys = new ArrayList<>();
      for (int time = 0; time < 10; time++) {
        harness.setProcessingTime(time * EventBatch.MAX_MILLIS);
        assertThat(harness.accepted()).as("what waited").isEqualTo(keys);
        // Full batches are emitted immediately and do not change the timer.
        List<String> more = harness.send("time-" + time + "-", time * SOME);
        assertThat(harness.accepted())
            .hasSize(keys.size() + more.size() / EventBatch.EVENTS * EventBatch.EVENTS);
        keys.addAll(more);
        harness.setProcessingTime((time + 1) * EventBatch.MAX_MILLIS - 1);
      }
      harness.setProcessingTime(10 * EventBatch.MAX_MILLIS);
      assertThat(harness.accepted()).isEqualTo(keys);
    }
  }

  @Test
  void aRecordMayBeUsedAgain() throws Exception {
    try (Harness harness = new Harness()) {
      StreamRecord<Change<String>> record = new StreamRecord<>(null);
      for (int i = 0; i < 3; i++) {
        record.replace(ExpiryModel.change(Operation.ADD, "a" + i));
        if (i == 1) {
          record.setTimestamp(7);
        } else {
          record.eraseTimestamp();
        }
        harness.processElement(record);
      }
      record.replace(null);
      harness.prepareSnapshotPreBarrier(1);
      assertThat(harness.accepted()).containsExactly("a0", "a1", "a2");
      assertThat(harness.timestamps()).containsExactly(null, 7L, null);
    }
  }

  @ParameterizedTest
  @EnumSource
  void nothingPassesThem(Follower follower) throws Exception {
    try (Harness harness = new Harness()) {
      List<String> keys = harness.send("a", SOME);
      follower.come(harness);
      assertThat(harness.accepted()).isEqualTo(keys);
      assertThat(harness.getOutput().stream().limit(SOME))
          .as("before anything else")
          .allMatch(element -> element instanceof StreamRecord);
    }
  }

  @ParameterizedTest
  @EnumSource(Backend.class)
  void anEventOfTheSameBatchCounts(Backend backend) throws Exception {
    try (Harness harness = new Harness(backend)) {
      harness.send("a", 3);
      harness.send("a", 3);
      harness.prepareSnapshotPreBarrier(1);
      assertThat(harness.accepted()).containsExactly("a0", "a1", "a2");
    }
  }

  private static final class Harness
      extends KeyedOneInputStreamOperatorTestHarness<Integer, Change<String>, Change<String>> {
    private static final TypeInformation<Change<String>> TYPE = ChangeSerializer.info(Types.STRING);
    private static final ShardKeys KEYS = ShardKeys.of(ExpiryModel.SHARDS, ExpiryModel.SHARDS);

    Harness() throws Exception {
      this(Backend.HEAP);
    }

    Harness(Backend backend) throws Exception {
      super(
          new DedupOperator<>(
              ExpiryModel.parameters(null), 1, 20_000, false, new SideOutputs<>(TYPE)),
          change -> KEYS.keyOf(new Shards(ExpiryModel.SHARDS).shardOf(change.hash())),
          Types.INT,
          ExpiryModel.SHARDS,
          1,
          0);
      setStateBackend(backend.create());
      getExecutionConfig().enableObjectReuse();
      setup(TYPE.createSerializer(getExecutionConfig().getSerializerConfig()));
      open();
    }

    List<Long> timestamps() {
      return getOutput().stream().map(record -> timestamp((StreamRecord<?>) record)).toList();
    }

    private static Long timestamp(StreamRecord<?> record) {
      return record.hasTimestamp() ? record.getTimestamp() : null;
    }

    /** Sends so many new keys that begin alike; returns them. */
    List<String> send(String start, int count) throws Exception {
      List<String> keys = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        keys.add(start + i);
        processElement(ExpiryModel.change(Operation.ADD, start + i), 0);
      }
      return keys;
    }

    @SuppressWarnings("unchecked") // The operator emits nothing else.
    List<String> accepted() {
      return getOutput().stream()
          .filter(element -> element instanceof StreamRecord)
          .map(record -> ((StreamRecord<Change<String>>) record).getValue().event())
          .toList();
    }
  }
}
