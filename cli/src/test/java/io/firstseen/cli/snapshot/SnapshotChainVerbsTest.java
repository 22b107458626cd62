package io.firstseen.cli.snapshot;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.firstseen.cli.Invocation;
import io.firstseen.cli.shared.ExitCode;
import io.firstseen.cli.shared.SnapshotSummary;
import io.firstseen.filters.gcs.Universe;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.ManifestShard;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotDelta;
import io.firstseen.filters.snapshot.SnapshotDirectory;
import io.firstseen.filters.snapshot.SnapshotParameters;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The verbs of {@code firstseen snapshot} on deltas and chains of them. */
class SnapshotChainVerbsTest {
  private static final KeyHash HASH = KeyHash.fixed();
  private static final SetParameters SET =
      SetParameters.of(HASH, Canonicaliser.NONE, new Shards(2), 0.001);
  // About 500 keys of a shard in a range in which no two have the same value.
  private static final Universe UNIVERSE = new Universe(14, 70_000_000);

  @TempDir private Path directory;
  private String a;
  private String b;

  @BeforeEach
  void writeTwoSnapshots() throws IOException {
    a = write("a", snapshot(1, 0, 0, 1_000).toBytes());
    b = write("b", snapshot(2, 0, 20, 1_030).toBytes());
  }

  @Test
  void diffWritesTheDeltaThatApplyTurnsIntoTheOther() throws IOException {
    Snapshot before = Snapshot.read(Path.of(a));
    Snapshot after = Snapshot.read(Path.of(b));
    SnapshotDelta delta = SnapshotDelta.between(before, after);
    Invocation diff = snapshot("diff", a, b, "--output", path("d"));
    assertThat(diff.status()).isEqualTo(ExitCode.NEGATIVE);
    assertThat(diff.err()).isEmpty();
    assertThat(diff.out())
        .containsExactly(
            "added values        " + delta.addedCount(),
            "removed values      " + delta.removedCount(),
            "bytes to go there   " + delta.toBytes().length,
            "bytes in full       " + SnapshotSummary.number(after.toBytes().length));
    assertThat(directory.resolve("d")).hasBinaryContent(delta.toBytes());

    Invocation apply = snapshot("apply", a, path("d"), "--output", path("c"));
    assertThat(apply.status()).as("%s", apply).isZero();
    assertThat(apply.out())
        .containsExactly(
            path("c")
                + ": "
                + after.header().hashCount()
                + " keys in "
                + SnapshotSummary.number(after.toBytes().length)
                + " bytes");
    assertThat(directory.resolve("c")).hasBinaryContent(after.toBytes());

    Invocation same = snapshot("diff", b, path("c"));
    assertThat(same.status()).isZero();
    assertThat(same.out()).startsWith("added values        0", "removed values      0");
  }

  @Test
  void applyGoesThroughSeveralDeltas() throws IOException {
    String c = write("c", snapshot(3, 0, 40, 1_010).toBytes());
    snapshot("diff", a, b, "--output", path("ab"));
    snapshot("diff", b, c, "--output", path("bc"));
    JsonNode answer =
        json(snapshot("apply", a, path("ab"), path("bc"), "--output", path("x"), "--json"));
    assertThat(answer.get("sequence").intValue()).isEqualTo(3);
    assertThat(directory.resolve("x")).hasSameBinaryContentAs(Path.of(c));
  }

  @Test
  void applyRefusesAnotherParentAndDamage() throws IOException {
    snapshot("diff", a, b, "--output", path("d"));
    Invocation wrong = snapshot("apply", b, path("d"), "--output", path("x"));
    wrong.assertRefused(
        path("d")
            + ": the delta changes the set "
            + Snapshot.read(Path.of(a)).header().setDigest()
            + ", it cannot be applied to the set "
            + Snapshot.read(Path.of(b)).header().setDigest());
    snapshot("apply", path("d"), path("d"), "--output", path("x"))
        .assertRefused(path("d") + ": this is a delta; a snapshot is needed");
    snapshot("apply", a, b, "--output", path("x"))
        .assertRefused(b + ": this is a snapshot; a delta is needed");
    byte[] delta = Files.readAllBytes(directory.resolve("d"));
    delta[delta.length - 1] ^= 1;
    snapshot("apply", a, write("damaged", delta), "--output", path("x"))
        .assertRefused("the checksum of the sections does not fit");
    assertThat(directory.resolve("x")).doesNotExist();
    try (var files = Files.list(directory)) {
      assertThat(files.filter(file -> file.toString().endsWith(".partial"))).isEmpty();
    }
  }

