package io.firstseen.cli.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.firstseen.cli.Invocation;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.SnapshotDirectory;
import io.firstseen.fixtures.StaticFiles;
import java.io.Closeable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code snapshot publish}. */
class SnapshotPublishTest {
  @TempDir private Path root;

  private Path list(Stream<String> keys) throws Exception {
    return Files.write(root.resolve("list.txt"), keys.toList());
  }

  private static Stream<String> hosts(int from, int to) {
    return IntStream.range(from, to).mapToObj(i -> "host" + i + ".example");
  }

  private Invocation publish(String... more) {
    return publishSet("hosts", more);
  }

  private Invocation publishSet(String set, String... more) {
    List<String> words =
        new ArrayList<>(
            List.of(
                "snapshot",
                "publish",
                "--input",
                root.resolve("list.txt").toString(),
                "--directory",
                root.resolve("set").toString(),
                "--set",
                set,
                "--hash-key-file",
                "public",
                "--canonicaliser",
                "url-expression",
                "--snapshot-shards",
                "2"));
    words.addAll(List.of(more));
    return Invocation.of(words.toArray(String[]::new));
  }

  @Test
  void eachListIsTheNextSequenceOfASignedSet() throws Exception {
    String key = root.resolve("key").toString();
    Invocation.of("snapshot", "keygen", "--output", key);
    list(Stream.concat(hosts(0, 3000), Stream.of("http://", "# a comment")));
    Invocation first = publish("--signing-key", key, "--expire-after", "3d", "--json");
    assertThat(first.err().get(0)).startsWith("warning: 1 of 3,002 lines have no usable key");
    assertThat(first.err().get(1)).contains("list.txt:3001: ");
    JsonNode one = first.json();
    assertThat(one.get("sequence").asLong()).isEqualTo(1);
    assertThat(one.get("listKeys").asLong()).isEqualTo(3000);

    list(hosts(100, 3050));
    assertThat(publish("--expire-after", "3d").err())
        .singleElement()
        .asString()
        .contains("manifest 1 in ", "it is signed, and ", ": set --signing-key. To ");
    assertThat(publish("--signing-key", key).err())
        .singleElement()
        .asString()
        .contains("manifest 1 in ", "it expires, and ", ": set --expire-after, at ");
    Invocation second = publish("--signing-key", key, "--expire-after", "4d", "--json");
    JsonNode two = second.json();
    assertThat(second.err()).isEmpty();
    assertThat(two.get("published").asBoolean()).isTrue();
    assertThat(two.get("sequence").asLong()).isEqualTo(2);
    assertThat(two.get("keys").asLong()).isEqualTo(2950);
    assertThat(two.get("changeBytes").asLong()).isLessThan(one.get("changeBytes").asLong() / 5);

    String directory = root.resolve("set").toString();
    assertThat(
            Invocation.of("snapshot", "verify", directory, "--public-key", key + ".pub").status())
        .isZero();
    assertThat(
            Invocation.of("snapshot", "match", directory, "host3049.example", "host0.example")
                .out())
        .containsExactly("host3049.example\tpresent\thost3049.example/", "host0.example\tabsent");
    SnapshotDirectory set = new SnapshotDirectory(root.resolve("set"));
    assertThat(Manifest.read(Files.readAllBytes(set.path().resolve("manifest.bin"))))
        .isEqualTo(set.latest());
    // Within the grace period, the previous manifest stays.
    assertThat(set.sequences()).containsExactly(1L, 2L);
    assertThat(publish("--signing-key", key, "--expire-after", "3d", "--blob-grace", "0s").out())
        .singleElement()
        .asString()
        .startsWith("sequence 3 of set 'hosts': 2,950 keys, change of 0 bytes, whole set in ");
    assertThat(set.sequences()).containsExactly(3L);
  }

  @Test
  void aPrunedSetCanBePublishedAgain() throws Exception {
    String directory = root.resolve("set").toString();
    list(hosts(0, 3000));
    publish();
    assertThat(Invocation.of("snapshot", "prune", directory, "--keep", "5").out())
        .containsExactly("removed 0 manifests and 0 blobs");
    for (int from = 1; from < 30; from++) {
      list(hosts(from, 3000 + from));
      assertThat(publish().status()).isZero();
      assertThat(Invocation.of("snapshot", "prune", directory, "--keep", "1").status()).isZero();
      assertThat(Invocation.of("snapshot", "verify", directory).status()).as("%d", from).isZero();
    }
  }

