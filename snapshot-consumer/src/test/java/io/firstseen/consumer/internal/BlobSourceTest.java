package io.firstseen.consumer.internal;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.firstseen.consumer.TestPublisher;
import io.firstseen.consumer.TestPublisher.Entry;
import io.firstseen.consumer.TestPublisher.Publication;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.CatchUp;
import io.firstseen.filters.snapshot.Manifest;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Blobs in files and behind HTTP, under an assembler. */
class BlobSourceTest {
  private static final long[] SOME = new Random(2).longs(10_000).toArray();
  private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(2);

  private final TestPublisher publisher = TestPublisher.of(Following.SET, 1);
  private final CountDownLatch testEnds = new CountDownLatch(1);
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final Map<String, byte[]> served = new ConcurrentHashMap<>();
  private HttpServer server;
  private volatile Fault fault = Fault.NONE;

  /** Each fault of the server, and the client's message. */
  private enum Fault {
    NONE(""),
    NOT_FOUND(" answers 404"),
    FAILING(" answers 500"),
    WRONG_BYTES("bytes have the digest "),
    ONE_BYTE_MORE("bytes have the digest "),
    CUT(" broke off in its answer: "),
    SILENT(" does not answer"),
    STUCK_HALF_WAY(" was not read within "),
    GONE(" cannot be reached");

    private final String sentence;

    Fault(String sentence) {
      this.sentence = sentence;
    }
  }

  @AfterEach
  void stop() {
    testEnds.countDown();
    threads.shutdownNow();
    if (server != null) {
      server.stop(0);
    }
  }

