package io.firstseen.operators.compaction;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.BlobFrame;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.CatchUp;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.Pack;
import io.firstseen.filters.snapshot.PackWriter;
import io.firstseen.filters.snapshot.Section;
import io.firstseen.filters.snapshot.SetWriter;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.filters.snapshot.SnapshotSet;
import io.firstseen.serializers.SnapshotRecord;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The writer of whole lists writes the bytes of the job. */
// Flink's harness may be interrupted while it closes.
@SuppressWarnings("try")
class SetWriterTest {
  private static final long WINDOW_MILLIS = 10;
  private static final SnapshotSpec SPEC =
      SnapshotSpec.of("spam", WINDOW_MILLIS, 4, 0.001, KeyHash.fixed(), Canonicaliser.NONE);

  private final Map<String, byte[]> blobs = new HashMap<>();

  private ByteBuffer load(BlobReference blob) {
    return ByteBuffer.wrap(blobs.get(blob.digest()));
  }

  private SnapshotSet read(Manifest manifest) throws Exception {
    return CatchUp.to(manifest, List.of(), this::load).set();
  }

  /** The state is written and read after each window. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void theSameKeysGiveTheBytesOfTheJob(long seed) throws Exception {
    SplittableRandom random = new SplittableRandom(seed);
    List<Long> live = new ArrayList<>();
    SetWriter writer = new SetWriter("spam", SPEC.setParameters());
    long time = 0;
    int wholeSections = 0;
    Set<BlobReference> lists = new HashSet<>();
    try (SnapshotPipeline pipeline =
        new SnapshotPipeline(SPEC, SnapshotPipeline.Backend.HEAP, 2, null, seed)) {
      for (int window = 0; window < 60; window++) {
        int adds = random.nextInt(window % 20 == 0 ? 3_000 : 40);
        int deletes = window % 20 == 15 ? live.size() * 3 / 4 : random.nextInt(40);
        for (int i = 0; i < deletes && !live.isEmpty(); i++) {
          pipeline.delete(live.remove(random.nextInt(live.size())), time);
        }
        // A window has an operation, whether or not it changes the set.
        pipeline.delete(random.nextLong(), time);
        for (int i = 0; i < adds && window % 7 != 3; i++) {
          long hash = random.nextLong();
          live.add(hash);
          pipeline.add(hash, time);
        }
        long end = time + WINDOW_MILLIS;
        pipeline.watermark(end - 1);
        Map<String, byte[]> ofJob = new TreeMap<>();
        Manifest expected = null;
        for (SnapshotRecord record : pipeline.records()) {
          if (record.kind() == SnapshotRecord.Kind.MANIFEST) {
            assertThat(expected).isNull();
            expected = Manifest.read(record.value()).withTimes(0, null);
          } else if (record.kind() == SnapshotRecord.Kind.BLOB) {
            ofJob.put(record.key(), record.value());
          }
        }

        SetWriter.Window written =
            writer.write(
                expected.sequence(), time, end, live.stream().mapToLong(Long::longValue).toArray());

        assertThat(written.manifest()).as("window %d", window).isEqualTo(expected);
        Map<String, byte[]> own = new TreeMap<>();
        for (PackWriter.Blob blob : written.blobs()) {
          own.put(blob.reference().digest(), blob.bytes());
        }
        assertThat(own.keySet()).isEqualTo(ofJob.keySet());
        blobs.putAll(own);
        SnapshotSet set = read(expected);
        writer = SetWriter.of(writer.toBytes(), set);
        for (PackWriter.Blob blob : written.blobs()) {
          if (blob.kind() == BlobFrame.Kind.BASE_LIST) {
            lists.add(blob.reference());
          } else if (blob.kind() == BlobFrame.Kind.PACK) {
            Pack pack = Pack.read(ByteBuffer.wrap(blob.bytes()), "spam", 4);
            wholeSections += pack.sections().values().stream().anyMatch(Section::isWhole) ? 1 : 0;
          }
        }
        // Sometimes long enough for bases and lists to become old.
        time = end + (random.nextInt(20) == 0 ? 200 * WINDOW_MILLIS : 0);
      }
    }
    assertThat(wholeSections).as("packs with whole shards").isGreaterThan(3);
    assertThat(lists).as("lists of bases").hasSizeGreaterThan(5);
  }

  @Test
  void aWriterThatLostItsStateLeadsReadersOnByPacks() throws Exception {
    SplittableRandom random = new SplittableRandom(7);
    long[] hashes = random.longs(2_000).toArray();
    SetWriter writer = new SetWriter("spam", SPEC.setParameters());
    SnapshotSet held = null;
    for (int sequence = 1; sequence < 20; sequence++) {
      hashes[sequence] = random.nextLong();
      if (sequence % 5 == 4) {
        writer = SetWriter.after(held, this::load);
      }
      SetWriter.Window written =
          writer.write(sequence, sequence, sequence + 1L, sequence == 9 ? new long[0] : hashes);
      written.blobs().forEach(blob -> blobs.put(blob.reference().digest(), blob.bytes()));
      SnapshotSet set = read(written.manifest());
      if (held != null) {
        CatchUp followed = CatchUp.to(written.manifest(), List.of(held), this::load);
        assertThat(followed.refusal()).isNull();
      }
      held = set;
    }
    assertThat(held.manifest().count()).isEqualTo(2_000);
  }

  @Test
  void theStateOfAnotherManifestIsRejected() throws Exception {
    SetWriter writer = new SetWriter("spam", SPEC.setParameters());
    SetWriter.Window first = writer.write(1, 0, 10, 1, 2, 3);
    first.blobs().forEach(blob -> blobs.put(blob.reference().digest(), blob.bytes()));
    byte[] state = writer.toBytes();
    SetWriter.Window second = writer.write(2, 10, 20, 1, 2, 3, 4);
    second.blobs().forEach(blob -> blobs.put(blob.reference().digest(), blob.bytes()));
    SnapshotSet set = read(second.manifest());
    assertThatThrownBy(() -> SetWriter.of(state, set))
        .isInstanceOf(SnapshotException.class)
        .hasMessageContaining("sequence 1");
    for (int at = 0; at < state.length; at++) {
      byte[] damaged = state.clone();
      damaged[at] ^= 1;
      SnapshotSet ofFirst = read(first.manifest());
      assertThatThrownBy(() -> SetWriter.of(damaged, ofFirst))
          .isInstanceOf(SnapshotException.class);
    }
  }
}
