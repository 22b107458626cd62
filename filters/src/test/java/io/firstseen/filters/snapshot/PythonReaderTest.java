package io.firstseen.filters.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.filters.gcs.Universe;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.snapshot.PythonReader.Answer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The reader in Python, which was written from the specification alone, agrees with ours: on files
 * written here and on damaged ones. The snapshot that it builds from a snapshot and a delta has the
 * same bytes as ours.
 */
// A read from a process is not interrupted.
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PythonReaderTest {
  private static final Path SCRIPT = Path.of("../clients/python/firstseen_snapshot.py");
  private static final String SECRET = "000102030405060708090a0b0c0d0e0f";

  private static PythonReader python;

  @TempDir Path directory;

  @BeforeAll
  static void start() throws IOException {
    python = new PythonReader(SCRIPT);
  }

  @AfterAll
  static void stop() {
    python.close();
  }

  @Test
  void isAProgram() throws Exception {
    Path file = directory.resolve("a.snapshot");
    Process process =
        new ProcessBuilder("python3", "-B", SCRIPT.toString(), "info", file.toString())
            .redirectErrorStream(true)
            .start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(said).isEqualTo("cannot open " + file + ": No such file or directory\n");
    assertThat(process.waitFor()).isEqualTo(2);
  }

  @ParameterizedTest
  @CsvSource({"0,0.001", "1,0.001", "37,0.001", "38,0.1", "400,0x1p-20", "700,0x1p-50"})
  void findsWhatWeFind(int count, double rate) throws Exception {
    List<String> keys = IntStream.range(0, 2 * count + 20).mapToObj(i -> "Schlüssel " + i).toList();
    Snapshot snapshot = snapshot(KeyHash.fixed(), Canonicaliser.NONE, rate, keys.subList(0, count));
    Path file = Files.write(directory.resolve("a.snapshot"), snapshot.toBytes());
    assertThat(run(file, "verify")).isEqualTo(new Answer(0, file + ": valid\n", ""));
    assertThat(run(file, "info").output())
        .contains("values               " + snapshot.header().count() + " of ")
        .contains(snapshot.header().setDigest());

    StringBuilder expected = new StringBuilder();
    for (String key : keys) {
      boolean present = snapshot.mightContain(hash(snapshot, null, key, KeyHash.fixed()));
      expected.append(key).append(present ? "\tpresent\n" : "\tabsent\n");
    }
    Files.write(directory.resolve("keys"), keys);
    assertThat(run(file, "query")).isEqualTo(new Answer(0, expected.toString(), ""));
  }

  @Test
  void knowsScopesAndHashKeys() throws Exception {
    KeyHash secret = KeyHash.parse(SECRET);
    SetParameters set = SetParameters.of(secret, Canonicaliser.NONE, new Shards(1), 0.001);
    long[] hashes = {set.hash("mail".getBytes(StandardCharsets.UTF_8), new byte[] {'a'}, secret)};
    Path file =
        Files.write(
            directory.resolve("a.snapshot"),
            Snapshot.build(hashes, new SnapshotParameters(set, "python", 0, 1, 0, 1)).toBytes());
    Path key = Files.writeString(Files.createTempFile(directory, "hash", ".key"), SECRET + "\n");
    Files.writeString(directory.resolve("keys"), "a\n");
    String keyFile = "--hash-key-file=" + key;
    assertThat(run(file, "query", "--scope", "mail", keyFile))
        .isEqualTo(new Answer(0, "a\tpresent\n", ""));
    assertThat(run(file, "query", "--scope", "news", keyFile).output()).isEqualTo("a\tabsent\n");
    assertThat(run(file, "query", keyFile).output()).isEqualTo("a\tabsent\n");
    assertThat(run(file, "query"))
        .isEqualTo(new Answer(2, "", file + ": the snapshot was made with another hash key\n"));
    Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-r-----"));
    assertThat(run(file, "query", keyFile).errors())
        .isEqualTo(
            "warning: others than its owner have rights to the secret file %s (mode 0640): chmod 600 %s\n"
                .formatted(key, key));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void saysWhatItCannotAnswer(boolean xxh3) throws Exception {
    Snapshot snapshot =
        xxh3
            ? snapshot(KeyHash.xxh3(1), Canonicaliser.NONE, 0.001, List.of("a"))
            : snapshot(KeyHash.fixed(), Canonicaliser.URL, 0.001, List.of("http://a.example/"));
    Path file = Files.write(directory.resolve("a.snapshot"), snapshot.toBytes());
    Files.writeString(directory.resolve("keys"), "a\n");
    assertThat(run(file, "verify").status()).isZero();
    assertThat(run(file, "query"))
        .isEqualTo(
            new Answer(
                2,
                "",
                file
                    + (xxh3
                        ? ": the keys are hashed by xxh3-64, this program computes siphash-2-4"
                        : ": the keys go through the canonicaliser url, this program has none")
                    + " alone\n"));
    assertThat(run(directory.resolve("missing"), "info"))
        .isEqualTo(
            new Answer(
                2,
                "",
                "cannot open " + directory.resolve("missing") + ": No such file or directory\n"));
  }

  @Test
  void refusesWhatWeRefuse() throws Exception {
    List<String> keys = IntStream.range(0, 100).mapToObj(i -> "key " + i).toList();
    byte[] good = snapshot(KeyHash.fixed(), Canonicaliser.NONE, 0.001, keys).toBytes();
    SplittableRandom random = new SplittableRandom(95);
    int[] statuses = new int[3];
    for (int i = 0; i < 120; i++) {
      byte[] damaged = good.clone();
      switch (i % 4) {
        case 0 -> damaged = Arrays.copyOf(good, random.nextInt(good.length));
        case 1 -> damaged[random.nextInt(good.length)] ^= (byte) (1 << random.nextInt(8));
        case 2 -> {
          damaged[random.nextInt(good.length)] ^= (byte) (1 << random.nextInt(8));
          ForgedFile.mend(damaged, ForgedFile.headerBytes("python"));
        }
        default -> {
          int sections = 223 + random.nextInt(good.length - 223);
          damaged[sections] ^= (byte) (1 << random.nextInt(8));
          ForgedFile.mend(damaged, ForgedFile.headerBytes("python"));
        }
      }
      Path file = Files.write(directory.resolve("damaged.snapshot"), damaged);
      Answer answer = run(file, "verify");
      int expected = 0;
      try {
        Snapshot.read(damaged).verify();
      } catch (UnsupportedSnapshotException e) {
        expected = 2;
      } catch (MalformedSnapshotException e) {
        expected = 1;
      }
      assertThat(answer.status()).as("damage %d: %s", i, answer).isEqualTo(expected);
      assertThat(answer.errors().lines().count()).isEqualTo(expected == 2 ? 1 : 0);
      statuses[expected]++;
    }
    assertThat(statuses[1]).isGreaterThan(80);
  }

  @ParameterizedTest
  @CsvSource({"0,0,0,0.001", "1,0,1,0.1", "40,3,0,0.01", "400,10,30,0x1p-20", "900,300,0,0x1p-45"})
  void appliesDeltasToTheBytesThatWeWrite(int count, int removed, int added, double rate)
      throws Exception {
    List<String> keys = IntStream.range(0, count + added).mapToObj(i -> "key " + i).toList();
    Snapshot parent =
        snapshot(
            KeyHash.fixed(),
            Canonicaliser.NONE,
            rate,
            keys.subList(0, count),
            Optional.of(Universe.ofBits(55, count)));
    Snapshot child =
        snapshot(
            KeyHash.fixed(),
            Canonicaliser.NONE,
            rate,
            keys.subList(removed, count + added),
            Optional.of(Universe.ofBits(55, count)));
    SnapshotDelta delta = SnapshotDelta.between(parent, child);
    Path before = Files.write(directory.resolve("before"), parent.toBytes());
    Path changes = Files.write(directory.resolve("changes"), delta.toBytes());
    Path after = directory.resolve("after");
    assertThat(run(changes, "verify")).isEqualTo(new Answer(0, changes + ": valid\n", ""));
    assertThat(run(changes, "info").output())
        .contains("added values         " + delta.addedCount() + "\n")
        .contains(delta.header().parentDigest());
    assertThat(run(before, "apply", changes.toString(), after.toString()).errors()).isEmpty();
    assertThat(after).hasBinaryContent(child.toBytes());
  }

  @Test
  void refusesDeltasThatWeRefuse() throws Exception {
    List<String> keys = IntStream.range(0, 130).mapToObj(i -> "key " + i).toList();
    Snapshot parent =
        snapshot(
            KeyHash.fixed(),
            Canonicaliser.NONE,
            0.001,
            keys.subList(0, 100),
            Optional.of(Universe.ofBits(20, 100)));
    Snapshot child =
        snapshot(
            KeyHash.fixed(),
            Canonicaliser.NONE,
            0.001,
            keys.subList(20, 130),
            Optional.of(Universe.ofBits(20, 100)));
    byte[] good = SnapshotDelta.between(parent, child).toBytes();
    Path before = Files.write(directory.resolve("before"), parent.toBytes());
    SplittableRandom random = new SplittableRandom(96);
    int applied = 0;
    for (int i = 0; i < 80; i++) {
      byte[] damaged = good.clone();
      int from = i % 2 == 0 ? 0 : 223;
      damaged[from + random.nextInt(good.length - from)] ^= (byte) (1 << random.nextInt(8));
      ForgedFile.mend(damaged, ForgedFile.headerBytes("python"));
      Path file = Files.write(directory.resolve("damaged"), damaged);
      Path after = directory.resolve("after");
      Answer answer = run(before, "apply", file.toString(), after.toString());
      byte[] expected = null;
      try {
        expected = SnapshotDelta.read(damaged).applyTo(parent).toBytes();
      } catch (SnapshotException e) {
        // Then the other one refuses it, too.
      }
      assertThat(answer.status())
          .as("damage %d: %s", i, answer)
          .isEqualTo(expected == null ? 2 : 0);
      if (expected == null) {
        assertThat(answer.errors()).startsWith(file + ": ").hasLineCount(1);
      } else {
        assertThat(after).hasBinaryContent(expected);
        applied++;
      }
    }
    assertThat(applied).isBetween(1, 40);
  }

  private static Snapshot snapshot(
      KeyHash keyHash, Canonicaliser canonicaliser, double rate, List<String> keys)
      throws Exception {
    return snapshot(keyHash, canonicaliser, rate, keys, Optional.empty());
  }

  private static Snapshot snapshot(
      KeyHash keyHash,
      Canonicaliser canonicaliser,
      double rate,
      List<String> keys,
      Optional<Universe> wanted)
      throws Exception {
    SetParameters set = SetParameters.of(keyHash, canonicaliser, new Shards(1), rate);
    long[] hashes = new long[keys.size()];
    for (int i = 0; i < hashes.length; i++) {
      hashes[i] = set.hash(null, keys.get(i).getBytes(StandardCharsets.UTF_8), keyHash);
    }
    Universe universe = wanted.orElse(set.universeFor(hashes.length));
    return Snapshot.build(hashes, universe, new SnapshotParameters(set, "python", 0, 1, 0, 1));
  }

  private static long hash(Snapshot snapshot, byte[] scope, String key, KeyHash keyHash)
      throws Exception {
    byte[] bytes = key.getBytes(StandardCharsets.UTF_8);
    return snapshot.header().parameters().set().hash(scope, bytes, keyHash);
  }

  /** What the script answers; its standard input is the file {@code keys}, if there is one. */
  private Answer run(Path file, String verb, String... options) throws Exception {
    List<String> arguments = new ArrayList<>(List.of(verb, file.toString()));
    arguments.addAll(List.of(options));
    return python.run(arguments, directory);
  }
}
