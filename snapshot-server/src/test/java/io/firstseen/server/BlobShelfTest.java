package io.firstseen.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotDirectory;
import io.firstseen.filters.snapshot.SnapshotSet;
import io.firstseen.server.http.HttpFailure;
import java.lang.ref.WeakReference;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BlobShelfTest {
  @TempDir private Path path;

  @Test
  void whoAsksForBasesWhileSomeAreMadeIsToldToAskAgain() throws Exception {
    Manifest manifest =
        new DirectoryPublisher(path, DirectoryPublisher.SET, KeyHash.fixed(), Canonicaliser.NONE, 2)
            .publish(1, "a")
            .withExtension("010100");
    SnapshotDirectory directory = new SnapshotDirectory(path);
    SnapshotSet set = SnapshotSet.open(manifest, blob -> directory.blob(manifest, blob));
    BlobShelf shelf = new BlobShelf(1 << 20);
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch mayGoOn = new CountDownLatch(1);
    FutureTask<Manifest> first =
        new FutureTask<>(
            () ->
                shelf.ofBases(
                    () -> {
                      begun.countDown();
                      awaitQuietly(mayGoOn);
                      return set;
                    }));
    Thread asking = new Thread(first, "asking");
    asking.start();
    try {
      begun.await();
      for (int i = 0; i < 3; i++) {
        assertThatThrownBy(() -> shelf.ofBases(() -> set))
            .isInstanceOf(HttpFailure.class)
            .hasMessageContainingAll("bases", "try again later")
            .extracting(failure -> ((HttpFailure) failure).status())
            .isEqualTo(503);
      }
    } finally {
      mayGoOn.countDown();
      asking.join();
    }
    assertThat(first.get().root()).isEqualTo(manifest.root());
    assertThat(first.get().extension()).isEqualTo(manifest.extension());
    assertThat(shelf.ofBases(() -> set)).isSameAs(first.get());
  }

  @Test
  void basesThatAreTooLargeForTheHeapAreRefused() throws Exception {
    DirectoryPublisher publisher =
        new DirectoryPublisher(
            path, DirectoryPublisher.SET, KeyHash.fixed(), Canonicaliser.NONE, 2);
    String[] keys = IntStream.range(0, 2_000).mapToObj(i -> "key-" + i).toArray(String[]::new);
    SnapshotDirectory directory = new SnapshotDirectory(path);
    Manifest manifest = publisher.publish(1, keys);
    SnapshotSet set = SnapshotSet.open(manifest, blob -> directory.blob(manifest, blob));
    assertThatThrownBy(() -> new BlobShelf(2_000).ofBases(() -> set))
        .isInstanceOf(HttpFailure.class)
        .hasMessageMatching(
            "the bases of set '\\w+' take \\d{4} bytes of memory, more than the 2000 that .*");
    BlobShelf shelf = new BlobShelf(10_000);
    Manifest ofBases = shelf.ofBases(() -> set);
    // All are unchanged, so the next set takes no more room.
    Snapshot[] unchanged =
        IntStream.range(0, manifest.parameters().shards().count())
            .mapToObj(set::snapshot)
            .toArray(Snapshot[]::new);
    SnapshotSet next = SnapshotSet.of(publisher.publish(2, keys), unchanged);
    Manifest ofNext = shelf.ofBases(() -> next);
    assertThat(ofNext.count()).isEqualTo(ofBases.count());
    assertThat(shelf.find(ofBases.pack().digest())).isPresent();
    // There is no room for both.
    String[] others =
        IntStream.range(2_000, 4_000).mapToObj(i -> "key-" + i).toArray(String[]::new);
    Manifest third = publisher.publish(3, others);
    SnapshotSet changed = SnapshotSet.open(third, blob -> directory.blob(third, blob));
    assertThat(shelf.find(shelf.ofBases(() -> changed).pack().digest())).isPresent();
    assertThat(shelf.find(ofNext.pack().digest())).isEmpty();
  }

  @Test
  void aSetWhoseBasesNobodyAskedForIsLetGo() throws Exception {
    DirectoryPublisher publisher =
        new DirectoryPublisher(
            path, DirectoryPublisher.SET, KeyHash.fixed(), Canonicaliser.NONE, 2);
    BlobShelf shelf = new BlobShelf(1 << 20);
    WeakReference<SnapshotSet> notAsked = add(shelf, publisher.publish(1, "a"), false);
    WeakReference<SnapshotSet> asked = add(shelf, publisher.publish(2, "b"), true);
    awaitCleared(notAsked);
    WeakReference<SnapshotSet> newest = add(shelf, publisher.publish(3, "c"), false);
    System.gc();
    assertThat(asked.get()).as("the previous set, whose blobs a peer may still fetch").isNotNull();
    assertThat(shelf.ofBases(newest::get).sequence()).isEqualTo(3);
    add(shelf, publisher.publish(4, "d"), false);
    awaitCleared(asked);
    assertThat(newest.get()).isNotNull();
  }

  private static void awaitCleared(WeakReference<SnapshotSet> set) throws InterruptedException {
    for (int i = 0; i < 100 && set.get() != null; i++) {
      System.gc();
      Thread.sleep(20);
    }
    assertThat(set.get()).isNull();
  }

  private WeakReference<SnapshotSet> add(BlobShelf shelf, Manifest manifest, boolean asks)
      throws Exception {
    SnapshotDirectory directory = new SnapshotDirectory(path);
    SnapshotSet set = SnapshotSet.open(manifest, blob -> directory.blob(manifest, blob));
    shelf.add(set);
    if (asks) {
      shelf.ofBases(() -> set);
    }
    return new WeakReference<>(set);
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
