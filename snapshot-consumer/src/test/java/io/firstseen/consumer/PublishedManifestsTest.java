package io.firstseen.consumer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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

  private byte[] json(long sequence) {
    return publisher.publish(sequence, "key-" + sequence).manifestEntry().value();
  }

  private byte[] signedJson(long sequence) throws SnapshotException {
    return key.sign(publisher.publish(sequence, "key-" + sequence).manifest()).toJson();
  }

  private static List<Long> sequences(PublishedManifests manifests) throws SnapshotException {
    return manifests.highestFirst().stream().map(each -> each.manifest().sequence()).toList();
  }

  @Test
  void theHighestComesFirst() throws Exception {
    for (long sequence : new long[] {5, 2, 3}) {
      signed.accept(signedJson(sequence));
      unsigned.accept(json(sequence));
    }
    assertThat(sequences(signed)).containsExactly(5L, 3L, 2L);
    assertThat(sequences(unsigned)).containsExactly(5L, 3L, 2L);
    assertThat(signed.passedOver()).isEmpty();
  }

  @Test
  void whatNoTrustedKeySignedDoesNotCount() throws Exception {
    signed.accept(json(9));
    assertThatThrownBy(signed::highestFirst).isInstanceOf(UntrustedManifestException.class);
    signed.accept(signedJson(5));
    signed.accept(UNREADABLE);
    signed.accept(json(9));
    assertThat(sequences(signed)).containsExactly(5L);
    assertThat(signed.passedOver())
        .hasValue(
            "3 manifests of set 'spam' on the topic do not count, the last because the manifest"
                + " has no signature");
  }

  @Test
  void withoutTrustedKeysTheNewestRecordMustBeReadable() throws Exception {
    unsigned.accept(json(5));
    unsigned.accept(UNREADABLE);
    assertThatThrownBy(unsigned::highestFirst).isInstanceOf(SnapshotException.class);
    unsigned.accept(json(6));
    assertThat(sequences(unsigned)).containsExactly(6L, 5L);
    assertThat(unsigned.passedOver()).isEmpty();
  }

  @Test
  void aDeletionCountsOnlyWhereNothingIsSigned() throws Exception {
    signed.accept(signedJson(5));
    signed.accept(null);
    signed.accept(signedJson(2));
    assertThat(sequences(signed)).containsExactly(5L, 2L);
    unsigned.accept(json(5));
    unsigned.accept(null);
    assertThat(sequences(unsigned)).isEmpty();
    unsigned.accept(json(2));
    assertThat(sequences(unsigned)).containsExactly(2L);
  }
}
