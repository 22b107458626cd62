package io.firstseen.consumer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.firstseen.consumer.TestPublisher.Entry;
import io.firstseen.consumer.TestPublisher.Publication;
import io.firstseen.consumer.internal.SnapshotCache;
import io.firstseen.filters.snapshot.SigningKey;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotSet;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Clients that keep their snapshots in files; the test feeds them the records. */
class SnapshotCacheTest {
  private static final int SCALE = Integer.getInteger("firstseen.scale", 1);
  private static final String SET = "spam";
  private static final String TOPIC_ID = "id-1";
  private static final long CLOCK_MILLIS = 1_000_000;
  private static final Duration CHUNK_WAIT = Duration.ofMillis(1);

  // See docs/format/snapshot-v1.md.
  private static final int HEADER_BYTES_AT = 10;
  private static final int SECTIONS_CHECKSUM_AT = 208;

  @TempDir private Path temporary;
  private Path directory;
  private final TestPublisher publisher = TestPublisher.of(SET, 2).publishingAt(() -> CLOCK_MILLIS);
  private final List<Entry> topic = new ArrayList<>();
  private final List<String> notices = new ArrayList<>();

  @BeforeEach
  void chooseDirectory() {
    directory = temporary.resolve("cache");
  }

  private SnapshotClientOptions.Builder options(Path cache) {
    SnapshotListener listener =
        new SnapshotListener() {
          @Override
          public void onNotice(String sentence) {
            notices.add(sentence);
          }
        };
    return SnapshotClientOptions.builder("localhost:9092", SET)
        .cacheDirectory(cache)
        .chunkWait(CHUNK_WAIT)
        .listener(listener);
  }

  private SnapshotClient start(Path cache, UnaryOperator<SnapshotClientOptions.Builder> change) {
    SnapshotClient client =
        new SnapshotClient(change.apply(options(cache)).build(), () -> CLOCK_MILLIS);
    client.reader().start();
    return client;
  }

  private SnapshotClient start() {
    return start(directory, options -> options);
  }

  /** Reads the topic like a follower, and returns the first offset that it read. */
  private long follow(SnapshotClient client, String topicId) {
    long from = client.reader().open(topicId).orElse(-1);
    if (from < 0) {
      client.reader().rewind();
    }
    read(client, Math.max(0, from));
    if (client.reader().settle() || mustReadAll(client)) {
      client.reader().rewind();
      read(client, 0);
      client.reader().settle();
    }
    return Math.max(0, from);
  }

  /** Lets a client wait for blobs as long as it does at most. */
  private boolean mustReadAll(SnapshotClient client) {
    boolean reread = false;
    if (client.state() != ClientState.EMPTY) {
      LockSupport.parkNanos(2 * CHUNK_WAIT.toNanos());
      reread = client.reader().settle();
    }
    return reread;
  }

  private void read(SnapshotClient client, long from) {
    for (int i = (int) from; i < topic.size(); i++) {
      client.reader().accept(i, topic.get(i).key(), topic.get(i).value());
    }
  }

  private Publication publish(long sequence, String... keys) {
    Publication publication = publisher.publish(sequence, keys);
    topic.addAll(publication.entries());
    return publication;
  }

  /** A client followed the topic to its end and ended. */
  private void fillCache() {
    SnapshotClient client = start();
    follow(client, TOPIC_ID);
    client.reader().end();
  }

  @Test
  void unnamedChunksTakeNoMoreFilesThanTheBoundAllows() throws Exception {
    for (int i = 0; i < 6; i++) {
      topic.add(new Entry("%064x/0".formatted(i), new byte[400_000]));
    }
    SnapshotClient client = start(directory, options -> options.maxUnnamedBytes(1 << 20));
    follow(client, TOPIC_ID);
    try (Stream<Path> incoming = Files.list(directory.resolve("spam.snapshots/incoming"))) {
      assertThat(incoming.map(file -> file.getFileName().toString()))
          .containsExactlyInAnyOrder("%064x".formatted(4), "%064x".formatted(5));
    }
    client.reader().end();
  }

