package io.firstseen.serializers;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.filters.cuckoo.CuckooFilter;
import io.firstseen.filters.cuckoo.CuckooPage;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CuckooPageSerializerTest {
  private static final CuckooPageSerializer SERIALIZER = CuckooPageSerializer.INSTANCE;

  @ParameterizedTest
  @ValueSource(ints = {0, 100, 700, 20_000})
  void pagesAreReadAgainToTheLastByte(int keys) throws IOException {
    for (CuckooPage page : pages(filter(keys))) {
      DataInputDeserializer in = new DataInputDeserializer(bytes(page));
      CuckooPage read = SERIALIZER.deserialize(in);
      assertThat(in.available()).isZero();
      read.verify();
      assertThat(bytes(read)).isEqualTo(bytes(page));
    }
  }

  @Test
  void aCopyIsNotTouchedByWritesToItsOriginal() throws IOException {
    CuckooFilter filter = filter(20_000);
    List<CuckooPage> copies = new ArrayList<>();
    List<byte[]> before = new ArrayList<>();
    for (CuckooPage page : pages(filter)) {
      copies.add(SERIALIZER.copy(page));
      before.add(bytes(page));
    }
    SplittableRandom random = new SplittableRandom(1);
    for (int i = 0; i < 10_000; i++) {
      filter.delete(random.nextLong());
    }
    assertThat(filter.count()).isEqualTo(10_000);
    for (int i = 0; i < copies.size(); i++) {
      assertThat(bytes(copies.get(i))).isEqualTo(before.get(i));
    }
  }

  @Test
  void theSerializerComesBackFromItsSnapshot() throws IOException {
    TypeSerializerSnapshot<CuckooPage> snapshot = SERIALIZER.snapshotConfiguration();
    DataOutputSerializer out = new DataOutputSerializer(64);
    TypeSerializerSnapshot.writeVersionedSnapshot(out, snapshot);
    TypeSerializerSnapshot<CuckooPage> read =
        TypeSerializerSnapshot.readVersionedSnapshot(
            new DataInputDeserializer(out.getCopyOfBuffer()), getClass().getClassLoader());
    assertThat(read.restoreSerializer()).isEqualTo(SERIALIZER);
    assertThat(read.getCurrentVersion()).isEqualTo(1);
  }

  private static CuckooFilter filter(int keys) {
    CuckooFilter filter = CuckooFilter.forCapacity(10_000, 0.001);
    SplittableRandom random = new SplittableRandom(1);
    for (int i = 0; i < keys; i++) {
      filter.insert(random.nextLong());
    }
    return filter;
  }

  private static List<CuckooPage> pages(CuckooFilter filter) {
    List<CuckooPage> pages = new ArrayList<>();
    filter.forEachPage(pages::add);
    return pages;
  }

  private static byte[] bytes(CuckooPage page) throws IOException {
    DataOutputSerializer out = new DataOutputSerializer(8192);
    SERIALIZER.serialize(page, out);
    return out.getCopyOfBuffer();
  }
}
