package io.firstseen.consumer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.SigningKey;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.filters.snapshot.UntrustedManifestException;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class PublishedManifestsTest {
  private static final byte[] UNREADABLE = {'?'};

  private final SigningKey key = SigningKey.generate();
  private final TestPublisher publisher = TestPublisher.of("spam", 1);
  private final PublishedManifests signed = new PublishedManifests("spam", Set.of(key.publicKey()));
  private final PublishedManifests unsigned = new PublishedManifests("spam", Set.of());

  private byte[] bytes(long sequence) {
    return publisher.publish(sequence, "key-" + sequence).manifestEntry().value();
  }

  private byte[] signedBytes(long sequence) throws SnapshotException {
    return key.sign(publisher.publish(sequence, "key-" + sequence).manifest()).toBytes();
  }

  private static List<Long> sequences(PublishedManifests manifests) throws SnapshotException {
    return manifests.highestFirst().stream().map(Manifest::sequence).toList();
  }

  @Test
  void theHighestComesFirst() throws Exception {
    for (long sequence : new long[] {5, 2, 3}) {
      signed.accept(signedBytes(sequence));
      unsigned.accept(bytes(sequence));
    }
    assertThat(sequences(signed)).containsExactly(5L, 3L, 2L);
    assertThat(sequences(unsigned)).containsExactly(5L, 3L, 2L);
    assertThat(signed.passedOver()).isEmpty();
  }

  @Test
  void whatNoTrustedKeySignedDoesNotCount() throws Exception {
    signed.accept(bytes(9));
    assertThatThrownBy(signed::highestFirst).isInstanceOf(UntrustedManifestException.class);
    signed.accept(signedBytes(5));
    signed.accept(UNREADABLE);
    signed.accept(bytes(9));
    assertThat(sequences(signed)).containsExactly(5L);
    assertThat(signed.passedOver())
        .hasValue(
            "3 manifests of set 'spam' on the topic do not count, the last because the manifest"
                + " has no signature");
  }

  @Test
  void withoutTrustedKeysTheNewestRecordMustBeReadable() throws Exception {
    unsigned.accept(bytes(5));
    unsigned.accept(UNREADABLE);
    assertThatThrownBy(unsigned::highestFirst).isInstanceOf(SnapshotException.class);
    unsigned.accept(bytes(6));
    assertThat(sequences(unsigned)).containsExactly(6L, 5L);
    assertThat(unsigned.passedOver()).isEmpty();
  }

  @Test
  void aDeletionCountsOnlyWhereNothingIsSigned() throws Exception {
    signed.accept(signedBytes(5));
    signed.accept(null);
    signed.accept(signedBytes(2));
    assertThat(sequences(signed)).containsExactly(5L, 2L);
    unsigned.accept(bytes(5));
    unsigned.accept(null);
    assertThat(sequences(unsigned)).isEmpty();
    unsigned.accept(bytes(2));
    assertThat(sequences(unsigned)).containsExactly(2L);
  }
}
