package io.firstseen.jobs.files;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class LineReaderTest {

  /** The lines; those that were too long are marked by a star. */
  private static List<String> read(InputStream in, int maxLineBytes) throws IOException {
    LineReader reader = new LineReader(in, maxLineBytes);
    List<String> lines = new ArrayList<>();
    byte[] line;
    while ((line = reader.next()) != null) {
      lines.add(new String(line, ISO_8859_1) + (reader.wasTooLong() ? "*" : ""));
      assertThat(reader.lineNumber()).isEqualTo(lines.size());
    }
    return lines;
  }

  private static List<String> read(String text, int maxLineBytes) throws IOException {
    return read(new ByteArrayInputStream(text.getBytes(ISO_8859_1)), maxLineBytes);
  }

  @Test
  void linesEndWithLfOrCrLfOrTheStream() throws IOException {
    assertThat(read("", 10)).isEmpty();
    assertThat(read("a", 10)).containsExactly("a");
    assertThat(read("a\n", 10)).containsExactly("a");
    assertThat(read("a\r\nb\r", 10)).containsExactly("a", "b");
    assertThat(read("\n\r\n\n", 10)).containsExactly("", "", "");
    assertThat(read("a\rb\r\r\n", 10)).containsExactly("a\rb\r");
  }

  @Test
  void aByteOrderMarkBelongsToNoLineAtTheStart() throws IOException {
    String mark = "\u00EF\u00BB\u00BF";
    assertThat(read(mark + "a\n" + mark + "b", 10)).containsExactly("a", mark + "b");
    assertThat(read(mark + "12345\n", 5)).containsExactly("12345");
    assertThat(read(mark, 10)).isEmpty();
    assertThat(read(mark + mark + "\n", 10)).containsExactly(mark);
    assertThat(read("\u00EF\u00BB", 10)).containsExactly("\u00EF\u00BB");
    assertThat(read("\u00EF\n", 10)).containsExactly("\u00EF");
    InputStream bytes =
        new FilterInputStream(new ByteArrayInputStream((mark + "ab\nc").getBytes(ISO_8859_1))) {
          @Override
          public int read(byte[] target, int offset, int length) throws IOException {
            return super.read(target, offset, Math.min(length, 1));
          }
        };
    assertThat(read(bytes, 10)).containsExactly("ab", "c");
  }

  @Test
  void aLineOfTheBoundIsWholeAndALongerOneKeepsItsStart() throws IOException {
    assertThat(read("12345\n12345\r\n123456\n12\n123456\r\n", 5))
        .containsExactly("12345", "12345", "12345*", "12", "12345*");
    assertThat(read("123456", 5)).containsExactly("12345*");
    assertThat(read("1234567", 5)).containsExactly("12345*");
  }

  @Test
  @Tag("slow")
  void aLineThatNeverEndsTakesBoundedMemory() throws IOException {
    // More than the heap, and than an int counts.
    long[] left = {(2L << 30) + (1 << 20)};
    InputStream endless =
        new InputStream() {
          @Override
          public int read() {
            throw new UnsupportedOperationException();
          }

          @Override
          public int read(byte[] target, int offset, int length) {
            if (left[0] <= 0) {
              return -1;
            }
            left[0] -= length;
            return length;
          }
        };
    LineReader reader = new LineReader(endless, 1 << 20);
    assertThat(reader.next()).hasSize(1 << 20);
    assertThat(reader.wasTooLong()).isTrue();
    assertThat(reader.next()).isNull();
  }

  @Property(tries = 300, seed = "5")
  void anySplitIntoReadsGivesTheSameLines(@ForAll long seed) throws IOException {
    Random random = new Random(seed);
    StringBuilder text = new StringBuilder();
    List<String> expected = new ArrayList<>();
    int max = 70_000;
    for (int i = random.nextInt(8); i > 0; i--) {
      int length = random.nextInt(4) == 0 ? random.nextInt(140_000) : random.nextInt(50);
      String line = "x".repeat(length);
      expected.add(length > max ? "x".repeat(max) + "*" : line);
      text.append(line).append(random.nextBoolean() ? "\n" : "\r\n");
    }
    byte[] bytes = text.toString().getBytes(ISO_8859_1);
    InputStream inPieces =
        new ByteArrayInputStream(bytes) {
          @Override
          public synchronized int read(byte[] target, int offset, int length) {
            return super.read(target, offset, Math.min(length, 1 + random.nextInt(70_000)));
          }
        };
    assertThat(read(inPieces, max)).isEqualTo(expected);
  }
}
