package io.firstseen.consumer;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.CatchUp;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.Sha256;
import io.firstseen.filters.snapshot.SigningKey;
import io.firstseen.filters.snapshot.SnapshotDirectory;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.filters.snapshot.SnapshotSet;
import io.firstseen.filters.snapshot.TrustedKey;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The last good snapshot answers, whatever becomes of the directory. */
class FollowedDirectoryTest {
  private static final String SET = "spam";
  private static final Duration POLL = Duration.ofMillis(10);

  @TempDir private Path parent;
  private final BlockingQueue<String> events = new LinkedBlockingQueue<>();
  private Path path;
  private SnapshotDirectory directory;
  private final TestPublisher publisher = TestPublisher.of(SET, 2);
  private List<TrustedKey> trustedKeys = List.of();
  private FollowedDirectory followed;

  @BeforeEach
  void nameDirectory() {
    path = parent.resolve("snapshots");
    directory = new SnapshotDirectory(path);
  }

  private void publish(long sequence, String... keys) throws SnapshotException {
    publish(publisher, sequence, keys);
  }

  private void publish(TestPublisher by, long sequence, String... keys) throws SnapshotException {
    directory.writeManifest(writeBlobs(by, sequence, keys));
  }

  private Manifest writeBlobs(long sequence, String... keys) throws SnapshotException {
    return writeBlobs(publisher, sequence, keys);
  }

  private Manifest writeBlobs(TestPublisher by, long sequence, String... keys)
      throws SnapshotException {
    TestPublisher.Publication publication = by.publish(sequence, keys);
    for (TestPublisher.Entry blob : publication.chunks()) {
      // Sets as small as these have one chunk a blob.
      directory.writeBlob(Sha256.hex(blob.value()), blob.value());
    }
    return publication.manifest();
  }

  private void follow() {
    follow(KeyHash.fixed(), Optional.empty());
  }

  private void follow(KeyHash keyHash, Optional<Duration> staleAfter) {
    SnapshotListener listener =
        new SnapshotListener() {
          @Override
          public void onSnapshot(Manifest manifest) {
            events.add("snapshot " + manifest.sequence());
          }

          @Override
          public void onRefused(String reason) {
            events.add("refused: " + reason);
          }

          @Override
          public void onUnreachable(String reason) {
            events.add("unreachable: " + reason);
          }

          @Override
          public void onReachable() {
            events.add("reachable");
          }
        };
    follow(keyHash, staleAfter, listener);
  }

  private void follow(KeyHash keyHash, Optional<Duration> staleAfter, SnapshotListener listener) {
    FollowedDirectory.Builder builder =
        FollowedDirectory.builder(path, SET)
            .keyHash(keyHash)
            .trustedKeys(trustedKeys)
            .poll(POLL)
            .listener(listener);
    staleAfter.ifPresent(builder::staleAfter);
    followed = builder.start();
  }

  @AfterEach
  void close() {
    followed.close();
    assertThat(followed.status().state()).isEqualTo(ClientState.CLOSED);
  }

  private String nextEvent() throws InterruptedException {
    return events.poll(30, TimeUnit.SECONDS);
  }

  private boolean contains(String key) throws Exception {
    SnapshotSet set = followed.status().snapshot().orElseThrow();
    return set.mightContainKey(key.getBytes(UTF_8), KeyHash.fixed());
  }

  @Test
  void whatIsWrongWithEveryManifestIsToldOnce() throws Exception {
    for (int sequence = 1; sequence <= 5; sequence++) {
      publish(sequence, "a" + sequence);
    }
    follow(KeyHash.xxh3(1), Optional.empty());
    assertThat(nextEvent()).startsWith("refused: sequence 5 of set 'spam' cannot be used: ");
    publish(TestPublisher.of("ham", 2), 6, "b");
    assertThat(nextEvent())
        .isEqualTo("refused: sequence 6 of set 'spam' cannot be used: it belongs to set 'ham'");
    publish(7, "c");
    assertThat(nextEvent()).startsWith("refused: sequence 7 of set 'spam' cannot be used: ");
  }

