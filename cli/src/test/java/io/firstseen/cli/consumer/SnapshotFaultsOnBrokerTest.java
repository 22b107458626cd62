package io.firstseen.cli.consumer;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.cli.Waiting;
import io.firstseen.cli.consumer.SnapshotWriter.Window;
import io.firstseen.cli.consumer.SnapshotWriter.Written;
import io.firstseen.consumer.ClientState;
import io.firstseen.consumer.SnapshotClient;
import io.firstseen.consumer.SnapshotClientOptions;
import io.firstseen.consumer.SnapshotListener;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.SigningKey;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.testing.SharedBroker;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * With any fault on the topic, the client keeps serving the last good snapshot, reports the reason
 * in one line, and continues when the fault is cured.
 */
class SnapshotFaultsOnBrokerTest {
  private static final Duration LONG = Duration.ofMinutes(1);
  private static final SigningKey TRUSTED = SigningKey.generate();

  // Two chunks at 31.5 bits a key.
  private static final long[] MANY = new Random(1).longs(300_000).toArray();

  @RegisterExtension private static final SharedBroker KAFKA = SharedBroker.tuned();

  private static Window first;
  private static Window good;

  private final BlockingQueue<String> refusals = new LinkedBlockingQueue<>();

  private static final int SECOND_OF_BASE = 1;

  /** A fault of the second window, and its cure. */
  private enum Fault {
    CORRUPTED_CHUNK("blob \\w+ of sequence 2 of set 'spam' is damaged: its bytes have .*") {
      @Override
      List<Written> wrong(Window good) {
        Written second = good.chunks().get(SECOND_OF_BASE);
        byte[] bytes = second.value().clone();
        bytes[bytes.length / 2] ^= 1;
        List<Written> chunks = new ArrayList<>(good.chunks());
        chunks.set(SECOND_OF_BASE, second.with(bytes));
        return with(chunks, signed(good, TRUSTED));
      }

      @Override
      List<Written> cure(Window good) {
        return List.of(good.chunks().get(SECOND_OF_BASE));
      }
    },
    MISSING_CHUNK(
        "sequence 2 of set 'spam' is incomplete after 100 ms: .*, which lacks 1 of 2 chunks") {
      @Override
      List<Written> wrong(Window good) {
        List<Written> chunks = new ArrayList<>(good.chunks());
        chunks.remove(SECOND_OF_BASE);
        return with(chunks, signed(good, TRUSTED));
      }

      @Override
      List<Written> cure(Window good) {
        return List.of(good.chunks().get(SECOND_OF_BASE));
      }
    },
    MANIFEST_BEFORE_ITS_BLOBS(
        "sequence 2 of set 'spam' is incomplete after 100 ms: .*, which lacks 2 of 2 chunks") {
      @Override
      List<Written> wrong(Window good) {
        return List.of(signed(good, TRUSTED));
      }

      @Override
      List<Written> cure(Window good) {
        List<Written> reordered = new ArrayList<>(good.chunks());
        Collections.reverse(reordered);
        return reordered;
      }
    },
    NO_SIGNATURE("a manifest of set 'spam' cannot be read: the manifest has no signature") {
      @Override
      List<Written> wrong(Window good) {
        return with(good.chunks(), good.manifestRecord());
      }

      @Override
      List<Written> cure(Window good) {
        return with(good.chunks(), signed(good, TRUSTED));
      }
    },
    WRONG_SIGNATURE("a manifest of set 'spam' cannot be read: .* which is not trusted") {
      @Override
      List<Written> wrong(Window good) {
        return with(good.chunks(), signed(good, SigningKey.generate()));
      }

      @Override
      List<Written> cure(Window good) {
        return with(good.chunks(), signed(good, TRUSTED));
      }
    },
    WRONG_HASH_KEY("sequence 2 of set 'spam' cannot be used: the set is hashed by .*") {
      @Override
      List<Written> wrong(Window good) throws SnapshotException {
        Window other = SnapshotWriter.window(2, KeyHash.sipHash24(new byte[16]), MANY);
        return with(other.chunks(), signed(other, TRUSTED));
      }

      @Override
      List<Written> cure(Window good) {
        return with(good.chunks(), signed(good, TRUSTED));
      }
    },
    OF_ANOTHER_SET("a manifest of set 'spam' cannot be read: it belongs to set 'ham'") {
      @Override
      List<Written> wrong(Window good) {
        Manifest manifest = good.manifest();
        Manifest other =
            Manifest.of(
                "ham",
                manifest.sequence(),
                manifest.windowStartMillis(),
                manifest.windowEndMillis(),
                manifest.parameters(),
                manifest.count(),
                manifest.root(),
                manifest.pack(),
                manifest.packBytes());
        return with(good.chunks(), Written.manifest(TRUSTED.sign(other).toBytes()));
      }

      @Override
      List<Written> cure(Window good) {
        return with(good.chunks(), signed(good, TRUSTED));
      }
    },
    DELETED("the manifest of set 'spam' was deleted from the topic") {
      @Override
      List<Written> wrong(Window good) {
        return List.of(Written.manifest(null));
      }

      @Override
      List<Written> cure(Window good) {
        return with(good.chunks(), signed(good, TRUSTED));
      }
    },
    ROLLED_BACK("set 'spam' went back to sequence 0; sequence 1 goes on answering") {
      @Override
      List<Written> wrong(Window good) throws SnapshotException {
        Window old = SnapshotWriter.window(0, KeyHash.fixed(), SnapshotWriter.hashes("old"));
        return with(old.chunks(), signed(old, TRUSTED));
      }

      @Override
      List<Written> cure(Window good) {
        return with(good.chunks(), signed(good, TRUSTED));
      }
    },
    FORKED("sequence 1 of set 'spam' was published again with other content; .*") {
      @Override
      List<Written> wrong(Window good) throws SnapshotException {
        Window fork = SnapshotWriter.window(1, KeyHash.fixed(), SnapshotWriter.hashes("fork"));
        return with(fork.chunks(), signed(fork, TRUSTED));
      }

      @Override
      List<Written> cure(Window good) {
        return with(good.chunks(), signed(good, TRUSTED));
      }
    };

