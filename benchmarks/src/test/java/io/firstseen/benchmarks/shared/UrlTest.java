package io.firstseen.benchmarks.shared;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.filters.key.Canonicaliser;
import java.util.HashSet;
import java.util.Set;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.junit.jupiter.api.Test;

class UrlTest {
  @Test
  void everyUrlHasItsLengthAndIsCanonicalAndDifferent() throws Exception {
    Set<Url> urls = new HashSet<>();
    for (int i = 0; i < 10_000; i++) {
      Url url = Url.of(i);
      assertThat(url.utf8()).hasSize(Url.BYTES);
      assertThat(Canonicaliser.URL.canonicalise(url.utf8())).isEqualTo(url.utf8());
      assertThat(urls.add(url)).isTrue();
    }
    assertThat(urls).contains(Url.of(0)).doesNotContain(Url.of(10_000));
  }

  @Test
  void serializersGiveBackWhatTheyWrote() throws Exception {
    HashedUrl hashed = new HashedUrl(-3, Url.of(7));
    DataOutputSerializer out = new DataOutputSerializer(128);
    new HashedUrl.Serializer().serialize(hashed, out);
    assertThat(out.length()).isEqualTo(Long.BYTES + Integer.BYTES + Url.BYTES);
    assertThat(
            new HashedUrl.Serializer()
                .deserialize(new DataInputDeserializer(out.getCopyOfBuffer())))
        .isEqualTo(hashed);
  }
}