  @Test
  void startsReadyWithoutTheNetworkAndGoesOnWhereItWas() throws Exception {
    Publication first = publish(1, "a", "b", "c");
    fillCache();
    SnapshotClient client = start();
    assertThat(client.state()).isEqualTo(ClientState.READY);
    assertThat(client.manifest()).contains(first.manifest());
    assertThat(client.mightContain("a")).isTrue();
    assertThat(client.mightContain("x")).isFalse();
    assertThat(client.metrics().ageMillis()).isZero();
    assertThat(client.metrics().fetchedBytes()).isZero();
    publish(2, "a", "b", "c", "d");
    assertThat(follow(client, TOPIC_ID)).isEqualTo(first.entries().size());
    assertThat(client.mightContain("d")).isTrue();
    assertThat(client.metrics().snapshots()).isEqualTo(2);
    assertThat(notices).isEmpty();
  }

  @Test
  void readsAgainWhatWasReadAndNotNamedYet() throws Exception {
    publish(1, "a");
    Publication second = publisher.publish(2, "b");
    // The next pack is ahead of this manifest.
    topic.addAll(0, second.pack());
    fillCache();
    topic.addAll(second.bases());
    topic.add(second.manifestEntry());
    SnapshotClient client = start();
    assertThat(follow(client, TOPIC_ID)).isZero();
    assertThat(client.mightContain("b")).isTrue();
  }

  @Test
  void readsTheWholeTopicWhereSomethingIsMissing() throws Exception {
    Publication second = publisher.publish(2, "b");
    topic.addAll(second.chunks());
    topic.addAll(TestPublisher.of(SET, 2).publish(1, "a").entries());
    SnapshotClient first = start();
    follow(first, TOPIC_ID);
    first.reader().end();
    topic.add(second.manifestEntry());
    // Of another chain, so bases are needed, which are before the offset to resume from.
    SnapshotClient client = start();
    follow(client, TOPIC_ID);
    assertThat(client.manifest().orElseThrow().sequence()).isEqualTo(2);
  }

  @Test
  void beginsAnewOnATopicThatWasCreatedAnew() throws Exception {
    publish(7, "a");
    fillCache();
    topic.clear();
    topic.addAll(TestPublisher.of(SET, 2).publish(3, "b").entries());
    SnapshotClient client = start();
    assertThat(client.mightContain("a")).isTrue();
    assertThat(follow(client, "id-2")).isZero();
    assertThat(client.mightContain("b")).isTrue();
    assertThat(notices).singleElement().asString().contains("was recreated");
  }

  @Test
  void refusesWhatWentBackSinceTheLastStart() throws Exception {
    publish(7, "a");
    fillCache();
    topic.addAll(TestPublisher.of(SET, 2).publish(3, "b").entries());
    SnapshotClient client = start();
    follow(client, TOPIC_ID);
    assertThat(client.mightContain("a")).isTrue();
    assertThat(client.metrics().refusals()).isEqualTo(1);
  }

  @Test
  void refusesWhatWentBackThoughALowerSequenceWasPinnedAtTheLastEnd() throws Exception {
    Publication sixth = TestPublisher.of(SET, 2).publish(6, "b");
    publish(5, "a");
    Publication seventh = publish(7, "c");
    SnapshotClient pinned = start();
    follow(pinned, TOPIC_ID);
    assertThat(pinned.mightContain("c")).isTrue();
    pinned.pin(5);
    follow(pinned, TOPIC_ID);
    assertThat(pinned.mightContain("a")).isTrue();
    pinned.reader().end();
    // Sequence 7 was deleted, so it does not answer again.
    topic.replaceAll(entry -> seventh.entries().contains(entry) ? entry.tombstone() : entry);
    topic.addAll(sixth.entries());
    SnapshotClient client = start();
    assertThat(client.manifest().orElseThrow().sequence()).isEqualTo(5);
    follow(client, TOPIC_ID);
    assertThat(client.manifest().orElseThrow().sequence()).isEqualTo(5);
    assertThat(client.status().trouble())
        .contains("set 'spam' went back to sequence 6; sequence 5 stays active");
    topic.addAll(seventh.entries());
    follow(client, TOPIC_ID);
    assertThat(client.manifest().orElseThrow().sequence()).isEqualTo(7);
  }