  @Test
  void textsArePublishedWithTheirBands() throws Exception {
    String prize = "Dear Anna, claim your FREE prize worth $500 today!";
    String directory = root.resolve("texts").toString();
    for (int sequence = 1; sequence <= 2; sequence++) {
      list(
          sequence == 1
              ? Stream.of(prize, prize.replace("$500", "£20"), "meet me at noon")
              : Stream.of("meet me at noon"));
      Invocation published =
          Invocation.of(
              "snapshot",
              "publish",
              "--input=" + root.resolve("list.txt"),
              "--directory=" + directory,
              "--set=texts",
              "--hash-key-file=public",
              "--canonicaliser=text",
              "--near=short");
      assertThat(published.out().get(0))
          .startsWith(
              sequence == 1
                  ? "sequence 1 of set 'texts': 2 texts, change of "
                  : "sequence 2 of set 'texts': 1 texts, change of ")
          .endsWith(sequence == 1 ? ", without 1 near-duplicates" : " bytes");
      assertThat(Invocation.of("snapshot", "match", directory, prize.replace("$500", "€90")).out())
          .singleElement()
          .asString()
          .contains(sequence == 1 ? "\tpresent\t" : "\tabsent");
    }
  }

  @Test
  void aSetThatShrinksTooMuchIsHeldUntilItIsReleased() throws Exception {
    list(hosts(0, 3000));
    assertThat(publish().status()).isZero();
    list(hosts(0, 1000));
    Invocation held = publish();
    assertThat(held.status()).isEqualTo(1);
    assertThat(held.out())
        .singleElement()
        .asString()
        .startsWith("on hold at sequence 1 of set 'hosts': the list has 1000 keys after 3000")
        .contains("(--max-fall)", "set --allow-jump-after 1 or a wider limit");
    assertThat(new SnapshotDirectory(root.resolve("set")).sequences()).containsExactly(1L);
    assertThat(publish("--allow-jump-after", "1").status()).isZero();
    list(hosts(0, 3000));
    assertThat(publish("--max-growth", "2").status()).isEqualTo(1);
  }

  @Test
  void mistakesAreRejected() throws Exception {
    list(Stream.of("# nothing"));
    assertThat(publish().err())
        .singleElement()
        .asString()
        .endsWith("none of the 1 lines of " + root.resolve("list.txt") + " holds a usable key");
    assertThat(root.resolve("set")).doesNotExist();
    list(hosts(0, 10));
    assertThat(publish().status()).isZero();
    assertThat(publish("--snapshot-fpr", "0.01").err().get(0))
        .contains("set 'hosts': the parameters of a set are fixed", "rate 0.001,", "rate 0.01,");
    assertThat(publishSet("other").err().get(0))
        .endsWith("'other': it is of set 'hosts', and each set needs its own directory");
    assertThat(publish("--expire-after", "1h").err().get(0)).contains("--expire-after must be");
    try (Closeable lock = new SnapshotDirectory(root.resolve("set")).lock()) {
      assertThat(lock).isNotNull();
      assertThat(publish().err().get(0)).contains("another job writes snapshots into ");
      assertThat(publish().status()).isEqualTo(2);
    }
  }

  @Test
  void aDirectoryWithoutTheStateOfItsWriterIsContinued() throws Exception {
    list(hosts(0, 3000));
    publish();
    Files.delete(root.resolve("set/writer-0000000001.bin"));
    list(hosts(1, 3001));
    Invocation continued = publish();
    assertThat(continued.status()).isZero();
    assertThat(continued.err().get(0)).contains("cannot be used: it does not exist");
    assertThat(Invocation.of("snapshot", "verify", root.resolve("set").toString()).status())
        .isZero();
    assertThat(publish().err()).isEmpty();
    try (Stream<Path> blobs = Files.list(root.resolve("set/blobs"))) {
      for (Path blob : blobs.toList()) {
        Files.delete(blob);
      }
    }
    list(hosts(2, 3002));
    assertThat(publish().err().get(0)).contains("the set of sequence 3 in ", " is missing.");
    assertThat(Invocation.of("snapshot", "verify", root.resolve("set").toString()).status())
        .isZero();
  }

  @Test
  void aWebServerOfTheFilesIsFollowed() throws Exception {
    list(hosts(0, 100));
    publish();
    try (StaticFiles server = new StaticFiles(root.resolve("set"))) {
      String address = server.address().toString();
      Invocation followed =
          Invocation.of(
              "snapshot", "follow", "--directory", address, "--set", "hosts", "--count", "1");
      assertThat(followed.status()).as("%s", followed).isZero();
      assertThat(followed.out()).singleElement().asString().contains("sequence 1,", "100 keys");
      assertThat(Invocation.of("snapshot", "follow", "--directory", "http://", "--set", "a").err())
          .singleElement()
          .asString()
          .contains("--directory: ");
    }
  }
}