  @Test
  void diffRefusesWhatCannotBeCompared() throws IOException {
    String otherShard = write("other", snapshot(1, 1, 0, 1_000).toBytes());
    snapshot("diff", a, otherShard).assertRefused("must have the same shard, 0 is not 1");
    Path set = chain();
    snapshot("diff", a, set.toString()).assertRefused("got one of each");
    snapshot("diff", set.toString(), set.toString(), "--output", path("x"))
        .assertRefused("--output takes the delta between two blobs");
  }

  @Test
  void diffSaysThatValuesOfDifferentRangesCannotBeCompared() throws IOException {
    Universe larger = new Universe(15, 70_000_000);
    Snapshot other = Snapshot.build(hashes(0, 0, 1_000), larger, parameters(1, 0));
    String wider = write("wider", other.toBytes());
    snapshot("diff", a, wider, "--output", path("x"))
        .assertRefused(": the ranges of values must be the same");
    assertThat(directory.resolve("x")).doesNotExist();
    Invocation diff = snapshot("diff", a, wider);
    assertThat(diff.status()).isEqualTo(ExitCode.NEGATIVE);
    String bytes = SnapshotSummary.number(other.toBytes().length);
    assertThat(diff.out())
        .containsExactly(
            "added values        0",
            "removed values      0",
            "bytes to go there   " + bytes,
            "bytes in full       " + bytes,
            "shards in full      1 (no delta can lead to them, and values of different ranges"
                + " cannot be compared)");
    JsonNode json = json(snapshot("diff", a, wider, "--json"));
    assertThat(json.get("same").booleanValue()).isFalse();
    assertThat(json.get("shardsInFull").intValue()).isEqualTo(1);
  }

  /** Shard 0 keeps its range, shard 1 gets another. */
  @Test
  void diffOfTwoWindowsCountsTheShardsThatKeepTheirRange() throws IOException {
    SnapshotDirectory target = new SnapshotDirectory(directory.resolve("windows"));
    Snapshot[] before = {snapshot(1, 0, 0, 1_000), snapshot(1, 1, 0, 1_000)};
    Snapshot[] after = {
      snapshot(2, 0, 20, 1_030),
      Snapshot.build(hashes(1, 20, 1_030), new Universe(15, 70_000_000), parameters(2, 1))
    };
    for (Snapshot[] window : List.of(before, after)) {
      List<ManifestShard> shards = new ArrayList<>();
      for (Snapshot shard : window) {
        target.writeBlob(shard.digest(), shard.toBytes());
        shards.add(
            ManifestShard.of(shards.size(), shard.header().hashCount(), BlobReference.to(shard)));
      }
      SnapshotParameters of = window[0].header().parameters();
      target.writeManifest(
          Manifest.of(
              "chains", of.sequence(), of.windowStartMillis(), of.windowEndMillis(), SET, shards));
    }
    SnapshotDelta ofTheFirst = SnapshotDelta.between(before[0], after[0]);
    JsonNode json = json(snapshot("diff", path("windows"), "--from-sequence", "1", "--json"));
    assertThat(json.get("same").booleanValue()).isFalse();
    assertThat(json.get("added").longValue()).isEqualTo(ofTheFirst.addedCount());
    assertThat(json.get("removed").longValue()).isEqualTo(ofTheFirst.removedCount());
    assertThat(json.get("deltaBytes").longValue())
        .isEqualTo(ofTheFirst.toBytes().length + after[1].toBytes().length);
    assertThat(json.get("shardsInFull").intValue()).isEqualTo(1);
  }

