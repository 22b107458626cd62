package io.firstseen.consumer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.sun.management.ThreadMXBean;
import io.firstseen.consumer.TestPublisher.Entry;
import io.firstseen.consumer.TestPublisher.Publication;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.InvalidKeyException;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.ScopedKey;
import io.firstseen.filters.key.UrlExpressions;
import io.firstseen.filters.snapshot.CatchUp;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.SigningKey;
import io.firstseen.filters.snapshot.SnapshotTopicFormat;
import io.firstseen.filters.snapshot.UrlList;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The client without a broker: the test supplies the records and the clock. */
class SnapshotClientTest {
  private static final String SET = "spam";
  private static final long START_MILLIS = 1_000_000;

  private long offset;
  private final AtomicLong clock = new AtomicLong(START_MILLIS);
  private final List<String> events = new ArrayList<>();
  private final TestPublisher publisher = TestPublisher.of(SET, 4).publishingAt(clock::get);

  private final SnapshotListener listener =
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
        public void onNotice(String sentence) {
          events.add("notice: " + sentence);
        }

        @Override
        public void onState(ClientState state) {
          events.add(state.toString());
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

  private SnapshotClient client(UnaryOperator<SnapshotClientOptions.Builder> change) {
    SnapshotClientOptions.Builder builder =
        SnapshotClientOptions.builder("localhost:9092", SET).listener(listener);
    return new SnapshotClient(change.apply(builder).build(), clock::get);
  }

  private SnapshotClient client() {
    return client(options -> options);
  }

  private void read(SnapshotClient client, List<Entry> entries) {
    for (Entry entry : entries) {
      client.reader().accept(offset++, entry.key(), entry.value());
    }
    client.reader().tick();
  }

  @Test
  void namesTheSetsOfTheTopicWhileTheSetMayBeMisspelt() throws Exception {
    SnapshotClient client = client();
    read(client, TestPublisher.of("spma", 1).publish(1, "a").entries());
    String sentence =
        "topic 'firstseen.snapshots' holds no snapshot of set 'spam' yet, but snapshots of spma";
    client.reader().settle();
    assertThat(client.status().trouble()).contains(sentence);
    read(client, publisher.publish(1, "a").entries());
    client.reader().settle();
    assertThat(client.status().trouble()).isEmpty();
    assertThat(events).containsOnlyOnce("notice: " + sentence);
    client.close();
  }

  @Test
  void reportsATopicThatIsNotOfSnapshots() throws Exception {
    SnapshotClient client = client();
    read(
        client,
        List.of(new Entry("example.org", utf8("{}")), new Entry("spam/publisher", utf8("a"))));
    client.reader().settle();
    assertThat(client.status().trouble())
        .contains(
            "topic 'firstseen.snapshots' holds no snapshot of set 'spam' yet, but other records, such as one with the key 'example.org': is it the topic of snapshots?");
    client.close();
    SnapshotClient ofEvents = client();
    read(ofEvents, List.of(new Entry("", utf8("{}"))));
    ofEvents.reader().settle();
    assertThat(ofEvents.status().trouble())
        .contains(
            "topic 'firstseen.snapshots' holds no snapshot of set 'spam' yet, but other records, such as one without a key: is it the topic of snapshots?");
    ofEvents.close();
  }

  @Test
  void goesFromEmptyToLoadingToReadyAndTells() throws Exception {
    SnapshotClient client = client();
    assertThat(client.state()).isEqualTo(ClientState.EMPTY);
    assertThat(client.manifest()).isEmpty();
    assertThatThrownBy(() -> client.mightContain("a"))
        .isInstanceOf(NoSnapshotException.class)
        .hasMessageContainingAll("set 'spam'", "EMPTY", "--window", "1h1m10s");
    assertThatThrownBy(() -> client.mightContainEach(null, List.of(utf8("a"))))
        .isInstanceOf(NoSnapshotException.class);
    TestPublisher.Publication first = publisher.publish(1, "a");
    read(client, first.entries());
    assertThat(client.state()).isEqualTo(ClientState.LOADING);
    assertThatThrownBy(() -> client.mightContain("a"))
        .isInstanceOfSatisfying(
            NoSnapshotException.class, e -> assertThat(e.state()).isEqualTo(ClientState.LOADING));
    client.reader().settle();
    assertThat(client.state()).isEqualTo(ClientState.READY);
    assertThat(client.manifest()).contains(first.manifest());
    assertThat(client.mightContain("a")).isTrue();
    assertThat(client.mightContain("b")).isFalse();
    assertThat(events).containsExactly("LOADING", "READY", "snapshot 1");
  }

  @Test
  void staysLoadingWhileTheTopicIsReadAgain() {
    SnapshotClient client = client();
    read(client, List.of(publisher.publish(1, "a").manifestEntry()));
    client.reader().rewind();
    client.reader().tick();
    assertThat(client.state()).isEqualTo(ClientState.LOADING);
  }

  @Test
  void canonicalisesHashesAndScopesAsThePublisherDid() throws Exception {
    KeyHash keyHash = KeyHash.xxh3(42);
    byte[] scope = "tenant".getBytes(StandardCharsets.UTF_8);
    byte[] canonical =
        Canonicaliser.URL.canonicalise("http://example.com/a".getBytes(StandardCharsets.UTF_8));
    long[] hashes = {
      keyHash.hash(canonical), keyHash.hash(ScopedKey.join(scope, utf8("http://example.com/b")))
    };
    SnapshotClient client = client(options -> options.keyHash(keyHash));
    read(
        client, new TestPublisher(SET, keyHash, Canonicaliser.URL, 4).publish(1, hashes).entries());
    client.reader().settle();
    assertThat(client.mightContain("HTTP://Example.com:80/a")).isTrue();
    assertThat(client.mightContain(utf8("HTTP://Example.com:80/a"))).isTrue();
    assertThat(client.mightContain("tenant", "HTTP://Example.com:80/b")).isTrue();
    assertThat(client.mightContain(scope, utf8("http://example.com/b"))).isTrue();
    assertThat(client.mightContain("http://example.com/b")).isFalse();
    assertThat(client.mightContain("tenant", "http://example.com/a")).isFalse();
    assertThat(client.mightContain((String) null, "http://example.com/a")).isTrue();
    assertThatThrownBy(() -> client.mightContain("")).isInstanceOf(InvalidKeyException.class);
    assertThatThrownBy(() -> client.mightContain("\uD83D"))
        .isInstanceOf(InvalidKeyException.class)
        .hasMessageContaining("half of a surrogate pair");
    assertThat(client.mightContain("\uD83D\uDE00")).isFalse();
    List<byte[]> keys = List.of(utf8("http://example.com/a"), utf8("HTTP://Example.com:80/b"));
    assertThat(client.mightContainEach(null, keys)).containsExactly(true, false);
    assertThat(client.mightContainEach(scope, keys)).containsExactly(false, true);
    assertThatThrownBy(() -> client.mightContainEach(scope, List.of(keys.get(0), utf8(""))))
        .isInstanceOf(InvalidKeyException.class);
  }

  @Test
  void answersWithoutASnapshotOnlyIfToldTo() throws Exception {
    assertThat(
            client(options -> options.noSnapshotPolicy(NoSnapshotPolicy.ANSWER_PRESENT))
                .mightContain("a"))
        .isTrue();
    assertThat(
            client(options -> options.noSnapshotPolicy(NoSnapshotPolicy.ANSWER_ABSENT))
                .mightContain("a"))
        .isFalse();
  }

  /** A publisher of a list, whose entries are given in canonical form. */
  private TestPublisher listPublisher(KeyHash keyHash) {
    return new TestPublisher(SET, keyHash, Canonicaliser.URL_EXPRESSION, 4)
        .publishingAt(clock::get);
  }

  @Test
  void matchesUrlsWithTheEntryThatListsThem() throws Exception {
    KeyHash keyHash = KeyHash.xxh3(42);
    TestPublisher lists = listPublisher(keyHash);
    SnapshotClient client = client(options -> options.keyHash(keyHash));
    long scoped = keyHash.hash(ScopedKey.join(utf8("tenant"), utf8("c.example/")));
    publish(
        client,
        lists.publish(
            1,
            new long[] {
              keyHash.hash(utf8("a.example/")), keyHash.hash(utf8("a.example/x/")), scoped
            }));
    assertThat(client.match("https://www.A.example/login?y")).contains("a.example/");
    assertThat(client.match("http://a.example:8080/x/y")).contains("a.example/x/");
    assertThat(client.match("http://b.example/")).isEmpty();
    assertThat(client.match(utf8("tenant"), utf8("c.example"))).contains("c.example/");
    assertThat(client.match("c.example")).isEmpty();
    assertThatThrownBy(() -> client.match("http://[1")).isInstanceOf(InvalidKeyException.class);

    UrlList before = client.urlList();
    publish(client, lists.publish(2, new long[] {keyHash.hash(utf8("b.example/"))}));
    assertThat(client.match("http://b.example/")).contains("b.example/");
    assertThat(client.match("http://a.example/")).isEmpty();
    assertThat(before.name()).isEqualTo(SET);
    assertThat(before.match(null, UrlExpressions.of(utf8("a.example")))).contains("a.example/");
    assertThat(before.match(null, UrlExpressions.of(utf8("b.example")))).isEmpty();
  }

  @Test
  void withoutASnapshotMatchesByThePolicyAndGivesNoList() throws Exception {
    SnapshotClient throwing = client();
    assertThatThrownBy(() -> throwing.match("a.example"))
        .isInstanceOf(NoSnapshotException.class)
        .hasMessageContainingAll("set 'spam'", "EMPTY", "--window", "1h1m10s");
    SnapshotClient present =
        client(options -> options.noSnapshotPolicy(NoSnapshotPolicy.ANSWER_PRESENT));
    assertThat(present.match("HTTPS://A.example/b#c")).contains("a.example/b");
    assertThatThrownBy(() -> present.match("http://[1")).isInstanceOf(InvalidKeyException.class);
    assertThatThrownBy(() -> present.match("http://a.example/\uDE00"))
        .isInstanceOf(InvalidKeyException.class);
    SnapshotClient absent =
        client(options -> options.noSnapshotPolicy(NoSnapshotPolicy.ANSWER_ABSENT));
    assertThat(absent.match("a.example")).isEmpty();
    for (SnapshotClient client : List.of(throwing, present, absent)) {
      assertThatThrownBy(client::urlList)
          .isInstanceOfSatisfying(
              NoSnapshotException.class, e -> assertThat(e.state()).isEqualTo(ClientState.EMPTY));
    }
  }

  @Test
  void aStaleListAnswersOnlyIfItMay() throws Exception {
    Duration bound = Duration.ofMillis(500);
    TestPublisher.Publication first = listPublisher(KeyHash.fixed()).publish(1, "a.example/");
    SnapshotClient answering = client(options -> options.staleAfter(bound));
    SnapshotClient silent = client(options -> options.staleAfter(bound).answerWhileStale(false));
    SnapshotClient present =
        client(
            options ->
                options
                    .staleAfter(bound)
                    .answerWhileStale(false)
                    .noSnapshotPolicy(NoSnapshotPolicy.ANSWER_PRESENT));
    for (SnapshotClient client : List.of(answering, silent, present)) {
      publish(client, first);
      assertThat(client.match("http://a.example/b")).contains("a.example/");
    }
    UrlList list = silent.urlList();
    clock.addAndGet(500);
    assertThat(answering.state()).isEqualTo(ClientState.STALE);
    assertThat(answering.match("http://a.example/b")).contains("a.example/");
    assertThat(answering.urlList().name()).isEqualTo(SET);
    assertThatThrownBy(() -> silent.match("http://a.example/b"))
        .isInstanceOfSatisfying(
            NoSnapshotException.class, e -> assertThat(e.state()).isEqualTo(ClientState.STALE));
    assertThatThrownBy(silent::urlList).isInstanceOf(NoSnapshotException.class);
    assertThat(present.match("http://a.example/b")).contains("a.example/b");
    assertThatThrownBy(present::urlList).isInstanceOf(NoSnapshotException.class);
    assertThat(list.match(null, UrlExpressions.of(utf8("a.example")))).contains("a.example/");
  }

  @Test
  void aClosedClientMatchesNothingWhateverThePolicy() {
    SnapshotClient client =
        client(options -> options.noSnapshotPolicy(NoSnapshotPolicy.ANSWER_PRESENT));
    publish(client, listPublisher(KeyHash.fixed()).publish(1, "a.example/"));
    client.close();
    assertThatThrownBy(() -> client.match("a.example"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("closed");
    assertThatThrownBy(client::urlList)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("closed");
  }

  @Test
  void aClientThatOnlyFollowsMatchesNothing() {
    SnapshotClient client = client(SnapshotClientOptions.Builder::followingOnly);
    publish(client, listPublisher(KeyHash.fixed()).publish(1, "a.example/"));
    for (ThrowingCallable question :
        List.<ThrowingCallable>of(() -> client.match("a.example"), client::urlList)) {
      assertThatThrownBy(question)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContainingAll("only follows", "hash key");
    }
  }

  @Test
  void aSetThatIsNoListIsNotMatched() {
    SnapshotClient client = client();
    publish(
        client,
        new TestPublisher(SET, KeyHash.fixed(), Canonicaliser.URL, 4)
            .publish(1, "http://a.example/"));
    for (ThrowingCallable question :
        List.<ThrowingCallable>of(() -> client.match("a.example"), client::urlList)) {
      assertThatThrownBy(question)
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContainingAll("'spam'", "url-expression", "got url");
    }
  }

  @Test
  void growsStaleAndFreshAgain() throws Exception {
    SnapshotClient client = client(options -> options.staleAfter(Duration.ofMillis(500)));
    publish(client, 1, "a");
    clock.addAndGet(499);
    client.reader().tick();
    assertThat(client.state()).isEqualTo(ClientState.READY);
    clock.addAndGet(1);
    client.reader().tick();
    assertThat(client.state()).isEqualTo(ClientState.STALE);
    assertThat(client.mightContain("a")).isTrue();
    client.awaitReady(ChronoUnit.FOREVER.getDuration());
    publish(client, 2, "a");
    assertThat(client.state()).isEqualTo(ClientState.READY);
    assertThat(events).containsExactly("READY", "snapshot 1", "STALE", "READY", "snapshot 2");
  }

  @Test
  void staysReadyForEverWithoutABound() {
    SnapshotClient client = client();
    publish(client, 1, "a");
    clock.addAndGet(Duration.ofDays(10_000).toMillis());
    client.reader().tick();
    assertThat(client.state()).isEqualTo(ClientState.READY);
  }

  /** Only the key and value of a record are used, because its publisher chooses its timestamp. */
  @Test
  void anOldManifestThatIsPublishedAgainIsStaleAtOnce() {
    TestPublisher.Publication old = publisher.publish(1, "a");
    clock.addAndGet(500);
    SnapshotClient client = client(options -> options.staleAfter(Duration.ofMillis(500)));
    publish(client, old);
    assertThat(client.state()).isEqualTo(ClientState.STALE);
    assertThat(client.status().publishedMillis()).isEqualTo(START_MILLIS);
  }

  @Test
  void aManifestThatIsDatedAheadIsFreshNoLongerThanOneOfNow() {
    SnapshotClient client = client(options -> options.staleAfter(Duration.ofMillis(500)));
    publisher.publishingAt(() -> clock.get() + Duration.ofDays(3_650).toMillis());
    publish(client, 1, "a");
    clock.addAndGet(499);
    assertThat(client.state()).isEqualTo(ClientState.READY);
    clock.addAndGet(1);
    assertThat(client.state()).isEqualTo(ClientState.STALE);
    assertThat(client.status().publishedMillis()).isEqualTo(START_MILLIS);
  }

  @Test
  void isStaleOnceItsManifestHasExpired() throws Exception {
    SnapshotClient client = client(options -> options.answerWhileStale(false));
    publisher.expiringAfterMillis(500);
    publish(client, 1, "a");
    clock.addAndGet(499);
    assertThat(client.mightContain("a")).isTrue();
    clock.addAndGet(1);
    assertThat(client.state()).isEqualTo(ClientState.STALE);
    assertThatThrownBy(() -> client.mightContain("a")).isInstanceOf(NoSnapshotException.class);
    publish(client, 2, "a");
    assertThat(client.mightContain("a")).isTrue();
  }

  @Test
  void refusesToAnswerWhileStaleIfToldTo() throws Exception {
    SnapshotClient client =
        client(options -> options.staleAfter(Duration.ofMillis(500)).answerWhileStale(false));
    publish(client, 1, "a");
    assertThat(client.mightContain("a")).isTrue();
    // The following thread may be busy: it has not ticked.
    clock.addAndGet(500);
    assertThat(client.state()).isEqualTo(ClientState.STALE);
    assertThatThrownBy(() -> client.mightContain("a"))
        .isInstanceOf(NoSnapshotException.class)
        .hasMessageContainingAll("set 'spam'", "STALE");
    assertThatThrownBy(() -> client.awaitReady(Duration.ZERO)).isInstanceOf(TimeoutException.class);
    publish(client, 2, "a");
    assertThat(client.mightContain("a")).isTrue();
  }

  @Test
  void keepsTheLastGoodSnapshotAndSaysWhatIsWrong() throws Exception {
    SnapshotClient client = client();
    publish(client, 1, "a");
    events.clear();
    TestPublisher.Publication second = publisher.publish(2, "a", "b");
    read(client, List.of(second.pack().get(0).damaged(), second.manifestEntry()));
    client.reader().settle();
    assertThat(client.state()).isEqualTo(ClientState.READY);
    assertThat(client.mightContain("a")).isTrue();
    assertThat(events).singleElement().asString().startsWith("refused: blob ");
    read(client, second.chunks());
    client.reader().settle();
    assertThat(client.mightContain("b")).isTrue();
    assertThat(events).hasSize(2).contains("snapshot 2");
  }

  /** One that queries have seen is not taken back while what is wrong is reported. */
  @Test
  void whatAnswersStaysWhileSomethingIsReported() {
    List<Long> answering = new ArrayList<>();
    SnapshotClient[] asked = new SnapshotClient[1];
    SnapshotListener asking =
        new SnapshotListener() {
          @Override
          public void onRefused(String reason) {
            asked[0].manifest().ifPresent(manifest -> answering.add(manifest.sequence()));
          }
        };
    try (SnapshotClient client = client(options -> options.listener(asking))) {
      asked[0] = client;
      for (long sequence = 1; sequence <= 2; sequence++) {
        read(client, publisher.publish(sequence, "key " + sequence).entries());
        // It is evaluated first, and rejected before the active snapshot is reported.
        Publication damaged = TestPublisher.of(SET, 4).publish(sequence + 10, "x");
        read(client, damaged.pack().stream().map(Entry::damaged).toList());
        read(client, List.of(damaged.manifestEntry()));
        client.reader().settle();
        assertThat(client.manifest().orElseThrow().sequence()).isEqualTo(sequence);
      }
      assertThat(answering).containsExactly(1L, 2L);
    }
  }

  @Test
  void saysWhyThereIsNoSnapshot() {
    SnapshotClient client = client();
    client.reader().unreachable("no answer from localhost:9092");
    assertThatThrownBy(() -> client.mightContain("a"))
        .isInstanceOf(NoSnapshotException.class)
        .hasMessageContainingAll("set 'spam'", "EMPTY", "no answer from localhost:9092");
    assertThatThrownBy(() -> client.awaitReady(Duration.ofMillis(1)))
        .isInstanceOf(TimeoutException.class)
        .hasMessageContainingAll("1 ms", "set 'spam'", "EMPTY", "no answer from localhost:9092");
    client.reader().reachable();
    assertThatThrownBy(() -> client.mightContain("a"))
        .isInstanceOf(NoSnapshotException.class)
        .hasMessageContainingAll("set 'spam'", "EMPTY", "--window", "1h1m10s");
    assertThat(events).containsExactly("unreachable: no answer from localhost:9092", "reachable");
  }

  @Test
  void endsTheWaitForASetOfAnotherHashKeyAtOnce() throws Exception {
    SnapshotClient client = client(options -> options.keyHash(KeyHash.xxh3(42)));
    CompletableFuture<Throwable> waiting =
        CompletableFuture.supplyAsync(
            () -> catchThrowable(() -> client.awaitReady(Duration.ofMinutes(1))));
    publish(client, 1, "a");
    String reason =
        "sequence 1 of set 'spam' cannot be used: the set is hashed by %s with key check %016x (the"
                .formatted(KeyHash.fixed().algorithm().id(), KeyHash.fixed().keyCheck())
            + " public key), the configured hash is xxh3-64 with key check %016x; configure the hash"
                .formatted(KeyHash.xxh3(42).keyCheck())
            + " key that the publisher uses";
    assertThat(waiting.get(10, TimeUnit.SECONDS))
        .isInstanceOf(UnusableSetException.class)
        .hasMessage(reason);
    assertThatThrownBy(() -> client.awaitSequence(1, Duration.ofMinutes(1)))
        .isInstanceOf(UnusableSetException.class)
        .hasMessage(reason);
  }

  @Test
  void followsASetWhoseHashKeyChanges() throws Exception {
    SnapshotClient before = client();
    SnapshotClient after = client(options -> options.keyHash(KeyHash.xxh3(42)));
    TestPublisher next = new TestPublisher(SET, KeyHash.xxh3(42), Canonicaliser.NONE, 4);
    TestPublisher.Publication old = publisher.publish(1, "a");
    publish(before, old);
    publish(after, old);
    TestPublisher.Publication changed = next.publish(2, "a");
    // The last good snapshot of a running client stays, and the other client gets its first.
    publish(before, changed);
    assertThat(before.awaitReady(Duration.ZERO).sequence()).isEqualTo(1);
    assertThat(before.mightContain("a")).isTrue();
    publish(after, changed);
    assertThat(after.awaitReady(Duration.ZERO).sequence()).isEqualTo(2);
    assertThat(after.mightContain("a")).isTrue();
    // Before the topic is compacted, the end of the topic decides for each key.
    for (KeyHash key : List.of(KeyHash.fixed(), KeyHash.xxh3(42))) {
      SnapshotClient late = client(options -> options.keyHash(key));
      read(late, old.entries());
      publish(late, changed);
      assertThat(late.awaitReady(Duration.ZERO).sequence()).isEqualTo(key.isFixedKey() ? 1 : 2);
    }
  }

  @Test
  void endsTheWaitForASetThatThisVersionCannotRead() {
    SnapshotClient client = client();
    byte[] manifest = publisher.publish(1, "a").manifest().toBytes();
    manifest[4] = 99; // The version of the format.
    read(client, List.of(new Entry(SET, manifest)));
    client.reader().settle();
    assertThatThrownBy(() -> client.awaitReady(Duration.ofMinutes(1)))
        .isInstanceOf(UnusableSetException.class)
        .hasMessageStartingWith("a manifest of set 'spam' cannot be read: ");
    // Others are damaged, so a later record may cure them.
    SnapshotClient patient = client();
    read(patient, List.of(new Entry(SET, utf8("damaged"))));
    patient.reader().settle();
    assertThatThrownBy(() -> patient.awaitReady(Duration.ZERO))
        .isInstanceOf(TimeoutException.class);
  }

  @Test
  void awaitsASequence() throws Exception {
    SnapshotClient client = client();
    CompletableFuture<Long> awaited =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return client.awaitSequence(3, Duration.ofMinutes(1)).sequence();
              } catch (Exception e) {
                throw new AssertionError(e);
              }
            });
    publish(client, 1, "a");
    assertThatThrownBy(() -> client.awaitSequence(3, Duration.ofMillis(1)))
        .isInstanceOf(TimeoutException.class)
        .hasMessageContainingAll("1 ms", "set 'spam'", "sequence 1");
    assertThat(awaited).isNotDone();
    publish(client, 4, "a", "b");
    assertThat(awaited.get(1, TimeUnit.MINUTES)).isEqualTo(4);
    assertThat(client.awaitReady(Duration.ZERO).sequence()).isEqualTo(4);
  }

