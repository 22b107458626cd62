package io.firstseen.filters.gcs;

import static io.firstseen.filters.gcs.GolombCodedSetTest.encode;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.PrimitiveIterator;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class GolombCodedSetWriterTest {
  private static final Universe THOUSAND = new Universe(1, 1000);

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 37, 38, 5000, 100_000})
  void streamsTheBytesOfTheSetInMemory(int count) throws Exception {
    for (int valueBits : new int[] {32, 64}) {
      long[] values = GolombCodedSetTest.randomValues(new SplittableRandom(81), count, valueBits);
      ByteArrayOutputStream payload = new ByteArrayOutputStream();
      GolombCodedSetWriter writer =
          new GolombCodedSetWriter(count, Universe.ofBits(valueBits, count), payload);
      for (long value : values) {
        writer.add(value);
      }
      byte[] starts = writer.finish();
      GolombCodedSet inMemory = encode(values, valueBits);
      assertThat(ByteBuffer.wrap(payload.toByteArray())).isEqualTo(inMemory.payload());
      assertThat(ByteBuffer.wrap(starts)).isEqualTo(inMemory.bucketStarts());
      assertThat(writer.payloadBits()).isEqualTo(inMemory.payloadBits());
      assertThat(writer.golombParameter()).isEqualTo(inMemory.golombParameter());
    }
  }

  /** Two million values of 64 bits are 16 MB; their payload alone is 11 MB. */
  @Test
  void streamingAllocatesTwoBytesABucket() {
    int count = 2_000_000;
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    GolombCodedSetWriter writer =
        new GolombCodedSetWriter(
            count, Universe.ofBits(64, count), OutputStream.nullOutputStream());
    long gap = Long.divideUnsigned(-1L, count);
    for (int i = 0; i < count; i++) {
      writer.add(i * gap);
    }
    writer.finish();
    assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(1 << 20);
    assertThat(writer.payloadBits() / 8).isGreaterThan(10_000_000);
  }

  @Test
  void readingInOrderAllocatesABlock() {
    long[] values = GolombCodedSetTest.randomValues(new SplittableRandom(82), 100_000, 64);
    GolombCodedSet set = encode(values, 64);
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    long sum = 0;
    for (PrimitiveIterator.OfLong iterator = set.iterator(); iterator.hasNext(); ) {
      sum += iterator.nextLong();
    }
    assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(64 * 1024);
    assertThat(sum).isNotZero();
  }

  @Test
  void refusesMoreOrFewerValuesThanAnnounced() {
    GolombCodedSetWriter two = new GolombCodedSetWriter(2, THOUSAND);
    two.add(1);
    assertThatThrownBy(two::toSet)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContainingAll("2 values", "got 1");
    two.add(2);
    assertThatThrownBy(() -> two.add(3))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("2 values", "more");
    assertThat(two.toSet().toArray()).containsExactly(1, 2);
    assertThatThrownBy(() -> new GolombCodedSetWriter(-1, THOUSAND))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("count", "at least 0", "-1");
  }

  @Test
  void passesOnWhatTheStreamThrows() {
    OutputStream full =
        new OutputStream() {
          @Override
          public void write(int value) throws IOException {
            throw new IOException("the disk is full");
          }
        };
    GolombCodedSetWriter writer = new GolombCodedSetWriter(1, THOUSAND, full);
    writer.add(1);
    assertThatThrownBy(writer::finish)
        .isInstanceOf(UncheckedIOException.class)
        .hasMessageContaining("the disk is full");
  }
}