  @Test
  void infoAndVerifyTakeDeltas() throws IOException {
    snapshot("diff", a, b, "--output", path("d"));
    Invocation info = snapshot("info", path("d"));
    assertThat(info.status()).isZero();
    SnapshotDelta delta = SnapshotDelta.read(directory.resolve("d"));
    assertThat(info.out())
        .contains(
            "sequence            2",
            "shard               0 of 2",
            "added values        " + delta.addedCount(),
            "changes the set     " + delta.header().parentDigest(),
            "leads to the set    " + delta.header().setDigest());
    JsonNode json = json(snapshot("info", path("d"), "--json"));
    assertThat(json.get("added").longValue()).isEqualTo(delta.addedCount());
    assertThat(json.get("parentSetDigest").textValue()).isEqualTo(delta.header().parentDigest());
    Invocation verify = snapshot("verify", path("d"));
    assertThat(verify.status()).isZero();
    assertThat(verify.out())
        .containsExactly(
            "valid: a delta of "
                + delta.addedCount()
                + " added and "
                + delta.removedCount()
                + " removed values; only applying it shows where it leads");
    snapshot("query", path("d"), "key-1")
        .assertRefused(path("d") + ": this is a delta; a snapshot is needed");
    byte[] damaged = Files.readAllBytes(directory.resolve("d"));
    damaged[damaged.length - 1] ^= 1;
    Invocation invalid = snapshot("verify", write("damaged", damaged));
    assertThat(invalid.status()).isEqualTo(ExitCode.NEGATIVE);
    assertThat(invalid.out()).singleElement().asString().startsWith("invalid: ");
  }

  @Test
  void infoOfADirectoryShowsTheChains() throws IOException {
    Path set = chain();
    Manifest manifest = new SnapshotDirectory(set).latest();
    ManifestShard shard = manifest.shards().get(0);
    Invocation info = snapshot("info", set.toString());
    assertThat(info.status()).isZero();
    assertThat(info.out())
        .containsSubsequence(
            "",
            "shard         keys     base bytes  base from  deltas    delta bytes   from nothing",
            String.format(
                "    0 %12s %14s %10s %7s %14s %14s",
                shard.count(),
                SnapshotSummary.number(shard.base().bytes()),
                1,
                2,
                shard.deltas().get(0).bytes() + shard.deltas().get(1).bytes(),
                SnapshotSummary.number(
                    shard.base().bytes()
                        + shard.deltas().get(0).bytes()
                        + shard.deltas().get(1).bytes())));
    assertThat(info.out().get(info.out().size() - 1)).startsWith("  all        1,010");
    JsonNode chains = json(snapshot("info", set.toString(), "--json")).get("chains");
    assertThat(chains).hasSize(2);
    assertThat(chains.get(0).get("deltas").intValue()).isEqualTo(2);
    assertThat(chains.get(0).get("setDigest").textValue()).isEqualTo(shard.newest().setDigest());
  }

  @Test
  void verifyOfADirectoryProvesTheChains() throws IOException {
    Path set = chain();
    Invocation verify = snapshot("verify", set.toString());
    assertThat(verify.status()).as("%s", verify).isZero();
    assertThat(verify.out())
        .singleElement()
        .asString()
        .startsWith("valid: 1,010 keys in ")
        .endsWith(", with chains of 4 deltas");
    BlobReference first = new SnapshotDirectory(set).latest().shards().get(1).deltas().get(0);
    Files.delete(set.resolve("blobs").resolve(first.digest()));
    Invocation missing = snapshot("verify", set.toString());
    assertThat(missing.status()).isEqualTo(ExitCode.NEGATIVE);
    assertThat(missing.out()).singleElement().asString().contains(first.digest() + " is missing");
  }

