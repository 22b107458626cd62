package io.firstseen.cli.shared;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_16;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.jobs.files.DeadLetterFile;
import io.firstseen.operators.UserErrorException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.SequenceInputStream;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KeyLinesTest {
  private final StringWriter err = new StringWriter();

  @TempDir private Path directory;

  @Test
  void linesOfListsWithColumnsAreRejectedButNotHostsFilesAndComments() throws IOException {
    KeyLines lines =
        lines(
            Canonicaliser.URL_EXPRESSION,
            """
        a.example\tmalware
        \tb.example\tphishing
        1700000000\tadd\tc.example
        0.0.0.0\td.example
        ::\te.example\t# note
        f.example\t# note\twith tabs
        \tg.example\t
        """);
    assertThat(keys(lines)).containsExactly("d.example/", "e.example/", "f.example/", "g.example/");
    assertThat(lines.unusableCount()).isEqualTo(3);
    assertThat(warnings(lines))
        .contains(":1: 'a.exampleU+0009malware' has more than one column", ":3: the line is a TSV");
  }

  @Test
  void commentsDoNotHideRejectedLines() throws IOException {
    String header = "# header\n! header\n\n \n## header\n####\n".repeat(10);
    KeyLines lines =
        lines(
            Canonicaliser.URL_EXPRESSION,
            header + "address=/bad.example/0.0.0.0\n##.ad\nexample.net###ad\na.example\n");
    assertThat(keys(lines)).containsExactly("a.example/");
    assertThat(lines.unusableCount()).isEqualTo(3);
    assertThat(warnings(lines)).contains(":61: ", ":62: ", ":63: ").doesNotContain("header");
  }

  @Test
  void commentsAreKeysOfOtherRules() throws IOException {
    assertThat(keys(lines(Canonicaliser.NONE, "# a\n\n!b\n"))).containsExactly("# a", "!b");
  }

  @Test
  void noUsableKeyIsAnError() throws IOException {
    KeyLines rejected = lines(Canonicaliser.URL, "ftp:\n");
    assertThat(keys(rejected)).isEmpty();
    assertThatThrownBy(rejected::requireUsable)
        .isInstanceOf(UserErrorException.class)
        .hasMessageContaining("none of the 1 lines");
    for (String text : List.of("", "\n \n", "# a\n\n! b\n")) {
      KeyLines empty = lines(Canonicaliser.URL_EXPRESSION, text);
      assertThat(keys(empty)).isEmpty();
      assertThatThrownBy(empty::requireUsable).hasMessageContaining("holds a usable key");
    }
  }

  @Test
  void aColumnIsSelected() throws IOException {
    Path file = directory.resolve("keys");
    Files.writeString(file, "1\ta.example\tx\n# no\n\n2\thttp://b.example/\n");
    KeyLines second = lines(file, Canonicaliser.URL, 2, null);
    assertThat(keys(second)).containsExactly("http://a.example/", "http://b.example/");
    assertThat(second.unusableCount()).isEqualTo(1);
    assertThat(warnings(second))
        .contains(":2: the line has 1 tab-separated columns, --column is 2");
  }

  @Test
  void rejectedLinesAreDeadLetters() throws IOException {
    Path keys = directory.resolve("keys");
    Files.writeString(keys, "# a\n@@a\na.example\nb.example\tc\n");
    Path file = directory.resolve("rejected");
    try (DeadLetterFile deadLetters = new DeadLetterFile(file, event -> null)) {
      KeyLines lines = lines(keys, Canonicaliser.URL_EXPRESSION, 0, deadLetters);
      assertThat(keys(lines)).containsExactly("a.example/");
      deadLetters.complete();
    }
    assertThat(file)
        .content()
        .isEqualTo(
            "keys:2\t'@@a' is an exception, which lists nothing\t@@a\n"
                + "keys:4\t'b.exampleU+0009c' has more than one column; select one, or write a space"
                + " in a URL as %20\tb.example\tc\n");
  }

  @Test
  void gzipIsDecompressedWhateverItsName() throws IOException {
    byte[] text = "a.example\nb.example\n".getBytes(UTF_8);
    for (String name : List.of("keys.txt", "keys.gz")) {
      KeyLines lines = lines(Canonicaliser.NONE, name, gzip(text));
      assertThat(keys(lines)).containsExactly("a.example", "b.example");
    }
    byte[] members = concatenated(gzip(text), gzip(text));
    assertThat(keys(lines(Canonicaliser.NONE, "keys.gz", members))).hasSize(4);
    for (int length = 2; length < members.length; length++) {
      if (length != gzip(text).length) {
        Path cut = Files.write(directory.resolve("cut.gz"), Arrays.copyOf(members, length));
        assertThatThrownBy(() -> InputFile.isReadByName(cut))
            .as("%d bytes", length)
            .isInstanceOf(UserErrorException.class)
            .hasMessageStartingWith("cannot read " + cut + ": ")
            .hasMessageNotContaining("null");
      }
    }
    for (byte[] behind : List.of("more".getBytes(UTF_8), new byte[512])) {
      KeyLines lines = lines(Canonicaliser.NONE, "k.gz", concatenated(gzip(text), behind));
      assertThatThrownBy(() -> keys(lines)).hasMessageContaining("after a valid");
    }
    Path unnamed = Files.write(directory.resolve("keys.txt"), gzip(text));
    assertThat(InputFile.isReadByName(unnamed)).isFalse();
    assertThat(InputFile.isReadByName(Files.write(unnamed, text))).isTrue();
    KeyLines named = lines(Canonicaliser.NONE, "text.gz", text);
    assertThatThrownBy(() -> keys(named)).hasMessageContaining("is not in gzip format");
  }

  private static byte[] concatenated(byte[] one, byte[] other) {
    byte[] both = Arrays.copyOf(one, one.length + other.length);
    System.arraycopy(other, 0, both, one.length, other.length);
    return both;
  }

  /** A pipe has no bytes available before its writer sends the next member. */
  @Test
  void membersOfGzipThatArriveLaterAreRead() throws IOException {
    byte[] first = new byte[4_096];
    new Random(17).nextBytes(first);
    byte[] second = "b.example".getBytes(UTF_8);
    InputStream pipe =
        new SequenceInputStream(
            new ByteArrayInputStream(gzip(first)), new ByteArrayInputStream(gzip(second)));
    assertThat(InputFile.text(pipe, Path.of("pipe")).readAllBytes())
        .hasSize(first.length + second.length)
        .endsWith(second);
  }

  @Test
  void otherContentIsNamed() throws IOException {
    byte[] tar = new byte[1024];
    Arrays.fill(tar, (byte) 'a');
    System.arraycopy("ustar".getBytes(UTF_8), 0, tar, 257, 5);
    Map<String, byte[]> contents =
        new HashMap<>(
            Map.of(
                "zip archive", "PK\3\4 and so on".getBytes(ISO_8859_1),
                "a zip archive", "PK\5\6 and so on".getBytes(ISO_8859_1),
                "compressed twice", gzip("a".getBytes(UTF_8)),
                "tar archive", tar,
                "bzip2", "BZh91AY".getBytes(ISO_8859_1),
                "xz", "\u00fd7zXZ\0".getBytes(ISO_8859_1),
                "zstd", "\u0028\u00b5\u002f\u00fd".getBytes(ISO_8859_1),
                "UTF-16", "a.example".getBytes(UTF_16),
                "binary", "a\0.\0b\0\n\0".getBytes(UTF_8)));
    Map<String, String> heads =
        Map.of(
            "7z archive", "7z\u00bc\u00af'\u001c\0\4",
            "rar archive", "Rar!\u001a\7\1\0",
            "lzma", "]\0\0\u0080\0\u00ff",
            "lz4", "\4\"M\u0018d@\u00a7",
            "by compress", "\u001f\u009d\u0090a",
            "zlib", "x\u009c\u00cb",
            "snappy", "\u00ff\6\0\0sNaPpY",
            "Avro", "Obj\1\4\u0014avro.codec",
            "Parquet", "PAR1\u0015\4",
            "UTF-32", "\u00ff\u00fe\0\0a\0\0\0");
    heads.forEach((kind, head) -> contents.put(kind, (head + "a.example").getBytes(ISO_8859_1)));
    for (Map.Entry<String, byte[]> content : contents.entrySet()) {
      List<byte[]> each =
          content.getKey().equals("compressed twice")
              ? List.of(gzip(content.getValue()))
              : List.of(content.getValue(), gzip(content.getValue()));
      for (byte[] bytes : each) {
        KeyLines lines = lines(Canonicaliser.NONE, "keys", bytes);
        assertThatThrownBy(() -> keys(lines))
            .isInstanceOf(UserErrorException.class)
            .hasMessageContaining(content.getKey());
        assertThatThrownBy(() -> InputFile.isReadByName(directory.resolve("keys")))
            .isInstanceOf(UserErrorException.class);
      }
    }
  }

  private KeyLines lines(Canonicaliser canonicaliser, String text) throws IOException {
    return lines(canonicaliser, "keys", text.getBytes(UTF_8));
  }

  private KeyLines lines(Canonicaliser canonicaliser, String name, byte[] bytes)
      throws IOException {
    return lines(Files.write(directory.resolve(name), bytes), canonicaliser, 0, null);
  }

  private KeyLines lines(
      Path file, Canonicaliser canonicaliser, int column, @Nullable DeadLetterFile deadLetters) {
    PrintWriter printer = new PrintWriter(err, true);
    return new KeyLines(file.toString(), canonicaliser, column, deadLetters, printer);
  }

  private static List<String> keys(KeyLines lines) {
    List<String> keys = new ArrayList<>();
    lines.forEach(key -> keys.add(new String(key, UTF_8)));
    return keys;
  }

  private String warnings(KeyLines lines) {
    lines.warnOfUnusable();
    return err.toString();
  }

  private static byte[] gzip(byte[] bytes) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
      gzip.write(bytes);
    }
    return out.toByteArray();
  }
}