    private final String reason;

    Fault(String reason) {
      this.reason = reason;
    }

    abstract List<Written> wrong(Window good) throws SnapshotException;

    abstract List<Written> cure(Window good);

    static List<Written> with(List<Written> chunks, Written manifest) {
      List<Written> all = new ArrayList<>(chunks);
      all.add(manifest);
      return all;
    }

    static Written signed(Window window, SigningKey key) {
      return Written.manifest(key.sign(window.manifest()).toBytes());
    }
  }

  @BeforeAll
  static void makeWindows() throws SnapshotException {
    first = SnapshotWriter.window(1, KeyHash.fixed(), SnapshotWriter.hashes("first"));
    long[] second = Arrays.copyOf(MANY, MANY.length + 1);
    second[MANY.length] = SnapshotWriter.hashes("second")[0];
    good = SnapshotWriter.window(2, KeyHash.fixed(), second);
    // Two chunks of the base, one of the list, two of the pack.
    assertThat(good.chunks()).hasSize(5);
  }

  private String createTopic() {
    String topic = SharedBroker.unused("faults");
    SnapshotWriter.createTopic(KAFKA.broker(), topic);
    return topic;
  }

  private SnapshotClient follow(String topic) {
    SnapshotListener listener =
        new SnapshotListener() {
          @Override
          public void onRefused(String reason) {
            refusals.add(reason);
          }
        };
    return SnapshotClient.start(
        SnapshotClientOptions.builder(KAFKA.servers(), SnapshotWriter.SET)
            .topic(topic)
            .listener(listener)
            .trustedKeys(Set.of(TRUSTED.publicKey()))
            .chunkWait(Duration.ofMillis(100))
            .build());
  }

  @ParameterizedTest
  @EnumSource(names = {"MISSING_CHUNK", "MANIFEST_BEFORE_ITS_BLOBS", "WRONG_SIGNATURE"})
  void keepsServingSaysWhyAndRecovers(Fault fault) throws Exception {
    assertServesAndRecovers(fault);
  }

  @Tag("slow")
  @ParameterizedTest
  @EnumSource(
      mode = EnumSource.Mode.EXCLUDE,
      names = {"MISSING_CHUNK", "MANIFEST_BEFORE_ITS_BLOBS", "WRONG_SIGNATURE"})
  void soItDoesWithAnyOtherFault(Fault fault) throws Exception {
    assertServesAndRecovers(fault);
  }