  @Test
  void diffComparesWindowsOfADirectory() throws IOException {
    String set = chain().toString();
    JsonNode difference =
        json(snapshot("diff", set, "--from-sequence", "1", "--sequence", "2", "--json"));
    assertThat(difference.get("same").booleanValue()).isFalse();
    assertThat(difference.get("added").intValue()).isEqualTo(30);
    assertThat(difference.get("removed").intValue()).isEqualTo(20);
    assertThat(difference.get("deltaBytes").longValue())
        .isLessThan(difference.get("fullBytes").longValue());
    Invocation same = snapshot("diff", set, "--from-sequence", "3");
    assertThat(same.status()).isZero();
    snapshot("diff", set, "--from-sequence", "9")
        .assertRefused("there is no manifest of sequence 9");
    String empty = path("empty");
    List<ManifestShard> none = List.of(ManifestShard.empty(0), ManifestShard.empty(1));
    new SnapshotDirectory(Path.of(empty))
        .writeManifest(Manifest.of("chains", 1, 1_000, 2_000, SET, none));
    assertThat(json(snapshot("diff", empty, set, "--json")).get("added").intValue())
        .isEqualTo(1_010);
    assertThat(json(snapshot("diff", set, empty, "--json")).get("removed").intValue())
        .isEqualTo(1_010);
  }

  @Test
  void queryFollowsTheChains() throws IOException {
    assertThat(snapshot("query", chain().toString(), "key-5", "key-39", "key-1040").out())
        .containsExactly("key-5\tabsent", "key-39\tabsent", "key-1040\tpresent");
  }

  /** Sequences 1 to 3: a base of each shard, then two deltas; windows that move up the keys. */
  private Path chain() throws IOException {
    Path path = directory.resolve("chain");
    SnapshotDirectory target = new SnapshotDirectory(path);
    int[][] windows = {{0, 1_000}, {20, 1_030}, {40, 1_050}};
    List<ManifestShard> shards = new ArrayList<>();
    for (int sequence = 1; sequence <= 3; sequence++) {
      List<ManifestShard> next = new ArrayList<>();
      for (int shard = 0; shard < 2; shard++) {
        int[] keys = windows[sequence - 1];
        Snapshot full = snapshot(sequence, shard, keys[0], keys[1]);
        if (sequence == 1) {
          target.writeBlob(full.digest(), full.toBytes());
          next.add(ManifestShard.of(shard, full.header().hashCount(), BlobReference.to(full)));
          continue;
        }
        int[] before = windows[sequence - 2];
        SnapshotDelta delta =
            SnapshotDelta.between(snapshot(sequence - 1, shard, before[0], before[1]), full);
        target.writeBlob(delta.digest(), delta.toBytes());
        List<BlobReference> deltas = new ArrayList<>(shards.get(shard).deltas());
        deltas.add(BlobReference.to(delta));
        next.add(
            new ManifestShard(shard, full.header().hashCount(), shards.get(shard).base(), deltas));
      }
      shards = next;
      target.writeManifest(
          Manifest.of("chains", sequence, sequence * 1_000L, sequence * 1_000L + 1_000, SET, next));
    }
    return path;
  }

  private static Snapshot snapshot(int sequence, int shard, int from, int to) {
    return Snapshot.build(hashes(shard, from, to), UNIVERSE, parameters(sequence, shard));
  }

  private static SnapshotParameters parameters(int sequence, int shard) {
    return new SnapshotParameters(
        SET, "chains", shard, sequence, sequence * 1_000L, sequence * 1_000L + 1_000);
  }

  private static long[] hashes(int shard, int from, int to) {
    return IntStream.range(from, to)
        .mapToLong(i -> HASH.hash(("key-" + i).getBytes(UTF_8)))
        .filter(hash -> SET.shards().shardOf(hash) == shard)
        .toArray();
  }

  private static Invocation snapshot(String... words) {
    String[] all = new String[words.length + 1];
    all[0] = "snapshot";
    System.arraycopy(words, 0, all, 1, words.length);
    return Invocation.of(all);
  }

  private static JsonNode json(Invocation call) throws IOException {
    assertThat(call.err()).as("%s", call).isEmpty();
    return new ObjectMapper().readTree(call.out().get(0));
  }

  private String path(String name) {
    return directory.resolve(name).toString();
  }

  private String write(String name, byte[] bytes) throws IOException {
    return Files.write(directory.resolve(name), bytes).toString();
  }
}
