package io.firstseen.jobs.files;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.embedded.SharedCluster;
import io.firstseen.events.EventParser;
import io.firstseen.jobs.DedupJob;
import io.firstseen.jobs.options.JobOptions;
import io.firstseen.operators.UserErrorException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.apache.flink.connector.file.src.compression.StandardDeCompressors;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

class FilesEndToEndTest {

  @RegisterExtension private static final SharedCluster FLINK = SharedCluster.ofSlots(4);

  @TempDir private Path directory;

  @Test
  void tsvGivesAddsAndDelsAsTheyCameAndDeadLettersWithPlaceReasonAndRawBytes() throws Exception {
    Run run =
        run(
            FileFormat.TSV,
            "events.tsv",
            """
            10\tadd\ta
            11\tadd\ta
            12\tdel\tb
            13\tdel\ta
            14\tadd\ta\ttab
            nonsense
            15\tadd\t

            16\tadd\ta
            """
                .getBytes(UTF_8));
    assertThat(run.accepted()).isEqualTo("10\tadd\ta\n13\tdel\ta\n14\tadd\ta\ttab\n16\tadd\ta\n");
    assertThat(run.duplicates().lines()).containsExactlyInAnyOrder("11\tadd\ta", "12\tdel\tb");
    assertThat(run.deadLetters())
        .isEqualTo(
            """
            events.tsv:6\tline is not: epochSeconds TAB add|del TAB key\tnonsense
            events.tsv:7\tkey is empty\t15\tadd\t
            events.tsv:8\tline is not: epochSeconds TAB add|del TAB key\t
            """);
  }

  @Test
  void jsonLinesPassThroughWhole() throws Exception {
    String add = "{\"ts\": 10, \"op\": \"add\", \"key\": \"a\", \"scope\": \"s\", \"x\": [1, 2]}";
    String other = "{\"ts\":11,\"op\":\"add\",\"key\":\"a\"}";
    String delete = "{\"ts\":12,\"op\":\"delete\",\"key\":\"a\",\"scope\":\"s\"}";
    String wrong = "{\"ts\":12,\"op\":\"remove\",\"key\":\"a\"}";
    Run run =
        run(
            FileFormat.JSONL,
            "events.jsonl",
            String.join("\r\n", add, other, add, delete, wrong).getBytes(UTF_8));
    assertThat(run.accepted()).isEqualTo(String.join("\n", add, other, delete, ""));
    assertThat(run.duplicates()).isEqualTo(add + "\n");
    assertThat(run.deadLetters())
        .isEqualTo("events.jsonl:5\top must be add or delete, got 'remove'\t" + wrong + "\n");
  }

  @Test
  void linesKeepTheirBytesAndALineThatIsNoTextIsADeadLetter() throws Exception {
    ByteArrayOutputStream input = new ByteArrayOutputStream();
    input.write("ü\n b \n".getBytes(UTF_8));
    input.write(new byte[] {'x', (byte) 0xFF, '\n'});
    input.write("ü".getBytes(UTF_8));
    Run run = run(FileFormat.LINES, "keys", input.toByteArray());
    assertThat(run.accepted()).isEqualTo("ü\n b \n");
    assertThat(run.duplicates()).isEqualTo("ü\n");
    assertThat(run.deadLetters()).isEqualTo("keys:3\tnot UTF-8: malformed at byte 1\tx\u00FF\n");
  }

  @Test
  void aKeyThatTheCanonicaliserRefusesIsADeadLetterWithItsLine() throws Exception {
    Run run = run(FileFormat.TSV, "events.tsv", "10\tadd\thttp://[::g]/\n".getBytes(UTF_8), "url");
    assertThat(run.accepted()).isEmpty();
    assertThat(run.deadLetters())
        .startsWith("events.tsv:1\t")
        .endsWith("\t10\tadd\thttp://[::g]/\n");
  }

  @Test
  void gzipIsReadByItsNameAndNamesMayBeAnything() throws Exception {
    for (String name : List.of("_hidden.gz", ".dot %20#?+.gz")) {
      Run run = run(FileFormat.LINES, name, gzip("a\nb\n\n".getBytes(UTF_8)));
      assertThat(run.accepted()).isEqualTo("a\nb\n");
      assertThat(run.deadLetters()).isEqualTo(name + ":3\tkey is empty\t\n");
    }
  }

  /** The watermark that ends an epoch follows right after the event that ends it. */
  @Test
  void aKeyIsAcceptedAgainAfterItsTtlOfEventTime() throws Exception {
    Path input = directory.resolve("events.tsv");
    Files.writeString(input, "0\tadd\ta\n3599\tadd\ta\n4051\tadd\ta\n4052\tadd\ta\n4053\tadd\ta\n");
    Path accepted = directory.resolve("accepted");
    StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
    DedupJob.build(
        env,
        EventFiles.source(
            input, FileFormat.TSV, new EventParser(Duration.ofHours(1), Clock.systemUTC())),
        OutcomeFiles.sinks(
            FileFormat.TSV, accepted, Optional.empty(), Optional.empty(), Optional.empty()),
        JobOptions.parse("--ttl=1h", "--out-of-orderness=0s"));
    env.execute();
    assertThat(accepted).hasContent("0\tadd\ta\n4052\tadd\ta\n");
  }

  @Test
  void anEmptyFileGivesEmptyFiles() throws Exception {
    for (String name : List.of("empty", "empty.gz")) {
      assertThat(run(FileFormat.LINES, name, new byte[0]).accepted()).isEmpty();
    }
    assertThat(run(FileFormat.LINES, "nothing.gz", gzip(new byte[0])).accepted()).isEmpty();
  }