  @Test
  void waitsForASnapshotAndSaysWhyThereIsNone() throws Exception {
    follow();
    assertThatThrownBy(() -> followed.awaitReady(Duration.ofMillis(20)))
        .isInstanceOf(TimeoutException.class)
        .hasMessageStartingWith("waited for 20 ms; ")
        .hasMessageContaining(path.toString());
    publish(1, "a");
    assertThat(followed.awaitReady(ChronoUnit.FOREVER.getDuration()).sequence()).isEqualTo(1);
    followed.close();
    assertThatThrownBy(() -> followed.awaitReady(Duration.ofMinutes(1)))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void endsTheWaitForASetOfAnotherHashKeyAtOnce() throws Exception {
    publish(1, "a");
    follow(KeyHash.xxh3(1), Optional.empty());
    assertThatThrownBy(() -> followed.awaitReady(Duration.ofMinutes(1)))
        .isInstanceOf(UnusableSetException.class)
        .hasMessageStartingWith("sequence 1 of set 'spam' cannot be used: the set is hashed by ");
    publish(new TestPublisher("spam", KeyHash.xxh3(1), Canonicaliser.NONE, 2), 2, "a");
    while (followed.status().snapshot().isEmpty()) {
      Thread.sleep(5);
    }
    assertThat(followed.awaitReady(Duration.ZERO).sequence()).isEqualTo(2);
  }

  @Test
  void waitsForADirectoryAndTakesWhatComes() throws Exception {
    follow();
    assertThat(nextEvent()).isEqualTo("unreachable: there is no snapshot directory " + path);
    assertThat(followed.status().state()).isEqualTo(ClientState.EMPTY);
    publish(1, "a");
    assertThat(nextEvent()).isEqualTo("reachable");
    assertThat(nextEvent()).isEqualTo("snapshot 1");
    assertThat(followed.status().state()).isEqualTo(ClientState.READY);
    assertThat(contains("a")).isTrue();
    assertThat(contains("b")).isFalse();
    publish(2, "b");
    assertThat(nextEvent()).isEqualTo("snapshot 2");
    assertThat(contains("a")).isFalse();
    assertThat(contains("b")).isTrue();
  }

  @Test
  void knowsWhatCameBefore() throws Exception {
    publish(1, "a");
    publish(2, "a", "b");
    publish(3, "c");
    follow();
    assertThat(nextEvent()).isEqualTo("snapshot 3");
    assertThat(followed.earlier()).extracting(Manifest::sequence).containsExactly(1L, 2L);
  }

  @Test
  void aDamagedBlobIsRefusedAndTakenOnceItIsWhole() throws Exception {
    publish(1, "a");
    follow();
    assertThat(nextEvent()).isEqualTo("snapshot 1");
    Manifest second = writeBlobs(2, "a", "b");
    Path blob = path.resolve("blobs").resolve(second.pack().digest());
    byte[] whole = Files.readAllBytes(blob);
    byte[] damaged = whole.clone();
    damaged[damaged.length - 1] ^= 1;
    replace(blob, damaged);
    directory.writeManifest(second);
    assertThat(nextEvent())
        .startsWith("refused: sequence 2 of set 'spam' cannot be used: blob ")
        .contains("is damaged");
    assertThat(followed.status().trouble()).isPresent();
    assertThat(contains("a")).isTrue();
    assertThat(contains("b")).isFalse();
    replace(blob, whole);
    assertThat(nextEvent()).isEqualTo("snapshot 2");
    assertThat(followed.status().trouble()).isEmpty();
    assertThat(contains("b")).isTrue();
  }

  @Test
  void goesOnByPacksAndSaysSo() throws Exception {
    BlockingQueue<SnapshotUpdate> updates = new LinkedBlockingQueue<>();
    SnapshotListener listener =
        new SnapshotListener() {
          @Override
          public void onUpdate(SnapshotUpdate update) {
            updates.add(update);
          }
        };
    publish(1, "a", "b");
    follow(KeyHash.fixed(), Optional.empty(), listener);
    SnapshotUpdate first = updates.poll(30, TimeUnit.SECONDS);
    assertThat(first.way()).isEqualTo(CatchUp.Way.BASES);
    assertThat(first.addedKeys()).isEmpty();
    publish(2, "a", "c");
    SnapshotUpdate second = updates.poll(30, TimeUnit.SECONDS);
    assertThat(second.way()).isEqualTo(CatchUp.Way.PACKS);
    assertThat(second.fetchedBytes()).isEqualTo(second.manifest().pack().bytes());
    assertThat(second.addedKeys()).hasValue(1);
    assertThat(second.removedKeys()).hasValue(1);
    assertThat(contains("c")).isTrue();
    assertThat(followed.metrics().fetchedBytes())
        .isEqualTo(first.fetchedBytes() + second.fetchedBytes());
  }

  @Test
  void takesTheBasesWhereAPackIsDamaged() throws Exception {
    String[] keys = IntStream.range(0, 1_000).mapToObj(i -> "key-" + i).toArray(String[]::new);
    publish(1, keys);
    follow();
    assertThat(nextEvent()).isEqualTo("snapshot 1");
    keys[0] = "b";
    Manifest second = writeBlobs(2, keys);
    replace(path.resolve("blobs").resolve(second.pack().digest()), new byte[] {1});
    // Changes much, so that there is a new list of bases.
    Arrays.setAll(keys, i -> i == 0 ? "c" : "other-" + i);
    publish(3, keys);
    assertThat(nextEvent())
        .startsWith(
            "refused: sequence 3 of set 'spam' cannot be reached by packs, so the bases are loaded:"
                + " blob "
                + second.pack().digest());
    assertThat(nextEvent()).isEqualTo("snapshot 3");
    assertThat(contains("c")).isTrue();
  }

  @Test
  void givesBlobsOfItsSetOnly() throws Exception {
    publish(1, "a");
    Manifest other = writeBlobs(TestPublisher.of("ham", 2), 1, "a");
    follow();
    assertThat(followed.blob(other.pack().digest())).isEmpty();
    assertThat(nextEvent()).isEqualTo("snapshot 1");
    Manifest manifest = directory.latest();
    manifest.pack().requireBytes(followed.blob(manifest.pack().digest()).orElseThrow());
    assertThat(followed.blob(other.pack().digest())).isEmpty();
    assertThat(followed.blob("../" + manifest.pack().digest())).isEmpty();
    Path file = path.resolve("blobs").resolve(manifest.pack().digest());
    byte[] flipped = Files.readAllBytes(file);
    flipped[flipped.length - 5] ^= 1;
    FileTime written = Files.getLastModifiedTime(file);
    Files.write(file, flipped);
    // It was checked already.
    Files.setLastModifiedTime(file, written);
    assertThat(followed.blob(manifest.pack().digest())).isPresent();
    Files.setLastModifiedTime(file, FileTime.fromMillis(written.toMillis() + 1_000));
    assertThat(followed.blob(manifest.pack().digest())).isEmpty();
    replace(file, new byte[] {1});
    assertThat(followed.blob(manifest.pack().digest())).isEmpty();
  }

  @Test
  void aMissingBlobAndAManifestThatIsNoneAreRefusedOnceAndTheNextIsTaken() throws Exception {
    publish(1, "a");
    follow();
    assertThat(nextEvent()).isEqualTo("snapshot 1");
    Manifest second = writeBlobs(2, "a", "b");
    Files.delete(path.resolve("blobs").resolve(second.pack().digest()));
    directory.writeManifest(second);
    assertThat(nextEvent()).startsWith("refused: sequence 2 of set 'spam' cannot be used: ");
    Files.writeString(directory.manifestFile(3), "{");
    assertThat(nextEvent()).startsWith("refused: sequence 3 of set 'spam' cannot be used: ");
    // The control of "once": many looks later there is nothing but the next good one.
    TimeUnit.MILLISECONDS.sleep(20 * POLL.toMillis());
    publish(4, "c");
    assertThat(nextEvent()).isEqualTo("snapshot 4");
    assertThat(contains("c")).isTrue();
  }

  @Test
  void anotherSetOrHashKeyIsRefused() throws Exception {
    publish(1, "a");
    publish(TestPublisher.of("ham", 2), 2, "a");
    publish(new TestPublisher(SET, KeyHash.xxh3(1), Canonicaliser.NONE, 2), 3, "a");
    follow();
    assertThat(nextEvent()).startsWith("refused: sequence 3 of set 'spam' cannot be used: ");
    assertThat(nextEvent())
        .isEqualTo("refused: sequence 2 of set 'spam' cannot be used: it belongs to set 'ham'");
    assertThat(nextEvent()).isEqualTo("snapshot 1");
  }

  @Test
  void whatNobodyTrustedHasSignedIsRefused() throws Exception {
    SigningKey ours = SigningKey.generate();
    trustedKeys = List.of(ours.publicKey());
    directory.writeManifest(ours.sign(writeBlobs(1, "a")));
    directory.writeManifest(SigningKey.generate().sign(writeBlobs(2, "b")));
    directory.writeManifest(writeBlobs(3, "c"));
    follow();
    assertThat(nextEvent()).startsWith("refused: sequence 3 of set 'spam' cannot be used: ");
    assertThat(nextEvent()).startsWith("refused: sequence 2 of set 'spam' cannot be used: ");
    assertThat(nextEvent()).isEqualTo("snapshot 1");
    awaitTrouble("sequence 3 of set 'spam' cannot be used");
    Files.delete(directory.manifestFile(3));
    awaitTrouble("sequence 2 of set 'spam' cannot be used");
    Files.delete(directory.manifestFile(2));
    awaitTrouble("");
    Manifest fourth = writeBlobs(4, "d");
    directory.writeManifest(ours.sign(fourth));
    assertThat(nextEvent()).isEqualTo("snapshot 4");
    directory.writeManifest(fourth);
    assertThat(nextEvent())
        .isEqualTo(
            "refused: sequence 4 of set 'spam' cannot be used: the manifest has no signature");
  }

  @Test
  void whatCameBeforeIsSignedToo() throws Exception {
    SigningKey ours = SigningKey.generate();
    trustedKeys = List.of(ours.publicKey());
    directory.writeManifest(ours.sign(writeBlobs(1, "a")));
    directory.writeManifest(writeBlobs(2, "b"));
    directory.writeManifest(ours.sign(writeBlobs(3, "c")));
    follow();
    assertThat(nextEvent()).isEqualTo("snapshot 3");
    assertThat(followed.earlier()).extracting(Manifest::sequence).containsExactly(1L);
  }

  @Test
  void blobsMayLieElsewhere() throws Exception {
    Manifest manifest = writeBlobs(1, "a");
    Path elsewhere = Files.move(path.resolve("blobs"), parent.resolve("else where"));
    directory.writeManifest(manifest.withBlobs(elsewhere.toUri()));
    follow();
    assertThat(nextEvent()).isEqualTo("snapshot 1");
    assertThat(contains("a")).isTrue();
    Manifest far = writeBlobs(2, "b").withBlobs(URI.create("s3://bucket/blobs"));
    Path here = path.resolve("blobs");
    Path away = Files.move(here, parent.resolve("away"));
    directory.writeManifest(far);
    assertThat(nextEvent())
        .startsWith("refused: sequence 2 of set 'spam' cannot be used: the blob ")
        .endsWith(
            " is not in "
                + path
                + ", and its manifest names s3://bucket/blobs, but only file: can be read");
    Files.move(away, here);
    assertThat(nextEvent()).as("what was pulled has its blobs here").isEqualTo("snapshot 2");
    directory.writeManifest(writeBlobs(3, "b").withBlobs(far.blobs()));
    assertThat(nextEvent()).isEqualTo("snapshot 3");
  }

  @Test
  void aRefusalStandsAfterAnOutage() throws Exception {
    SigningKey ours = SigningKey.generate();
    trustedKeys = List.of(ours.publicKey());
    directory.writeManifest(ours.sign(writeBlobs(1, "a")));
    follow();
    assertThat(nextEvent()).isEqualTo("snapshot 1");
    directory.writeManifest(writeBlobs(2, "b"));
    assertThat(nextEvent()).startsWith("refused: sequence 2 of set 'spam' cannot be used: ");
    String refusal = followed.status().trouble().orElseThrow();
    Path away = parent.resolve("away");
    Files.move(path, away);
    assertThat(nextEvent()).startsWith("unreachable: ");
    assertThat(followed.status().trouble()).contains("there is no snapshot directory " + path);
    Files.move(away, path);
    assertThat(nextEvent()).isEqualTo("reachable");
    assertThat(followed.status().trouble()).contains(refusal);
    directory.writeManifest(ours.sign(writeBlobs(3, "c")));
    assertThat(nextEvent()).isEqualTo("snapshot 3");
    assertThat(followed.status().trouble()).isEmpty();
  }

  @Test
  void whatWentBackOrChangedOrWentAwayIsToldAndTheLastGoodAnswers() throws Exception {
    publish(5, "a");
    publish(6, "a", "b");
    follow();
    assertThat(nextEvent()).isEqualTo("snapshot 6");
    Files.delete(directory.manifestFile(6));
    assertThat(nextEvent())
        .isEqualTo("refused: set 'spam' went back to sequence 5; sequence 6 stays active");
    publish(6, "z");
    assertThat(nextEvent())
        .isEqualTo(
            "refused: sequence 6 of set 'spam' was published again with different content; the first"
                + " stays active");
    // Otherwise a look between two deletions would find sequence 5 alone.
    Files.delete(directory.manifestFile(5));
    directory.clear();
    assertThat(nextEvent()).isEqualTo("refused: there is no manifest in " + path);
    Files.delete(path.resolve("blobs"));
    Files.delete(path);
    assertThat(nextEvent()).isEqualTo("unreachable: there is no snapshot directory " + path);
    assertThat(followed.status().state()).isEqualTo(ClientState.READY);
    assertThat(contains("b")).isTrue();
    publish(7, "q");
    assertThat(nextEvent()).isEqualTo("reachable");
    assertThat(nextEvent())
        .startsWith("refused: sequence 7 of set 'spam' cannot be reached by packs");
    assertThat(nextEvent()).isEqualTo("snapshot 7");
    assertThat(contains("q")).isTrue();
  }

  @Test
  void growsStaleByTheAgeOfItsManifest() throws Exception {
    long old = System.currentTimeMillis() - 3_600_000;
    publisher.publishingAt(() -> old);
    publish(1, "a");
    // A copied file has a different timestamp.
    FileTime ahead = FileTime.fromMillis(System.currentTimeMillis() + 3_600_000);
    Files.setLastModifiedTime(directory.manifestFile(1), ahead);
    follow(KeyHash.fixed(), Optional.of(Duration.ofMinutes(30)));
    assertThat(nextEvent()).isEqualTo("snapshot 1");
    assertThat(followed.status().state()).isEqualTo(ClientState.STALE);
    assertThat(followed.status().publishedMillis()).isEqualTo(old);
    publisher.publishingAt(System::currentTimeMillis);
    publish(2, "a");
    assertThat(nextEvent()).isEqualTo("snapshot 2");
    assertThat(followed.status().state()).isEqualTo(ClientState.READY);
  }

  @Test
  void theSameManifestOfALaterTimeIsFreshAgain() throws Exception {
    long old = System.currentTimeMillis() - 3_600_000;
    publisher.publishingAt(() -> old);
    publish(1, "a");
    follow(KeyHash.fixed(), Optional.of(Duration.ofMinutes(30)));
    assertThat(nextEvent()).isEqualTo("snapshot 1");
    assertThat(followed.status().state()).isEqualTo(ClientState.STALE);
    publisher.publishingAt(System::currentTimeMillis);
    publish(1, "a");
    assertThat(nextEvent()).isEqualTo("snapshot 1");
    assertThat(followed.status().state()).isEqualTo(ClientState.READY);
    assertThat(followed.status().publishedMillis()).isGreaterThan(old);
  }

  @Test
  void aListenerThatFailsDisturbsNobody() throws Exception {
    publish(1, "a");
    SnapshotListener failing =
        new SnapshotListener() {
          @Override
          public void onState(ClientState state) {
            fail(state.toString());
          }

          @Override
          public void onUpdate(SnapshotUpdate update) {
            fail(
                update.manifest().sequence()
                    + " after "
                    + update.previous().map(Manifest::sequence));
          }

          private void fail(String event) {
            events.add(event);
            throw new IllegalStateException("fails on purpose");
          }
        };
    follow(KeyHash.fixed(), Optional.empty(), failing);
    assertThat(nextEvent()).isEqualTo("LOADING");
    assertThat(nextEvent()).isEqualTo("READY");
    assertThat(nextEvent()).isEqualTo("1 after Optional.empty");
    publish(2, "a", "b");
    assertThat(nextEvent()).isEqualTo("2 after Optional[1]");
    assertThat(followed.status().trouble()).isEmpty();
    SnapshotMetrics metrics = followed.metrics();
    assertThat(metrics.state()).isEqualTo(ClientState.READY);
    assertThat(metrics.sequence()).isEqualTo(2);
    assertThat(metrics.keys()).isEqualTo(2);
    assertThat(metrics.snapshots()).isEqualTo(2);
    assertThat(metrics.refusals()).isZero();
  }

  /** Waits until the trouble begins with a text, or until there is none. */
  private void awaitTrouble(String start) throws InterruptedException {
    for (int i = 0; i < 1000 && !isTrouble(start); i++) {
      TimeUnit.MILLISECONDS.sleep(10);
    }
    assertThat(isTrouble(start)).as("%s", followed.status().trouble()).isTrue();
  }

  private boolean isTrouble(String start) {
    String trouble = followed.status().trouble().orElse("");
    return start.isEmpty() ? trouble.isEmpty() : trouble.startsWith(start);
  }

  private void replace(Path file, byte[] bytes) throws IOException {
    Path other = Files.write(parent.resolve("other"), bytes);
    Files.move(other, file, StandardCopyOption.ATOMIC_MOVE);
  }
}