  @Test
  void aFailingListenerDisturbsNothing() throws Exception {
    SnapshotClient client =
        client(
            options ->
                options.listener(
                    new SnapshotListener() {
                      @Override
                      public void onSnapshot(Manifest manifest) {
                        throw new IllegalStateException("on purpose");
                      }
                    }));
    publish(client, 1, "a");
    assertThat(client.mightContain("a")).isTrue();
  }

  @Test
  void aClosedClientAnswersNothingAndWakesThoseWhoWait() throws Exception {
    SnapshotClient client = client();
    CompletableFuture<Throwable> waiting =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                client.awaitReady(Duration.ofMinutes(1));
                return null;
              } catch (Exception e) {
                return e;
              }
            });
    client.close();
    client.close();
    assertThat(waiting.get(1, TimeUnit.MINUTES))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("closed");
    assertThat(client.state()).isEqualTo(ClientState.CLOSED);
    assertThatThrownBy(() -> client.mightContain("a")).isInstanceOf(IllegalStateException.class);
    publish(client, 1, "a");
    assertThat(client.state()).isEqualTo(ClientState.CLOSED);
  }

  @Test
  void everyQuerySeesOneWholeSnapshotWhileManyAreSwapped() throws Exception {
    // Every window holds the key "live" and one of its own; a query must never miss "live".
    SnapshotClient client = client();
    publish(client, 1, "live", "1");
    AtomicBoolean stop = new AtomicBoolean();
    List<CompletableFuture<Long>> queries = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      queries.add(
          CompletableFuture.supplyAsync(
              () -> {
                long asked = 0;
                while (!stop.get()) {
                  try {
                    assertThat(client.mightContain("live")).isTrue();
                  } catch (InvalidKeyException e) {
                    throw new AssertionError(e);
                  }
                  asked++;
                }
                return asked;
              }));
    }
    Random random = new Random(1);
    for (long sequence = 2; sequence <= 100; sequence++) {
      publish(client, sequence, "live", Long.toString(random.nextLong()));
    }
    stop.set(true);
    for (CompletableFuture<Long> query : queries) {
      query.get(1, TimeUnit.MINUTES);
    }
    assertThat(client.manifest().orElseThrow().sequence()).isEqualTo(100);
  }

  @Test
  void queriesAllocateNothing() throws Exception {
    SnapshotClient client = client();
    publish(client, 1, "a", "b", "c");
    byte[] live = utf8("a");
    byte[] strange = utf8("x");
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long bytes = Long.MAX_VALUE;
    int found = 0;
    // Until the JIT has compiled the queries.
    for (int turn = 0; turn < 20 && bytes > 0; turn++) {
      long before = threads.getCurrentThreadAllocatedBytes();
      for (int i = 0; i < 10_000; i++) {
        found += client.mightContain(live) ? 1 : 0;
        found += client.mightContain(strange) ? 1 : 0;
      }
      bytes = threads.getCurrentThreadAllocatedBytes() - before;
    }
    assertThat(bytes).isLessThan(10_000);
    assertThat(found).isPositive();
  }

  @Test
  void aPinnedClientStaysAndGoesOnWhenUnpinned() throws Exception {
    SnapshotClient client = client();
    publish(client, 1, "a");
    client.pin(1);
    assertThat(client.pinned()).hasValue(1);
    List<Entry> second = publisher.publish(2, "b").entries();
    read(client, second);
    assertThat(client.reader().settle()).isFalse();
    assertThat(client.mightContain("a")).isTrue();
    client.unpin();
    assertThat(client.pinned()).isEmpty();
    // The skipped records are read again.
    assertThat(client.reader().settle()).isTrue();
    client.reader().rewind();
    read(client, second);
    client.reader().settle();
    assertThat(client.mightContain("b")).isTrue();
    assertThat(events).containsExactly("READY", "snapshot 1", "snapshot 2");
    assertThatThrownBy(() -> client.pin(-1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("sequence", "at least 0", "-1");
  }

  @Test
  void aPinHoldsFromTheMomentItReturned() throws Exception {
    SnapshotClient client = client();
    publish(client, 1, "a");
    read(client, publisher.publish(2, "b").entries());
    // The following thread does not know of it yet.
    client.pin(1);
    client.reader().settle();
    assertThat(client.manifest().orElseThrow().sequence()).isEqualTo(1);
  }

  @Test
  void aLaterManifestOfTheSameContentRefreshesTheSnapshot() throws Exception {
    SnapshotClient client = client(options -> options.staleAfter(Duration.ofHours(1)));
    publish(client, 1, "a");
    Entry first = publisher.manifestEntry(1);
    clock.addAndGet(7_200_000);
    assertThat(client.state()).isEqualTo(ClientState.STALE);
    // A replay of an old manifest makes nothing fresh.
    readAndSettle(client, first);
    assertThat(client.state()).isEqualTo(ClientState.STALE);
    readAndSettle(client, publisher.manifestEntry(1));
    assertThat(client.state()).isEqualTo(ClientState.READY);
    assertThat(client.metrics().ageMillis()).isZero();
    assertThat(client.manifest().orElseThrow().publishedMillis()).isEqualTo(clock.get());
    assertThat(client.mightContain("a")).isTrue();
    clock.addAndGet(1_000);
    readAndSettle(client, first);
    assertThat(client.metrics().ageMillis()).isEqualTo(1_000);
    // An expiry that has been moved.
    publisher.expiringAfterMillis(600_000);
    readAndSettle(client, publisher.manifestEntry(1));
    clock.addAndGet(600_000);
    assertThat(client.state()).isEqualTo(ClientState.STALE);
    readAndSettle(client, publisher.manifestEntry(1));
    assertThat(client.state()).isEqualTo(ClientState.READY);
  }

  @Test
  void aManifestThatIsDatedAheadIsNotRefreshedByReadingItAgain() throws Exception {
    SnapshotClient client = client(options -> options.staleAfter(Duration.ofHours(1)));
    clock.addAndGet(86_400_000);
    TestPublisher.Publication ahead = publisher.publish(1, "a");
    clock.addAndGet(-86_400_000);
    read(client, ahead.entries());
    client.reader().settle();
    clock.addAndGet(7_200_000);
    readAndSettle(client, ahead.manifestEntry());
    assertThat(client.state()).isEqualTo(ClientState.STALE);
  }

  @Test
  void whatIsWrongWithALaterManifestHoldsAlsoIfTheActiveOneIsRefreshed() throws Exception {
    SnapshotClient client = client();
    publish(client, 2, "a");
    readAndSettle(client, TestPublisher.of(SET, 4).publish(1, "b").manifestEntry());
    String trouble = client.status().trouble().orElseThrow();
    assertThat(trouble).contains("went back to sequence 1");
    clock.addAndGet(1);
    readAndSettle(client, publisher.manifestEntry(2));
    assertThat(client.metrics().ageMillis()).isZero();
    assertThat(client.status().trouble()).contains(trouble);
  }

  private void readAndSettle(SnapshotClient client, Entry entry) {
    read(client, List.of(entry));
    client.reader().settle();
  }

  @Test
  void aPinHoldsAlsoWhileTheNextSnapshotIsBeingLoaded() throws Exception {
    Map<String, byte[]> blobs = new HashMap<>();
    AtomicReference<SnapshotClient> pinning = new AtomicReference<>();
    SnapshotClient client =
        client(
            options ->
                options.blobLoader(
                    blob -> {
                      if (pinning.get() != null) {
                        pinning.get().pin(1);
                      }
                      return ByteBuffer.wrap(blobs.get(blob.digest()));
                    }));
    keep(publisher.publish(1, "a"), blobs);
    read(client, List.of(publisher.manifestEntry(1)));
    client.reader().settle();
    keep(publisher.publish(2, "b"), blobs);
    // The control: without the pin, sequence 2 would answer.
    SnapshotClient other =
        client(options -> options.blobLoader(blob -> ByteBuffer.wrap(blobs.get(blob.digest()))));
    read(other, List.of(publisher.manifestEntry(2)));
    other.reader().settle();
    assertThat(other.mightContain("b")).isTrue();
    pinning.set(client);
    read(client, List.of(publisher.manifestEntry(2)));
    client.reader().settle();
    assertThat(client.pinned()).hasValue(1);
    assertThat(client.manifest().orElseThrow().sequence()).isEqualTo(1);
    assertThat(client.mightContain("a")).isTrue();
    // Unpinned before the following thread knew of the pin.
    pinning.set(null);
    client.unpin();
    client.reader().settle();
    assertThat(client.mightContain("b")).isTrue();
  }

  private static void keep(TestPublisher.Publication publication, Map<String, byte[]> blobs) {
    for (Entry chunk : publication.chunks()) {
      blobs.put(chunk.digest(), chunk.value());
    }
  }

  @Test
  void asksThePlaceThatAManifestNamesOnlyIfATrustedKeyHasSignedIt(@TempDir Path directory)
      throws Exception {
    TestPublisher.Publication first = publisher.publish(1, "a");
    Map<String, byte[]> blobs = new HashMap<>();
    keep(first, blobs);
    for (Map.Entry<String, byte[]> blob : blobs.entrySet()) {
      Files.write(directory.resolve(blob.getKey()), blob.getValue());
    }
    SigningKey key = SigningKey.generate();
    Manifest named = key.sign(first.manifest().withBlobs(directory.toUri()));
    List<Entry> topic = List.of(new Entry(SET, named.toBytes()));
    SnapshotClient careful = client();
    read(careful, topic);
    careful.reader().settle();
    assertThat(careful.manifest()).isEmpty();
    assertThat(careful.status().trouble().orElseThrow())
        .contains("the manifest names the location " + directory.toUri())
        .endsWith("give this client the directory of blobs or a trusted key");
    assertThatThrownBy(() -> careful.awaitReady(Duration.ofMinutes(1)))
        .isInstanceOf(UnusableSetException.class)
        .hasMessageStartingWith("the blobs of sequence 1 of set 'spam' cannot be fetched: ");
    SnapshotClient elsewhere = client(options -> options.blobDirectory(URI.create("s3://bucket/")));
    read(elsewhere, topic);
    elsewhere.reader().settle();
    assertThatThrownBy(() -> elsewhere.awaitReady(Duration.ofMinutes(1)))
        .isInstanceOf(UnusableSetException.class)
        .hasMessageContaining("s3://bucket/ is of a kind that this client cannot read");
    SnapshotClient trusting = client(options -> options.trustedKeys(List.of(key.publicKey())));
    read(trusting, topic);
    trusting.reader().settle();
    assertThat(trusting.awaitReady(Duration.ZERO)).isEqualTo(named);
    assertThat(trusting.mightContain("a")).isTrue();
    SnapshotClient told = client(options -> options.blobDirectory(directory.toUri()));
    read(told, topic);
    told.reader().settle();
    assertThat(told.mightContain("a")).isTrue();
  }

  @Test
  void goesBackToAPinnedSequenceOfItsHistoryAtOnce() throws Exception {
    SnapshotClient client = client(options -> options.history(1));
    publish(client, 1, "a");
    publish(client, 2, "b");
    client.pin(1);
    client.reader().tick();
    assertThat(client.manifest().orElseThrow().sequence()).isEqualTo(1);
    assertThat(client.mightContain("a")).isTrue();
    client.pin(2);
    client.reader().tick();
    assertThat(client.mightContain("b")).isTrue();
    assertThat(events).contains("snapshot 1").endsWith("snapshot 2", "snapshot 1", "snapshot 2");
  }

  @Test
  void startsPinned() {
    SnapshotClient client = client(options -> options.pin(2));
    publish(client, 1, "a");
    assertThat(client.state()).isEqualTo(ClientState.EMPTY);
    publish(client, 2, "b");
    publish(client, 3, "c");
    assertThat(client.manifest().orElseThrow().sequence()).isEqualTo(2);
    assertThat(events)
        .containsExactly(
            "refused: sequence 2 of set 'spam' is pinned and is not on the topic; no snapshot is"
                + " active",
            "READY",
            "snapshot 2");
  }

  @Test
  void acceptsALowerSequenceOnATopicThatWasCreatedAnewOnly() throws Exception {
    SnapshotClient client = client();
    assertThat(client.reader().open("id-1")).isEmpty();
    publish(client, 7, "a");
    assertThat(client.reader().open("id-1")).hasValue(offset);
    publish(client, TestPublisher.of(SET, 4).publish(3, "b"));
    assertThat(client.manifest().orElseThrow().sequence()).isEqualTo(7);
    events.clear();
    assertThat(client.reader().open("id-2")).isEmpty();
    client.reader().rewind();
    assertThat(client.mightContain("a")).isTrue();
    publish(client, TestPublisher.of(SET, 4).publish(3, "b"));
    assertThat(client.mightContain("b")).isTrue();
    publish(client, TestPublisher.of(SET, 4).publish(2, "c"));
    assertThat(client.mightContain("b")).isTrue();
    assertThat(events)
        .containsExactly(
            "notice: topic 'firstseen.snapshots' was recreated; set 'spam' may start again with"
                + " any sequence, it was at 7",
            "snapshot 3",
            "refused: set 'spam' went back to sequence 2; sequence 3 stays active");
  }

  @Test
  void readsAllAgainWhereTheTopicIsNotKnownToBeTheSame() {
    SnapshotClient client = client();
    client.reader().open("id-1");
    publish(client, 1, "a");
    assertThat(client.reader().open(null)).isEmpty();
    assertThat(client.reader().open("id-1")).hasValue(offset);
    client.reader().rewind();
    assertThat(client.reader().open("id-1")).isEmpty();
  }

  @Test
  void saysOnceThatChunksWereDroppedAtTheBound() {
    SnapshotClient client = client(options -> options.maxUnnamedBytes(1 << 20));
    for (int i = 0; i < 6; i++) {
      Entry chunk =
          new Entry("%064x/0".formatted(i), new byte[SnapshotTopicFormat.MAX_CHUNK_BYTES]);
      read(client, List.of(chunk));
      client.reader().settle();
    }
    assertThat(events)
        .containsExactly(
            "notice: chunks on the topic of set 'spam' for which no manifest waits took more than"
                + " 1048576 bytes, so the oldest were dropped; the topic is read again if a"
                + " manifest needs them: raise maxUnnamedBytes if it often is");
  }

  @Test
  void countsWhatItDoes() {
    SnapshotClient client = client();
    assertThat(client.metrics())
        .isEqualTo(new SnapshotMetrics(ClientState.EMPTY, -1, 0, 0, -1, 0, 0, 0, 0, 0, 0, 0));
    TestPublisher.Publication first = publisher.publish(1, "a", "b");
    publish(client, first);
    publish(client, TestPublisher.of(SET, 4).publish(0, "b"));
    client.reader().unreachable("gone");
    clock.addAndGet(7);
    SnapshotMetrics metrics = client.metrics();
    long blobBytes = first.chunks().stream().mapToLong(chunk -> chunk.value().length).sum();
    assertThat(metrics.state()).isEqualTo(ClientState.READY);
    assertThat(metrics.sequence()).isEqualTo(1);
    assertThat(metrics.keys()).isEqualTo(2);
    assertThat(metrics.setBytes()).isPositive();
    assertThat(metrics.fetchedBytes()).isEqualTo(blobBytes);
    assertThat(metrics.readBytes()).isGreaterThan(blobBytes);
    assertThat(metrics.readRecords()).isEqualTo(offset);
    assertThat(metrics.ageMillis()).isEqualTo(7);
    assertThat(metrics.snapshots()).isEqualTo(1);
    assertThat(metrics.refusals()).isEqualTo(1);
    assertThat(metrics.outages()).isEqualTo(1);
  }

  @Test
  void tellsWhatAnUpdateTook() {
    List<SnapshotUpdate> updates = new ArrayList<>();
    SnapshotClient client =
        client(
            options ->
                options.listener(
                    new SnapshotListener() {
                      @Override
                      public void onUpdate(SnapshotUpdate update) {
                        updates.add(update);
                      }
                    }));
    long[] hashes = new Random(1).longs(101).toArray();
    TestPublisher.Publication first = publisher.publish(1, Arrays.copyOf(hashes, 100));
    publish(client, first);
    TestPublisher.Publication second = publisher.publish(2, hashes);
    publish(client, second);
    assertThat(updates).hasSize(2);
    assertThat(updates.get(0).previous()).isEmpty();
    assertThat(updates.get(1).previous()).contains(first.manifest());
    assertThat(updates.get(1).manifest()).isEqualTo(second.manifest());
    assertThat(updates.get(0).way()).isEqualTo(CatchUp.Way.BASES);
    assertThat(updates.get(0).addedKeys()).isEmpty();
    assertThat(updates.get(1).way()).isEqualTo(CatchUp.Way.PACKS);
    assertThat(updates.get(1).fetchedBytes()).isEqualTo(second.manifest().pack().bytes());
    assertThat(updates.get(1).addedKeys()).hasValue(1);
    assertThat(updates.get(1).removedKeys()).hasValue(0);
  }

  private void publish(SnapshotClient client, long sequence, String... keys) {
    publish(client, publisher.publish(sequence, keys));
  }

  private void publish(SnapshotClient client, TestPublisher.Publication publication) {
    for (Entry entry : publication.entries()) {
      client.reader().accept(offset++, entry.key(), entry.value());
    }
    client.reader().settle();
    client.reader().tick();
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