  @Test
  void aLineThatIsFarTooLongIsADeadLetterAndTheRestGoesOn() throws Exception {
    byte[] endless = new byte[64 << 20];
    Arrays.fill(endless, (byte) 'x');
    ByteArrayOutputStream input = new ByteArrayOutputStream();
    input.write("a\n".getBytes(UTF_8));
    input.write(endless);
    input.write("\nb\n".getBytes(UTF_8));
    Run run = run(FileFormat.LINES, "keys.gz", gzip(input.toByteArray()));
    assertThat(run.accepted()).isEqualTo("a\nb\n");
    assertThat(run.deadLetters())
        .isEqualTo(
            "keys.gz:2\tline is longer than 1048576 bytes\t"
                + "x".repeat(EventFiles.MAX_LINE_BYTES)
                + "\n");
  }

  @Test
  void aFileThatIsCutShortFailsWithASentenceAndLeavesEarlierOutputAlone() throws Exception {
    byte[] whole = gzip("a\n".repeat(100_000).getBytes(UTF_8));
    Files.writeString(directory.resolve("accepted"), "from before\n");
    assertThatThrownBy(
            () -> run(FileFormat.LINES, "cut.gz", Arrays.copyOf(whole, whole.length / 2)))
        .satisfies(
            failure ->
                assertThat(UserErrorException.sentence(failure))
                    .hasValueSatisfying(
                        sentence ->
                            assertThat(sentence)
                                .matches("cannot read cut.gz beyond line [0-9]+: .*ZLIB.*")));
    assertThat(directory.resolve("accepted")).hasContent("from before\n");
    try (Stream<Path> files = Files.list(directory)) {
      assertThat(files.map(file -> file.getFileName().toString()))
          .containsExactlyInAnyOrder("accepted", "cut.gz");
    }
  }

  @Test
  void inputsThatCannotBeReadAreRefusedWithASentence() throws Exception {
    Path missing = directory.resolve("missing");
    assertRefused(() -> source(missing), missing + " does not exist");
    assertRefused(() -> source(directory), directory + " is a directory, not a file");
    Path wrong = Files.writeString(directory.resolve("wrong.gz"), "plain text");
    assertRefused(() -> source(wrong), wrong + " is not in gzip format");
    // Flink would decompress these, but other inputs here would not.
    List<String> suffixes = new ArrayList<>(List.of(".GZ", ".tgz", "_gz"));
    StandardDeCompressors.getCommonSuffixes().forEach(suffix -> suffixes.add("." + suffix));
    for (String suffix : suffixes) {
      if (!suffix.equals(".gz")) {
        Path other = Files.writeString(directory.resolve("other" + suffix), "");
        assertRefused(() -> source(other), other.toString(), "compression is .gz");
      }
    }
  }

  @Test
  void outputsThatCannotBeWrittenAreRefusedWithASentence() throws Exception {
    Path lost = directory.resolve("no").resolve("out");
    assertRefused(
        () -> sink(lost, Optional.empty()), lost.toString(), "no directory " + lost.getParent());
    assertRefused(
        () -> sink(directory, Optional.empty()), directory + " is a directory, not a file");
    Path out = directory.resolve("out");
    assertRefused(() -> sink(out, Optional.of(out)), out + " cannot be two outputs at once");
    Path file = Files.writeString(directory.resolve("file"), "");
    assertRefused(() -> new SnapshotFiles(file), file + " is a file, not a directory");
    assertRefused(
        () -> new SnapshotFiles(file.resolve("below")), file + "/below", "Not a directory");
  }

  private static void assertRefused(ThrowingCallable action, String... facts) {
    assertThatThrownBy(action)
        .isInstanceOf(UserErrorException.class)
        .hasMessageContainingAll(facts);
  }

  private static Object source(Path file) {
    return EventFiles.source(
        file, FileFormat.LINES, new EventParser(Duration.ofHours(1), Clock.systemUTC()));
  }

  private static Object sink(Path accepted, Optional<Path> duplicates) {
    return OutcomeFiles.sinks(
        FileFormat.LINES, accepted, duplicates, Optional.empty(), Optional.empty());
  }

  private Run run(FileFormat format, String name, byte[] content) throws Exception {
    return run(format, name, content, "none");
  }

  private Run run(FileFormat format, String name, byte[] content, String canonicaliser)
      throws Exception {
    Path input = Files.write(directory.resolve(name), content);
    Path accepted = directory.resolve("accepted");
    Path duplicates = directory.resolve("duplicates");
    Path deadLetters = directory.resolve("dead-letters");
    JobOptions options = JobOptions.parse("--capacity=1000", "--canonicaliser=" + canonicaliser);
    StreamExecutionEnvironment env = FLINK.environment();
    DedupJob.build(
        env,
        EventFiles.source(
            input, format, new EventParser(options.dedup().maxAhead(), Clock.systemUTC())),
        OutcomeFiles.sinks(
            format, accepted, Optional.of(duplicates), Optional.of(deadLetters), Optional.empty()),
        options);
    env.execute();
    return new Run(
        Files.readString(accepted),
        Files.readString(duplicates),
        // Dead letters may be any bytes.
        Files.readString(deadLetters, ISO_8859_1));
  }

  private static byte[] gzip(byte[] content) throws IOException {
    ByteArrayOutputStream compressed = new ByteArrayOutputStream();
    try (GZIPOutputStream out = new GZIPOutputStream(compressed)) {
      out.write(content);
    }
    return compressed.toByteArray();
  }

  private record Run(String accepted, String duplicates, String deadLetters) {}
}
