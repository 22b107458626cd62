package io.firstseen.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.SnapshotDirectory;
import io.firstseen.filters.snapshot.SnapshotSet;
import io.firstseen.server.http.HttpFailure;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BlobShelfTest {
  @TempDir private Path path;

  @Test
  void whoAsksForBasesWhileSomeAreMadeIsToldToAskAgain() throws Exception {
    Manifest manifest =
        new DirectoryPublisher(path, DirectoryPublisher.SET, KeyHash.fixed(), Canonicaliser.NONE, 2)
            .publish(1, "a");
    SnapshotDirectory directory = new SnapshotDirectory(path);
    SnapshotSet set = SnapshotSet.open(manifest, blob -> directory.blob(manifest, blob));
    BlobShelf shelf = new BlobShelf();
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
            .hasMessage("the bases of a snapshot are being made, ask again later")
            .extracting(failure -> ((HttpFailure) failure).status())
            .isEqualTo(503);
      }
    } finally {
      mayGoOn.countDown();
      asking.join();
    }
    assertThat(first.get().root()).isEqualTo(manifest.root());
    assertThat(shelf.ofBases(() -> set)).isSameAs(first.get());
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
