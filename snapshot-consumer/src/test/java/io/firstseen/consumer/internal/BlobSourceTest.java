package io.firstseen.consumer.internal;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.firstseen.consumer.TestPublisher;
import io.firstseen.consumer.TestPublisher.Entry;
import io.firstseen.consumer.TestPublisher.Publication;
import io.firstseen.filters.snapshot.ManifestShard;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
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
  // A seed with which the publisher cuts no base beside the first delta.
  private static final long NO_NEW_BASE = 1;
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
      served.put(digest(chunk), chunk.value());
    }
  }

  private static String digest(Entry chunk) {
    return chunk.key().substring(0, chunk.key().indexOf('/'));
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
        .startsWith("blob " + digest(second.chunks().get(0)) + " of sequence 2 of set 'spam'")
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

  /** Nothing signs this manifest: whoever may write to the topic chooses the length. */
  @ParameterizedTest
  @ValueSource(longs = {Integer.MAX_VALUE, Integer.MAX_VALUE - 7})
  void aLengthThatCannotBeReadIsOneSentence(long length, @TempDir Path directory) throws Exception {
    Publication first = publisher.publish(1, SOME);
    Publication second = publisher.publish(2, withKey("second"));
    write(directory, first);
    write(directory, second);
    Following following = Following.with(Set.of(), new BlobSource(directory.toUri(), null, false));
    following.read(first.manifestEntry()).settle();
    ManifestShard shard = second.manifest().shards().get(0);
    String json = new String(second.manifestEntry().value(), StandardCharsets.UTF_8);
    String forged =
        json.replace("\"bytes\":" + shard.base().bytes() + ",", "\"bytes\":" + length + ",");
    assertThat(forged).isNotEqualTo(json);
    following
        .read(new Entry(Following.SET, forged.getBytes(StandardCharsets.UTF_8)))
        .settle()
        .waitForChunks();
    assertThat(following.refusals)
        .containsExactly(
            "sequence 2 of set 'spam' cannot be used: manifest: blob "
                + shard.base().digest()
                + " must have at most 2147483639 bytes to be read into memory, got "
                + length);
    assertThat(following.sequence()).isEqualTo(1);
    following.read(second.manifestEntry()).settle();
    assertThat(following.contains("second")).isTrue();
  }

  @Test
  void fetchesOnlyPlannedBlobsFromADirectory(@TempDir Path directory) throws Exception {
    TestPublisher deltas = TestPublisher.of(Following.SET, 1).withDeltas(NO_NEW_BASE);
    Publication first = deltas.publish(1, SOME);
    Publication second = deltas.publish(2, withKey("new"));
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
    write(directory, first);
    following.read(first.manifestEntry()).settle();
    assertThat(following.sequence()).isEqualTo(1);
    following.read(second.manifestEntry()).settle();
    assertThat(following.sequence()).isEqualTo(1);
    assertThat(following.refusals)
        .singleElement()
        .asString()
        .contains(" cannot be fetched: there is no file:");
    write(directory, second);
    following.waitForChunks();
    assertThat(following.contains("new")).isTrue();
    assertThat(following.rereads).isZero();
    ManifestShard shard = second.manifest().shards().get(0);
    assertThat(asked.subList(0, 1)).containsExactly(shard.base().digest());
    assertThat(asked.get(asked.size() - 1)).isEqualTo(shard.deltas().get(0).digest());
  }

  @Test
  void aFileThatIsCutAfterwardsHarmsNoQuery(@TempDir Path directory) throws Exception {
    Publication first = publisher.publish(1, withKey("first"));
    write(directory, first);
    Following following = Following.with(Set.of(), new BlobSource(directory.toUri(), null, false));
    following.read(first.manifestEntry()).settle();
    try (FileChannel blob =
        FileChannel.open(
            directory.resolve(digest(first.chunks().get(0))), StandardOpenOption.WRITE)) {
      blob.truncate(0);
    }
    assertThat(following.contains("first")).isTrue();
    following.active.set().verify();
  }

  private static void write(Path directory, Publication publication) throws IOException {
    for (Entry chunk : publication.chunks()) {
      Files.write(directory.resolve(digest(chunk)), chunk.value());
    }
  }

  private static long[] withKey(String key) {
    long[] hashes = Arrays.copyOf(SOME, SOME.length + 1);
    hashes[SOME.length] = TestPublisher.hash(key);
    return hashes;
  }
}
