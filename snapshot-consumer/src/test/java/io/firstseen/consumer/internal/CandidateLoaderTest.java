package io.firstseen.consumer.internal;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.consumer.TestPublisher;
import io.firstseen.consumer.TestPublisher.Entry;
import io.firstseen.consumer.TestPublisher.Publication;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.BlobLoader;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.CatchUp;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.filters.snapshot.SnapshotSet;
import io.firstseen.filters.snapshot.SnapshotTopicFormat;
import java.nio.ByteBuffer;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.Test;

class CandidateLoaderTest {
  private final ChunkStore chunks = new ChunkStore(null);
  private final List<String> complaints = new ArrayList<>();
  private final Publication publication = TestPublisher.of(Following.SET, 1).publish(1, "a");
  private final Candidate candidate = new Candidate(publication.manifest(), 0, 0);
  private int loads;

  private final CandidateLoader loader =
      new CandidateLoader(
          new AssemblerSettings(
              Following.SET,
              KeyHash.fixed(),
              Following.CHUNK_WAIT_MILLIS,
              OptionalLong.empty(),
              0,
              Set.of(),
              new BlobSource(null, null, false),
              null,
              Runnable::run),
          chunks);

  /** No sets; counts how often a load asks for them. */
  private final class NothingHeld extends AbstractList<SnapshotSet> {
    @Override
    public SnapshotSet get(int index) {
      throw new IndexOutOfBoundsException(index);
    }

    @Override
    public int size() {
      loads++;
      return 0;
    }
  }

  /** As it may of a user's loader, or for want of memory. */
  @Test
  void aLoadThatThrowsIsTriedAgainAfterLongerAndLongerPauses() throws Exception {
    publication.chunks().forEach(this::put);
    Error[] failure = {new OutOfMemoryError("of the test")};
    List<SnapshotSet> held =
        new AbstractList<>() {
          @Override
          public SnapshotSet get(int index) {
            throw new IndexOutOfBoundsException(index);
          }

          @Override
          public int size() {
            loads++;
            if (failure[0] != null) {
              throw failure[0];
            }
            return 0;
          }
        };
    long now = 0;
    for (long pause : new long[] {1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000}) {
      assertThat(loader.load(candidate, held, now, complaints::add)).isEmpty();
      int tried = loads;
      assertThat(loader.load(candidate, held, now + pause - 1, complaints::add)).isEmpty();
      assertThat(loads).as("after %d ms", pause - 1).isEqualTo(tried);
      // The load also took some time.
      now += pause + 500;
    }
    failure[0] = null;
    assertThat(loader.load(candidate, held, now, complaints::add)).isPresent();
    assertThat(complaints).hasSize(7).allMatch(each -> each.endsWith("of the test"));
  }

  @Test
  void aLoaderThatThrowsIsReported() throws Exception {
    RuntimeException[] failure = {new IllegalStateException("broken")};
    Map<String, byte[]> blobs = new HashMap<>();
    BlobLoader ofUser =
        blob -> {
          loads++;
          if (failure[0] != null) {
            throw failure[0];
          }
          return ByteBuffer.wrap(blobs.get(blob.digest()));
        };
    CandidateLoader failing =
        new CandidateLoader(
            new AssemblerSettings(
                Following.SET,
                KeyHash.fixed(),
                Following.CHUNK_WAIT_MILLIS,
                OptionalLong.empty(),
                0,
                Set.of(),
                new BlobSource(null, ofUser, false),
                null,
                Runnable::run),
            chunks);
    publication.chunks().forEach(entry -> blobs.put(entry.digest(), entry.value()));
    assertThat(failing.load(candidate, List.of(), 0, complaints::add)).isEmpty();
    assertThat(complaints).singleElement().asString().endsWith("cannot be loaded: " + failure[0]);
    failure[0] = null;
    assertThat(failing.load(candidate, List.of(), 3_600_000, complaints::add)).isPresent();
  }

  private Optional<CatchUp> load() throws SnapshotException {
    return loader.load(candidate, new NothingHeld(), 0, complaints::add);
  }

  private void put(Entry chunk) {
    chunks.put(SnapshotTopicFormat.parseChunkKey(chunk.key()).orElseThrow(), chunk.value(), 0);
  }

  private List<String> lacking() {
    return candidate.lacking.stream().map(BlobReference::digest).toList();
  }

  @Test
  void triesAgainOnlyWhenABlobThatItLackedIsThere() throws Exception {
    Entry pack = publication.pack().get(0);
    Entry base = publication.bases().get(0);
    Entry list = publication.bases().get(1);
    assertThat(load()).isEmpty();
    assertThat(lacking()).containsExactly(pack.digest());
    int once = loads;
    assertThat(once).isPositive();
    put(base);
    assertThat(load()).isEmpty();
    assertThat(loads).isEqualTo(once);
    put(pack);
    assertThat(load()).isEmpty();
    assertThat(loads).isEqualTo(2 * once);
    assertThat(lacking()).containsExactly(list.digest());
    put(list.damaged());
    assertThat(load()).isEmpty();
    assertThat(complaints).singleElement().asString().contains("is damaged");
    assertThat(loads).isEqualTo(3 * once);
    assertThat(load()).isEmpty();
    assertThat(loads).isEqualTo(3 * once);
    put(list);
    assertThat(load().orElseThrow().way()).isEqualTo(CatchUp.Way.BASES);
    assertThat(candidate.asked)
        .containsExactlyInAnyOrder(pack.digest(), list.digest(), base.digest());
  }
}