  private void listen(int port) throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
    server.setExecutor(threads);
    server.createContext("/blobs/", this::answer);
    server.start();
  }

  private void answer(HttpExchange exchange) throws IOException {
    String digest = exchange.getRequestURI().getPath().substring("/blobs/".length());
    byte[] bytes = served.get(digest);
    switch (bytes == null ? Fault.NOT_FOUND : fault) {
      case NONE -> send(exchange, bytes);
      case NOT_FOUND -> exchange.sendResponseHeaders(404, -1);
      case FAILING -> exchange.sendResponseHeaders(500, -1);
      case WRONG_BYTES -> send(exchange, new Entry("", bytes).damaged().value());
      case ONE_BYTE_MORE -> send(exchange, Arrays.copyOf(bytes, bytes.length + 1));
      case CUT -> sendHalf(exchange, bytes);
      case SILENT -> awaitEndOfTest();
      case STUCK_HALF_WAY -> {
        sendHalf(exchange, bytes);
        awaitEndOfTest();
      }
      default -> throw new IllegalStateException("the server should be gone");
    }
    exchange.close();
  }

  private static void send(HttpExchange exchange, byte[] bytes) throws IOException {
    exchange.sendResponseHeaders(200, bytes.length);
    exchange.getResponseBody().write(bytes);
  }

  private static void sendHalf(HttpExchange exchange, byte[] bytes) throws IOException {
    exchange.sendResponseHeaders(200, bytes.length);
    exchange.getResponseBody().write(bytes, 0, bytes.length / 2);
    exchange.getResponseBody().flush();
  }

  private void awaitEndOfTest() {
    try {
      testEnds.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void serve(Publication publication) {
    for (Entry chunk : publication.chunks()) {
      served.put(chunk.digest(), chunk.value());
    }
  }

  @ParameterizedTest
  @EnumSource(Fault.class)
  void keepsTheLastGoodSnapshotWhateverAServerDoesAndRecovers(Fault withSecond) throws Exception {
    listen(0);
    int port = server.getAddress().getPort();
    URI place = URI.create("http://127.0.0.1:" + port + "/blobs/");
    Following following =
        Following.with(Set.of(), new BlobSource(place, null, false, ANSWER_TIMEOUT));
    Publication first = publisher.publish(1, withKey("first"));
    serve(first);
    following.read(first.manifestEntry()).settle();
    assertThat(following.contains("first")).isTrue();
    Publication second = publisher.publish(2, withKey("second"));
    serve(second);
    fault = withSecond;
    if (withSecond == Fault.GONE) {
      server.stop(0);
    }
    following.read(second.manifestEntry()).settle();
    if (withSecond == Fault.NONE) {
      assertThat(following.contains("second")).isTrue();
      assertThat(following.refusals).isEmpty();
      return;
    }
    assertThat(following.sequence()).isEqualTo(1);
    assertThat(following.contains("first")).isTrue();
    assertThat(following.refusals)
        .singleElement()
        .asString()
        .startsWith("blob " + second.manifest().pack().digest() + " of sequence 2 of set 'spam'")
        .contains(withSecond.sentence);
    fault = Fault.NONE;
    if (withSecond == Fault.GONE) {
      listen(port);
    }
    following.waitForChunks();
    assertThat(following.contains("second")).isTrue();
    assertThat(following.refusals).hasSize(1);
  }

  @Test
  void saysWhichPlacesItCannotRead() {
    Publication first = publisher.publish(1, SOME);
    Following following =
        Following.with(Set.of(), new BlobSource(URI.create("s3://bucket/blobs"), null, false));
    following.read(first.manifestEntry()).settle();
    assertThat(following.refusals).singleElement().asString().contains("give it a loader");
  }

  /**
   * This manifest is not signed, so anyone with write access to the topic can choose the length.
   */
  @ParameterizedTest
  @ValueSource(longs = {Integer.MAX_VALUE, Integer.MAX_VALUE - 7})
  void aLengthThatCannotBeReadIsOneSentence(long length, @TempDir Path directory) throws Exception {
    Publication first = publisher.publish(1, SOME);
    Publication second = publisher.publish(2, withKey("second"));
    write(directory, first.chunks());
    write(directory, second.chunks());
    Following following = Following.with(Set.of(), new BlobSource(directory.toUri(), null, false));
    following.read(first.manifestEntry()).settle();
    Manifest honest = second.manifest();
    BlobReference pack = new BlobReference(honest.pack().digest(), length);
    Manifest forged =
        Manifest.of(
            honest.setName(),
            honest.sequence(),
            honest.windowStartMillis(),
            honest.windowEndMillis(),
            honest.parameters(),
            honest.count(),
            honest.root(),
            pack,
            honest.packBytes() + length);
    following.read(TestPublisher.entry(forged)).settle().waitForChunks();
    assertThat(following.refusals)
        .containsExactly(
            "sequence 2 of set 'spam' cannot be used: manifest: blob "
                + honest.pack().digest()
                + " must have at most 2147483639 bytes to be read into memory, got "
                + length);
    assertThat(following.sequence()).isEqualTo(1);
    following.read(second.manifestEntry()).settle();
    assertThat(following.contains("second")).isTrue();
  }

  @Test
  void fetchesOnlyTheBlobsOfItsWayAndEachOnce(@TempDir Path directory) throws Exception {
    Publication first = publisher.publish(1, SOME);
    Publication second = publisher.publish(2, withKey("new"));
    List<String> asked = new ArrayList<>();
    BlobSource files = new BlobSource(directory.toUri(), null, false);
    Following following =
        Following.with(
            Set.of(),
            new BlobSource(
                null,
                blob -> {
                  asked.add(blob.digest());
                  return files.fetch(first.manifest(), blob);
                },
                false));
    write(directory, first.pack());
    following.read(first.manifestEntry()).settle();
    assertThat(following.active).isNull();
    assertThat(following.refusals)
        .singleElement()
        .asString()
        .contains(" cannot be fetched: there is no file:");
    write(directory, first.bases());
    following.waitForChunks();
    assertThat(following.sequence()).isEqualTo(1);
    assertThat(following.way).isEqualTo(CatchUp.Way.BASES);
    assertThat(asked).startsWith(first.manifest().pack().digest());
    assertThat(asked.stream().filter(first.manifest().pack().digest()::equals)).hasSize(1);
    asked.clear();
    write(directory, second.chunks());
    following.read(second.manifestEntry()).settle();
    assertThat(following.contains("new")).isTrue();
    assertThat(following.way).isEqualTo(CatchUp.Way.PACKS);
    assertThat(asked).containsExactly(second.manifest().pack().digest());
    assertThat(following.rereads).isZero();
  }

  /** Each request counts as 4096 bytes, so bases are fewer than many small packs. */
  @Test
  void takesTheBasesWhereManySmallPacksWouldNeedMoreRequests(@TempDir Path directory)
      throws Exception {
    for (int windows : new int[] {5, 50}) {
      TestPublisher large = TestPublisher.of(Following.SET, 1);
      Following following =
          Following.with(Set.of(), new BlobSource(directory.toUri(), null, false));
      Publication newest = large.publish(1, SOME);
      write(directory, newest.chunks());
      following.read(newest.manifestEntry()).settle();
      for (int i = 1; i <= windows; i++) {
        newest = large.publish(1 + i, withKey("key-" + i));
        write(directory, newest.chunks());
      }
      following.read(newest.manifestEntry()).settle();
      assertThat(following.contains("key-" + windows)).isTrue();
      assertThat(following.way).isEqualTo(windows == 5 ? CatchUp.Way.PACKS : CatchUp.Way.BASES);
    }
  }

  @Test
  void takesTheBasesWhereAPackIsGoneOrOther(@TempDir Path directory) throws Exception {
    for (boolean isGone : new boolean[] {true, false}) {
      TestPublisher changing = TestPublisher.of(Following.SET, 1);
      Following following =
          Following.with(Set.of(), new BlobSource(directory.toUri(), null, false));
      Publication first = changing.publish(1, SOME);
      Publication second = changing.publish(2, withKey("second"));
      // Changes much, so that there is a new list of bases.
      Publication third = changing.publish(3, new Random(isGone ? 3 : 4).longs(9_000).toArray());
      write(directory, first.chunks());
      write(directory, second.bases());
      write(directory, third.chunks());
      following.read(first.manifestEntry()).settle();
      Path pack = directory.resolve(second.manifest().pack().digest());
      Files.deleteIfExists(pack);
      if (!isGone) {
        Files.write(pack, new byte[] {1});
      }
      following.read(third.manifestEntry()).settle();
      assertThat(following.sequence()).isEqualTo(3);
      assertThat(following.way).isEqualTo(CatchUp.Way.BASES);
      assertThat(following.refusals)
          .hasSize(2)
          .last()
          .asString()
          .startsWith(
              "sequence 3 of set 'spam' cannot be reached by packs, so the bases are loaded: ");
    }
  }

  @Test
  void aFileThatIsCutAfterwardsHarmsNoQuery(@TempDir Path directory) throws Exception {
    Publication first = publisher.publish(1, withKey("first"));
    write(directory, first.chunks());
    Following following = Following.with(Set.of(), new BlobSource(directory.toUri(), null, false));
    following.read(first.manifestEntry()).settle();
    try (FileChannel blob =
        FileChannel.open(
            directory.resolve(first.manifest().pack().digest()), StandardOpenOption.WRITE)) {
      blob.truncate(0);
    }
    assertThat(following.contains("first")).isTrue();
    following.active.set().verify();
  }

  private static void write(Path directory, List<Entry> chunks) throws IOException {
    for (Entry chunk : chunks) {
      Files.write(directory.resolve(chunk.digest()), chunk.value());
    }
  }

  private static long[] withKey(String key) {
    long[] hashes = Arrays.copyOf(SOME, SOME.length + 1);
    hashes[SOME.length] = TestPublisher.hash(key);
    return hashes;
  }
}