  private void assertServesAndRecovers(Fault fault) throws Exception {
    String topic = createTopic();
    try (SnapshotWriter writer = new SnapshotWriter(KAFKA.broker(), topic);
        SnapshotClient client = follow(topic)) {
      writer.write(Fault.with(first.chunks(), Fault.signed(first, TRUSTED)));
      assertThat(client.awaitReady(LONG).sequence()).isEqualTo(1);
      writer.write(fault.wrong(good));
      assertThat(refusals.poll(LONG.toSeconds(), TimeUnit.SECONDS)).matches(fault.reason);
      assertThat(client.state()).isEqualTo(ClientState.READY);
      assertThat(client.manifest().map(Manifest::sequence)).hasValue(1L);
      assertThat(client.mightContain("first")).isTrue();
      writer.write(fault.cure(good));
      assertThat(client.awaitSequence(2, LONG).sequence()).isEqualTo(2);
      assertThat(client.mightContain("second")).isTrue();
      assertThat(client.mightContain("first")).isFalse();
      assertThat(refusals).isEmpty();
    }
  }

  /** The control: without a fault nothing in the same windows is refused. */
  @Test
  void refusesNothingWhereNothingIsWrong() throws Exception {
    String topic = createTopic();
    try (SnapshotWriter writer = new SnapshotWriter(KAFKA.broker(), topic);
        SnapshotClient client = follow(topic)) {
      for (long sequence = 1; sequence <= 2; sequence++) {
        Window window = SnapshotWriter.window(sequence, KeyHash.fixed(), MANY);
        writer.write(Fault.with(window.chunks(), Fault.signed(window, TRUSTED)));
        client.awaitSequence(sequence, LONG);
      }
      assertThat(refusals).isEmpty();
    }
  }

  /** Whoever may write to the topic can hide what is new. What he cannot do is take it back. */
  @Test
  void anAttackerOnTheTopicTakesNobodyBack(@TempDir Path cache) throws Exception {
    String topic = createTopic();
    SnapshotClientOptions options =
        SnapshotClientOptions.builder(KAFKA.servers(), SnapshotWriter.SET)
            .topic(topic)
            .trustedKeys(Set.of(TRUSTED.publicKey()))
            .chunkWait(Duration.ofMillis(100))
            .cacheDirectory(cache)
            .build();
    Window second = SnapshotWriter.window(2, KeyHash.fixed(), SnapshotWriter.hashes("second"));
    Window forged = SnapshotWriter.window(99, KeyHash.fixed(), SnapshotWriter.hashes("forged"));
    Window third = SnapshotWriter.window(3, KeyHash.fixed(), SnapshotWriter.hashes("third"));
    try (SnapshotWriter writer = new SnapshotWriter(KAFKA.broker(), topic)) {
      writer.write(Fault.with(first.chunks(), Fault.signed(first, TRUSTED)));
      writer.write(Fault.with(second.chunks(), Fault.signed(second, TRUSTED)));
      try (SnapshotClient client = SnapshotClient.start(options)) {
        assertThat(client.awaitSequence(2, LONG).sequence()).isEqualTo(2);
        List<Written> attack = new ArrayList<>();
        // Freeze: what answers is removed, and the last record of the set is an old one, replayed.
        second.chunks().forEach(chunk -> attack.add(chunk.with(null)));
        attack.add(Written.manifest(null));
        attack.addAll(Fault.with(forged.chunks(), forged.manifestRecord()));
        attack.addAll(Fault.with(forged.chunks(), Fault.signed(forged, SigningKey.generate())));
        attack.addAll(Fault.with(first.chunks(), Fault.signed(first, TRUSTED)));
        writer.write(attack);
        Waiting.until(
            "the replay is refused",
            LONG,
            () -> client.status().trouble().orElse("").contains("went back to sequence 1"));
        assertThat(client.manifest().map(Manifest::sequence)).hasValue(2L);
        assertThat(client.mightContain("second")).isTrue();
        assertThat(client.mightContain("forged")).isFalse();
      }
      try (SnapshotClient restarted = SnapshotClient.start(options)) {
        assertThat(restarted.awaitReady(LONG).sequence()).isEqualTo(2);
        assertThat(restarted.mightContain("second")).isTrue();
        writer.write(Fault.with(third.chunks(), Fault.signed(third, TRUSTED)));
        assertThat(restarted.awaitSequence(3, LONG).sequence()).isEqualTo(3);
        assertThat(restarted.mightContain("third")).isTrue();
      }
    }
  }
}