  @Test
  void startsPinnedBelowWhatIsKept() throws Exception {
    publish(5, "a");
    publish(7, "b");
    fillCache();
    SnapshotClient client = start(directory, options -> options.pin(5));
    assertThat(client.manifest()).isEmpty();
    follow(client, TOPIC_ID);
    assertThat(client.manifest().orElseThrow().sequence()).isEqualTo(5);
    client.unpin();
    follow(client, TOPIC_ID);
    assertThat(client.mightContain("b")).isTrue();
  }

  /** The clock fails at its n-th reading, to interrupt the client at some point of its work. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void whateverFailsWhileItIsReadTheTopicIsFollowed(int failingCall) throws Exception {
    publish(1, "a");
    fillCache();
    publish(2, "b");
    AtomicInteger calls = new AtomicInteger();
    SnapshotClient client =
        new SnapshotClient(
            options(directory).staleAfter(Duration.ofDays(1)).build(),
            () -> {
              if (calls.incrementAndGet() == failingCall) {
                throw new IllegalStateException("on purpose");
              }
              return CLOCK_MILLIS;
            });
    client.reader().start();
    assertThat(notices)
        .containsExactly(
            "the cache of set 'spam' cannot be used: java.lang.IllegalStateException: on purpose");
    assertThat(client.state()).isEqualTo(ClientState.EMPTY);
    assertThat(follow(client, TOPIC_ID)).isZero();
    assertThat(client.mightContain("b")).isTrue();
    client.reader().end();
  }

  @Test
  void whateverIsCutOffItIsUsableOrPassedOver() throws Exception {
    publish(1, "a", "b", "c");
    fillCache();
    int usable = 0;
    int passedOver = 0;
    for (Path file : files(directory)) {
      byte[] bytes = Files.readAllBytes(file);
      // In the quick tier some lengths are skipped, but never the full length.
      int step = SCALE > 1 ? 1 : 7;
      for (int length = bytes.length % step; length <= bytes.length; length += step) {
        Path copy = temporary.resolve("copy");
        copy(directory, copy);
        Files.write(copy.resolve(directory.relativize(file)), Arrays.copyOf(bytes, length));
        if (isUsable(copy)) {
          usable++;
        } else {
          passedOver++;
        }
        delete(copy);
      }
    }
    // Whole files, and the lock, which is empty.
    assertThat(usable).isEqualTo(files(directory).size());
    assertThat(passedOver).isPositive();
  }

  @Test
  void whateverBitIsFlippedItIsUsableOrPassedOver() throws Exception {
    publish(1, "a", "b", "c");
    fillCache();
    Random random = new Random(1);
    for (Path file : files(directory)) {
      byte[] bytes = Files.readAllBytes(file);
      for (int i = 0; i < 20 * SCALE && bytes.length > 0; i++) {
        byte[] damaged = bytes.clone();
        damaged[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
        Path copy = temporary.resolve("copy");
        copy(directory, copy);
        Files.write(copy.resolve(directory.relativize(file)), damaged);
        assertThat(isUsable(copy)).as("%s", file).isFalse();
        delete(copy);
      }
    }
  }

  /** Damage that the checksums inside the file do not detect. */
  @Test
  void aBlobWhoseChecksumsFitIsPassedOverIfItsDigestDoesNot() throws Exception {
    publish(1, "a", "b", "c");
    fillCache();
    Path blob = files(directory.resolve("spam.snapshots").resolve("blobs")).get(0);
    ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(blob)).order(ByteOrder.LITTLE_ENDIAN);
    int headerBytes = bytes.getShort(HEADER_BYTES_AT);
    bytes.put(headerBytes, (byte) (bytes.get(headerBytes) ^ 0x40));
    bytes.putInt(SECTIONS_CHECKSUM_AT, crc32c(bytes, headerBytes, bytes.limit()));
    bytes.putInt(headerBytes - Integer.BYTES, crc32c(bytes, 0, headerBytes - Integer.BYTES));
    // The control: it reads as a snapshot.
    Snapshot.read(bytes);
    Files.write(blob, bytes.array());
    assertThat(isUsable(directory)).isFalse();
  }

  private static int crc32c(ByteBuffer bytes, int from, int to) {
    CRC32C crc = new CRC32C();
    crc.update(bytes.slice(from, to - from));
    return (int) crc.getValue();
  }

  /**
   * Whether a client starts from a cache. If it does, its answers must be right; in any case they
   * must be right later.
   */
  private boolean isUsable(Path cache) throws Exception {
    notices.clear();
    SnapshotClient client = start(cache, options -> options);
    boolean usable = client.state() == ClientState.READY;
    if (usable) {
      assertThat(client.mightContain("a")).isTrue();
      assertThat(client.mightContain("x")).isFalse();
      assertThat(notices).isEmpty();
    } else {
      assertThat(client.state()).isEqualTo(ClientState.EMPTY);
      assertThat(notices).singleElement().asString().contains("cannot be used: ");
    }
    follow(client, TOPIC_ID);
    assertThat(client.mightContain("a")).isTrue();
    client.reader().end();
    SnapshotClient next = start(cache, options -> options);
    assertThat(next.state()).isEqualTo(ClientState.READY);
    next.reader().end();
    return usable;
  }

  @Test
  void isAsItWasBeforeOrAfterWhateverRecordItEndsAt() throws Exception {
    for (long sequence = 1; sequence <= 4; sequence++) {
      publish(sequence, "live", "key-" + sequence, "other-" + sequence);
    }
    SnapshotClient client = start();
    client.reader().open(TOPIC_ID);
    for (int i = 0; i < topic.size(); i++) {
      client.reader().accept(i, topic.get(i).key(), topic.get(i).value());
      client.reader().settle();
      // A copy of the files is what a crash at this point would leave, except for the lock.
      Path copy = temporary.resolve("copy");
      copy(directory, copy);
      SnapshotClient next = start(copy, options -> options);
      assertThat(next.manifest()).isEqualTo(client.manifest());
      follow(next, TOPIC_ID);
      assertThat(next.manifest().orElseThrow().sequence()).isEqualTo(4);
      assertThat(next.mightContain("key-4")).isTrue();
      next.reader().end();
      delete(copy);
    }
    assertThat(notices).isEmpty();
  }

  @Test
  void removesWhatNobodyNeedsAndNothingUnderAReader() throws Exception {
    publish(1, "live", "old");
    SnapshotClient client = start();
    follow(client, TOPIC_ID);
    SnapshotSet held = client.status().snapshot().orElseThrow();
    for (long sequence = 2; sequence <= 50; sequence++) {
      publish(sequence, "live", "key-" + sequence);
      follow(client, TOPIC_ID);
    }
    assertThat(files(directory.resolve(SET + ".snapshots").resolve("blobs"))).hasSize(2);
    assertThat(files(directory.resolve(SET + ".snapshots").resolve("incoming"))).isEmpty();
    System.gc();
    assertThat(held.mightContain(TestPublisher.hash("old"))).isTrue();
    held.verify();
    assertThat(client.mightContain("old")).isFalse();
  }

  @Test
  void aSecondClientStartsFromItAndLeavesItAlone() throws Exception {
    publish(1, "a");
    fillCache();
    SnapshotClient first = start();
    SnapshotClient second = start();
    assertThat(second.mightContain("a")).isTrue();
    assertThat(notices)
        .containsExactly(
            "cache "
                + directory.resolve("spam.snapshots")
                + " is in use by another client, so nothing is kept");
    publish(2, "b");
    List<Path> before = files(directory);
    follow(second, TOPIC_ID);
    assertThat(second.mightContain("b")).isTrue();
    assertThat(files(directory)).isEqualTo(before);
    second.reader().end();
    // A process that closes a file loses all locks that the process holds on it.
    Process other = otherProcess();
    try {
      assertThat(other.inputReader().readLine()).contains(" is in use by another client");
    } finally {
      other.destroyForcibly().waitFor();
    }
    first.reader().end();
  }

  @Test
  void aClientTakesItOverOnceTheOtherHasLeft() throws Exception {
    publish(1, "a");
    fillCache();
    SnapshotClient first = start();
    SnapshotClient second = start();
    first.reader().end();
    publish(2, "b");
    follow(second, TOPIC_ID);
    second.reader().end();
    assertThat(start().manifest().orElseThrow().sequence()).isEqualTo(2);
    assertThat(notices).hasSize(1);
  }

  @Test
  void whatCannotBeOpenedAtTheStartIsTriedAgain() throws Exception {
    Path files = Files.createDirectories(directory.resolve("spam.snapshots"));
    Path inTheWay = Files.writeString(files.resolve("blobs"), "");
    publish(1, "a");
    SnapshotClient client = start();
    follow(client, TOPIC_ID);
    assertThat(client.mightContain("a")).isTrue();
    assertThat(notices).singleElement().asString().contains("cannot be written");
    Files.delete(inTheWay);
    publish(2, "b");
    follow(client, TOPIC_ID);
    client.reader().end();
    assertThat(start().manifest().orElseThrow().sequence()).isEqualTo(2);
    assertThat(notices).hasSize(1);
  }

  /** The device answers every write as a full disk does. */
  @Test
  void onAFullDiskItStaysInMemoryAndComesBack() throws Exception {
    publish(1, "a");
    SnapshotClient client = start();
    follow(client, TOPIC_ID);
    Publication second = publish(2, "a", "b", "c", "d", "e");
    Path files = directory.resolve("spam.snapshots");
    List<Path> unwritable = new ArrayList<>();
    for (String name : List.of("snapshot.tmp", "current.tmp")) {
      unwritable.add(fullDevice(files.resolve(name)));
    }
    for (Entry chunk : second.chunks()) {
      unwritable.add(fullDevice(files.resolve("incoming").resolve(chunk.digest())));
    }
    Path rest = Files.writeString(files.resolve("blobs").resolve("0".repeat(64)), "of another one");
    follow(client, TOPIC_ID);
    assertThat(rest).as("room for the next").doesNotExist();
    assertThat(client.mightContain("b")).isTrue();
    assertThat(notices)
        .singleElement()
        .asString()
        .startsWith("cache " + directory.resolve("spam.snapshots") + " cannot be written")
        .endsWith("No space left on device");
    SnapshotClient old = start(copy(directory, temporary.resolve("copy")), options -> options);
    assertThat(old.manifest().orElseThrow().sequence()).isEqualTo(1);
    old.reader().end();

    for (Path file : unwritable) {
      Files.deleteIfExists(file);
    }
    // One of the two shards is as it was, and still in memory.
    publish(3, "a", "b", "c", "d", "e", "f");
    follow(client, TOPIC_ID);
    client.reader().end();
    SnapshotClient next = start();
    assertThat(next.manifest().orElseThrow().sequence()).isEqualTo(3);
    assertThat(notices).hasSize(1);
  }

  /** Requires the permission to create a device. */
  private static Path fullDevice(Path path) throws Exception {
    Process made =
        new ProcessBuilder("mknod", path.toString(), "c", "1", "7")
            .redirectErrorStream(true)
            .start();
    String output = new String(made.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assumeTrue(made.waitFor() == 0, output);
    return path;
  }

  /** Somebody else makes the client's files lead to what the client may write and he may not. */
  @Test
  void symbolicLinksOfFilesAreNotWrittenThrough() throws Exception {
    publish(1, "a");
    fillCache();
    Publication second = publish(2, "a", "b", "c", "d", "e");
    Path precious = Files.writeString(temporary.resolve("precious"), "unchanged");
    Path files = directory.resolve("spam.snapshots");
    for (String name : List.of("snapshot.tmp", "current.tmp")) {
      Files.createSymbolicLink(files.resolve(name), precious);
    }
    SnapshotClient client = start();
    for (Entry chunk : second.chunks()) {
      Path incoming = files.resolve("incoming").resolve(chunk.digest());
      if (!Files.exists(incoming, LinkOption.NOFOLLOW_LINKS)) {
        Files.createSymbolicLink(incoming, precious);
      }
    }
    follow(client, TOPIC_ID);
    assertThat(client.mightContain("b")).isTrue();
    client.reader().end();
    assertThat(precious).hasContent("unchanged");
    assertThat(notices)
        .singleElement()
        .asString()
        .startsWith("cache " + files + " cannot be written, so snapshots stay in memory: ");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "incoming", "blobs"})
  void aDirectoryThatIsASymbolicLinkIsNotWrittenOrEmptied(String name) throws Exception {
    Path precious = Files.createDirectory(temporary.resolve("precious"));
    Files.writeString(precious.resolve("file"), "unchanged");
    Path link = directory.resolve("spam.snapshots").resolve(name);
    Files.createDirectories(link.getParent());
    Files.createSymbolicLink(link, precious);
    SnapshotClient client = start();
    for (long sequence = 1; sequence <= 3; sequence++) {
      publish(sequence, "a", "b" + sequence);
      follow(client, TOPIC_ID);
      assertThat(client.mightContain("b" + sequence)).isTrue();
    }
    client.reader().end();
    assertThat(files(precious)).containsExactly(precious.resolve("file"));
    assertThat(notices)
        .containsExactly(
            "cache "
                + directory.resolve("spam.snapshots")
                + " cannot be written, so snapshots stay in memory: "
                + directory.resolve("spam.snapshots").resolve(name)
                + ": it must be a directory and not a symbolic link");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "incoming", "blobs"})
  void whereOthersMayWriteThatIsTold(String name) throws Exception {
    publish(1, "a");
    fillCache();
    assertThat(notices).isEmpty();
    Path open = directory.resolve("spam.snapshots").resolve(name);
    Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwxrwx---"));
    SnapshotClient client = start();
    assertThat(client.mightContain("a")).isTrue();
    client.reader().end();
    assertThat(notices)
        .containsExactly(
            "others may write to cache "
                + directory.resolve("spam.snapshots")
                + ", and so choose what it answers: chmod go-w "
                + open);
  }

  /** Signatures are checked again, so a cache cannot provide manifests that the topic could not. */
  @Test
  void aManifestThatNoTrustedKeySignedIsPassedOver() {
    publish(1, "a");
    fillCache();
    SnapshotClient client =
        start(directory, options -> options.trustedKeys(Set.of(SigningKey.generate().publicKey())));
    assertThat(client.state()).isEqualTo(ClientState.EMPTY);
    assertThat(notices).singleElement().asString().contains("the manifest has no signature");
    client.reader().end();
  }

  @Test
  void anotherProcessKeepsItUntilItDies() throws Exception {
    publish(1, "a");
    fillCache();
    Process other = otherProcess();
    try {
      assertThat(other.inputReader().readLine()).isEqualTo("open");
      SnapshotClient second = start();
      assertThat(second.mightContain("a")).isTrue();
      List<Path> before = files(directory);
      publish(2, "b");
      follow(second, TOPIC_ID);
      assertThat(second.mightContain("b")).isTrue();
      second.reader().end();
      assertThat(files(directory)).isEqualTo(before);
      assertThat(notices)
          .containsExactly(
              "cache "
                  + directory.resolve("spam.snapshots")
                  + " is in use by another client, so nothing is kept");
    } finally {
      other.destroyForcibly().waitFor();
    }
    notices.clear();
    fillCache();
    assertThat(notices).isEmpty();
    assertThat(start().manifest().orElseThrow().sequence()).isEqualTo(2);
  }

  private Process otherProcess() throws IOException {
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:TieredStopAtLevel=1",
            "-cp",
            System.getProperty("java.class.path"),
            OtherProcess.class.getName(),
            directory.toString())
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }

  /** Holds a cache until it is killed. */
  static final class OtherProcess {
    private OtherProcess() {}

    public static void main(String[] arguments) throws IOException {
      try (SnapshotCache cache = SnapshotCache.open(Path.of(arguments[0]), SET)) {
        System.out.println(cache.takeTrouble().orElse("open"));
        System.in.read();
      }
    }
  }

  @Test
  void aCacheOfAnotherTopicIsPassedOver() {
    publish(1, "a");
    fillCache();
    SnapshotClient client = start(directory, options -> options.topic("other"));
    assertThat(client.state()).isEqualTo(ClientState.EMPTY);
    assertThat(notices)
        .containsExactly("the cache of set 'spam' is of topic 'firstseen.snapshots'");
  }

  private static List<Path> files(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      return files.filter(file -> !Files.isDirectory(file)).sorted().toList();
    }
  }

  private static Path copy(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : files.toList()) {
        // A device has no end.
        if (Files.isDirectory(file) || Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
          Files.copy(file, to.resolve(from.relativize(file)));
        }
      }
    }
    return to;
  }

  private static void delete(Path directory) throws IOException {
    Files.walkFileTree(
        directory,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            Files.delete(file);
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult postVisitDirectory(Path visited, IOException e)
              throws IOException {
            Files.delete(visited);
            return FileVisitResult.CONTINUE;
          }
        });
  }
}
