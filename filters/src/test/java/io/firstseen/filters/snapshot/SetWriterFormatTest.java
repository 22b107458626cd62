package io.firstseen.filters.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** The golden file of a writer's state. */
class SetWriterFormatTest {
  private static final SetParameters PARAMETERS =
      SetParameters.of(KeyHash.fixed(), Canonicaliser.NONE, new Shards(2), 0.001);

  private final Map<String, byte[]> blobs = new HashMap<>();

  private SnapshotSet read(SetWriter.Window window) throws Exception {
    window.blobs().forEach(blob -> blobs.put(blob.reference().digest(), blob.bytes()));
    return CatchUp.to(
            window.manifest(), List.of(), blob -> ByteBuffer.wrap(blobs.get(blob.digest())))
        .set();
  }

  @Test
  void theStateIsTheGoldenFileAndIsRead() throws Exception {
    long[] hashes = new SplittableRandom(1).longs(300).map(hash -> hash >>> 1).toArray();
    SetWriter writer = new SetWriter("golden", PARAMETERS);
    read(writer.write(1, 0, 1_000, hashes));
    hashes[0] = 0;
    SetWriter.Window second = writer.write(2, 1_000, 2_000, hashes);
    byte[] golden;
    try (InputStream file = getClass().getResourceAsStream("writer-v1/state.bin")) {
      golden = file.readAllBytes();
    }
    assertThat(writer.toBytes()).isEqualTo(golden);
    SetWriter restored = SetWriter.of(golden, read(second));
    assertThat(restored.toBytes()).isEqualTo(golden);
    hashes[1] = 1;
    assertThat(restored.write(3, 2_000, 3_000, hashes).manifest())
        .isEqualTo(writer.write(3, 2_000, 3_000, hashes).manifest());
  }
}
