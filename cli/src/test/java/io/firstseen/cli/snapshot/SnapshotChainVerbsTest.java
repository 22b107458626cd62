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
import io.firstseen.filters.snapshot.BaseList;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.ManifestBlobs;
import io.firstseen.filters.snapshot.Pack;
import io.firstseen.filters.snapshot.Section;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotDirectory;
import io.firstseen.filters.snapshot.SnapshotParameters;
import io.firstseen.fixtures.SetPublisher;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The verbs of {@code firstseen snapshot} on packs, bases and lists of bases. */
class SnapshotChainVerbsTest {
  private static final KeyHash HASH = KeyHash.fixed();
  private static final SetParameters SET =
      SetParameters.of(HASH, Canonicaliser.NONE, new Shards(2), 1e-6);
  private static final SetParameters ONE_SHARD =
      SetParameters.of(HASH, Canonicaliser.NONE, new Shards(1), 1e-6);
  // Windows of keys that move up.
  private static final int[][] WINDOWS = {{0, 5_000}, {20, 5_030}, {40, 5_050}};

  @TempDir private Path directory;
  private final List<BlobReference> packs = new ArrayList<>();
  private SetPublisher publisher;

  @BeforeEach
  void makePublisher() {
    publisher = new SetPublisher("chains", SET);
  }

  private static SetPublisher.Window publish(
      SetPublisher publisher, long sequence, long... hashes) {
    return publisher.publish(sequence, sequence * 1_000, sequence * 1_000 + 1_000, hashes);
  }

  /** Three windows in a directory: bases and a list, then two packs that use the same list. */
  private Path chain() throws IOException {
    return chain(publisher);
  }

  private Path chain(SetPublisher of) throws IOException {
    Path path = directory.resolve("chain");
    for (int i = 0; i < WINDOWS.length; i++) {
      publish(of, i + 1, hashes(WINDOWS[i][0], WINDOWS[i][1])).write(new SnapshotDirectory(path));
      packs.add(new SnapshotDirectory(path).latest().pack());
    }
    return path;
  }

  private static long[] hashes(int from, int to) {
    return IntStream.range(from, to)
        .mapToLong(i -> HASH.hash(("key-" + i).getBytes(UTF_8)))
        .toArray();
  }

  private static long[] ofShard(int shard, long[] hashes) {
    return LongStream.of(hashes).filter(hash -> SET.shards().shardOf(hash) == shard).toArray();
  }

  private static Invocation snapshot(String... words) {
    return Invocation.of(
        Stream.concat(Stream.of("snapshot"), Stream.of(words)).toArray(String[]::new));
  }

  private static JsonNode json(String... words) throws IOException {
    Invocation call =
        snapshot(Stream.concat(Stream.of(words), Stream.of("--json")).toArray(String[]::new));
    assertThat(call.err()).as("%s", call).isEmpty();
    return new ObjectMapper().readTree(call.out().get(0));
  }

  private String path(String name) {
    return directory.resolve(name).toString();
  }

  private String write(String name, byte[] bytes) throws IOException {
    return Files.write(directory.resolve(name), bytes).toString();
  }

  private String blob(BlobReference blob) {
    return directory.resolve("chain/blobs").resolve(blob.digest()).toString();
  }

  private String manifest(int sequence) {
    return new SnapshotDirectory(directory.resolve("chain")).manifestFile(sequence).toString();
  }

  private Pack newestPack(Manifest manifest) throws IOException {
    return new ManifestBlobs(manifest, publisher).newestPack();
  }

  private static String number(long number) {
    return SnapshotSummary.number(number);
  }

  // apply

  @Test
  void applyTakesABaseThroughPacksToTheSnapshotOfTheManifest() throws IOException {
    chain();
    for (int shard = 0; shard < 2; shard++) {
      Snapshot expected = publisher.snapshots()[shard];
      Invocation apply =
          snapshot(
              "apply",
              blob(publisher.base(shard)),
              blob(packs.get(1)),
              blob(packs.get(2)),
              "--manifest",
              manifest(3),
              "--output",
              path("s" + shard));
      assertThat(apply.status()).as("%s", apply).isZero();
      assertThat(apply.err()).isEmpty();
      assertThat(apply.out())
          .containsExactly(
              path("s" + shard)
                  + ": "
                  + number(expected.header().hashCount())
                  + " keys in "
                  + number(expected.toBytes().length)
                  + " bytes");
      assertThat(directory.resolve("s" + shard)).hasBinaryContent(expected.toBytes());
    }
  }

  @Test
  void applyTakesASnapshotOnAndSaysWhichPackChangesNothingInIt() throws IOException {
    long[] before = hashes(0, 5_000);
    publish(publisher, 1, before);
    String base = write("base", publisher.snapshots()[1].toBytes());
    // Only shard 0 changes in window 2.
    long[] between =
        LongStream.concat(
                LongStream.of(ofShard(1, before)), LongStream.of(ofShard(0, hashes(20, 5_000))))
            .toArray();
    List<byte[]> first = publish(publisher, 2, between).blobs();
    List<byte[]> second = publish(publisher, 3, hashes(40, 5_050)).blobs();
    String pack1 = write("pack-1", first.get(first.size() - 1));
    String pack2 = write("pack-2", second.get(second.size() - 1));
    Invocation apply = snapshot("apply", base, pack1, pack2, "--output", path("f"), "--json");
    assertThat(apply.err()).containsExactly(pack1 + " changes nothing in shard 1");
    assertThat(apply.json().get("sequence").intValue()).isEqualTo(3);
    Snapshot result = Snapshot.read(directory.resolve("f"));
    Snapshot expected = publisher.snapshots()[1];
    assertThat(result.header().setDigest()).isEqualTo(expected.header().setDigest());
    assertThat(result.header().hashCount()).isEqualTo(expected.header().hashCount());
    assertThat(apply.json().get("digest").textValue()).isEqualTo(result.digest());

    Invocation nothing = snapshot("apply", base, pack1, "--output", path("g"));
    assertThat(nothing.status()).isZero();
    assertThat(Snapshot.read(directory.resolve("g")).header().setDigest())
        .isEqualTo(Snapshot.read(Path.of(base)).header().setDigest());
  }

  @Test
  void applyRefusesPacksThatDoNotFollowOneAnother() throws IOException {
    chain();
    String base = write("base", publisher.snapshots()[0].toBytes());
    snapshot("apply", base, blob(packs.get(2)), "--output", path("x"))
        .assertRefused(
            blob(packs.get(2)) + " must have a higher sequence than " + base + ", 3, got 3");
    String ofManifest = blob(publisher.base(0));
    snapshot(
            "apply",
            ofManifest,
            blob(packs.get(2)),
            blob(packs.get(1)),
            "--output",
            path("x"),
            "--manifest",
            manifest(3))
        .assertRefused(
            "%s must follow the pack %s, it follows %s"
                .formatted(blob(packs.get(1)), packs.get(2).digest(), packs.get(0).digest()));
    snapshot(
            "apply",
            ofManifest,
            blob(packs.get(1)),
            "--output",
            path("x"),
            "--manifest",
            manifest(3))
        .assertRefused("the last pack must be the newest of " + manifest(3));
    snapshot("apply", ofManifest, blob(packs.get(1)), "--output", path("x"))
        .assertRefused(ofManifest + " is a base, which lacks the parameters of the set");
    snapshot("apply", blob(packs.get(1)), blob(packs.get(1)), "--output", path("x"))
        .assertRefused(blob(packs.get(1)) + " must be a snapshot or a base, got a pack of");
    snapshot("apply", base, base, "--output", path("x")).assertRefused(base + " must be a pack");
    byte[] damaged = Files.readAllBytes(Path.of(blob(packs.get(1))));
    damaged[damaged.length / 2] ^= 1;
    snapshot("apply", base, write("damaged", damaged), "--output", path("x"))
        .assertRefused(path("damaged") + ": the checksum of the blob does not match");
    SetPublisher other = new SetPublisher("other", SET);
    List<byte[]> blobs = publish(other, 9, hashes(0, 10)).blobs();
    snapshot("apply", base, write("other", blobs.get(blobs.size() - 1)), "--output", path("x"))
        .assertRefused(path("other") + " must be of set 'chains', got 'other'");
    assertThat(directory.resolve("x")).doesNotExist();
    try (var files = Files.list(directory)) {
      assertThat(files.filter(file -> file.toString().endsWith(".partial"))).isEmpty();
    }
  }

  @Test
  void applyProvesTheRootOfAManifestOfOneShard() throws IOException {
    SetPublisher one = new SetPublisher("chains", ONE_SHARD);
    chain(one);
    assertThat(
            snapshot(
                    "apply",
                    blob(one.base(0)),
                    blob(packs.get(1)),
                    blob(packs.get(2)),
                    "--manifest",
                    manifest(3),
                    "--output",
                    path("f"))
                .status())
        .isZero();
    assertThat(directory.resolve("f")).hasBinaryContent(one.snapshots()[0].toBytes());
    // The base is not the set before this pack.
    snapshot(
            "apply",
            blob(one.base(0)),
            blob(packs.get(2)),
            "--manifest",
            manifest(3),
            "--output",
            path("x"))
        .assertRefused(blob(one.base(0)) + ": the codes must end at bit ");
    String otherRoot = write("other", ofRoot("0".repeat(64), 3).toBytes());
    snapshot(
            "apply",
            blob(one.base(0)),
            blob(packs.get(1)),
            blob(packs.get(2)),
            "--manifest",
            otherRoot,
            "--output",
            path("x"))
        .assertRefused("the shards must have the root of the manifest, 000");
    assertThat(directory.resolve("x")).doesNotExist();
  }

  /** The newest manifest, with another root. */
  private Manifest ofRoot(String root, long sequence) throws IOException {
    Manifest manifest = new SnapshotDirectory(directory.resolve("chain")).latest();
    return Manifest.of(
        "chains",
        sequence,
        manifest.windowStartMillis(),
        manifest.windowEndMillis(),
        manifest.parameters(),
        manifest.count(),
        root,
        manifest.pack(),
        manifest.packBytes());
  }

  // diff

  @Test
  void diffOfTwoWindowsHasTheBytesOfTheSectionsBetween() throws IOException {
    String set = chain().toString();
    JsonNode difference = json("diff", set, "--from-sequence", "1", "--sequence", "2");
    assertThat(difference.get("same").booleanValue()).isFalse();
    assertThat(difference.get("added").intValue()).isEqualTo(30);
    assertThat(difference.get("removed").intValue()).isEqualTo(20);
    assertThat(difference.get("shardsInFull").intValue()).isZero();
    Manifest second = new SnapshotDirectory(Path.of(set)).manifest(2);
    assertThat(difference.get("changeBytes").longValue())
        .isEqualTo(
            newestPack(second).sections().values().stream().mapToLong(Section::length).sum());
    assertThat(difference.get("fullBytes").longValue())
        .isGreaterThan(10 * difference.get("changeBytes").longValue());
    Invocation same = snapshot("diff", set, "--from-sequence", "3");
    assertThat(same.status()).isZero();
    assertThat(same.out()).startsWith("added values        0", "removed values      0");
    snapshot("diff", set, "--from-sequence", "9")
        .assertRefused("there is no manifest of sequence 9");
    publish(new SetPublisher("chains", SET), 1)
        .write(new SnapshotDirectory(directory.resolve("empty")));
    JsonNode fromNothing = json("diff", path("empty"), set);
    assertThat(fromNothing.get("added").intValue()).isEqualTo(5_010);
    assertThat(fromNothing.get("shardsInFull").intValue()).isZero();
    assertThat(json("diff", set, path("empty")).get("removed").intValue()).isEqualTo(5_010);
    // Of a shard that is empty again there is a snapshot.
    SetPublisher emptied = new SetPublisher("chains", SET);
    publish(emptied, 1, hashes(0, 10)).write(new SnapshotDirectory(directory.resolve("emptied")));
    publish(emptied, 2).write(new SnapshotDirectory(directory.resolve("emptied")));
    assertThat(json("diff", path("emptied"), path("empty")).get("same").booleanValue()).isTrue();
    assertThat(json("diff", path("empty"), path("emptied")).get("same").booleanValue()).isTrue();
  }

  @Test
  void aForgedNumberOfHashesIsRefused() throws IOException {
    chain();
    SnapshotParameters parameters = new SnapshotParameters(SET, "chains", 0, 7, 0, 1);
    byte[] good = Snapshot.build(ofShard(0, hashes(0, 100)), parameters).toBytes();
    long count = Snapshot.read(good).header().count();
    ByteBuffer forged = ByteBuffer.wrap(good.clone()).order(ByteOrder.LITTLE_ENDIAN);
    forged.putLong(72, count + (1L << 40) + 1);
    int checked = 213 + "chains".length();
    CRC32C checksum = new CRC32C();
    checksum.update(forged.array(), 0, checked);
    forged.putInt(checked, (int) checksum.getValue());
    String refusal =
        "shard 0 of set 'chains', sequence 7: the number of hashes may be at most 1099511627776"
            + " more than the number of values, %d, got %d"
                .formatted(count, count + (1L << 40) + 1);
    String before = write("good", good);
    String after = write("forged", forged.array());
    assertThat(snapshot("info", after).status()).isZero();
    snapshot("diff", before, after).assertRefused(refusal);
    snapshot("apply", after, blob(packs.get(1)), "--output", path("x")).assertRefused(refusal);
  }

  @Test
  void diffSaysThatValuesOfDifferentRangesCannotBeCompared() throws IOException {
    long[] keys = ofShard(0, hashes(0, 1_000));
    SnapshotParameters parameters = new SnapshotParameters(SET, "chains", 0, 1, 0, 1);
    Universe universe = SET.universeFor(keys.length);
    Universe larger = new Universe(universe.buckets() + 1, universe.width());
    Snapshot other = Snapshot.build(keys, larger, parameters);
    String narrow = write("narrow", Snapshot.build(keys, universe, parameters).toBytes());
    String wider = write("wider", other.toBytes());
    Invocation diff = snapshot("diff", narrow, wider);
    assertThat(diff.status()).isEqualTo(ExitCode.NEGATIVE);
    String bytes = number(Section.whole(other).length());
    assertThat(diff.out())
        .containsExactly(
            "added values        0",
            "removed values      0",
            "bytes to go there   " + bytes,
            "bytes in full       " + bytes,
            "shards in full      1 (values of different ranges cannot be compared)");
    JsonNode json = json("diff", narrow, wider);
    assertThat(json.get("same").booleanValue()).isFalse();
    assertThat(json.get("shardsInFull").intValue()).isEqualTo(1);
  }

  @Test
  void diffSeesAKeyWhoseValueIsThereAlready() throws IOException {
    long[] keys = ofShard(0, hashes(0, 1_000));
    long[] withAnother = Arrays.copyOf(keys, keys.length + 1);
    withAnother[keys.length] = keys[0] ^ 1;
    SnapshotParameters parameters = new SnapshotParameters(SET, "chains", 0, 1, 0, 1);
    Universe universe = SET.universeFor(withAnother.length);
    Snapshot less = Snapshot.build(keys, universe, parameters);
    Snapshot more = Snapshot.build(withAnother, universe, parameters);
    assertThat(more.header().count()).isEqualTo(less.header().count());
    String before = write("less", less.toBytes());
    JsonNode json = json("diff", before, write("more", more.toBytes()));
    assertThat(json.get("same").booleanValue()).isFalse();
    assertThat(json.get("added").longValue() + json.get("removed").longValue()).isZero();
    assertThat(json.get("changeBytes").longValue()).isEqualTo(Section.between(less, more).length());
    assertThat(json("diff", before, before).get("same").booleanValue()).isTrue();
  }

  /** Shard 0 keeps its range, shard 1 outgrows it. */
  @Test
  void diffOfTwoWindowsCountsTheShardsThatKeepTheirRange() throws IOException {
    SnapshotDirectory target = new SnapshotDirectory(directory.resolve("windows"));
    publish(publisher, 1, hashes(0, 5_000)).write(target);
    Snapshot[] before = publisher.snapshots();
    long[] grown =
        LongStream.concat(
                LongStream.of(ofShard(0, hashes(20, 5_030))),
                LongStream.of(ofShard(1, hashes(0, 9_000))))
            .toArray();
    publish(publisher, 2, grown).write(target);
    Snapshot[] after = publisher.snapshots();
    Section ofTheFirst = Section.between(before[0], after[0]);
    JsonNode json = json("diff", path("windows"), "--from-sequence", "1");
    assertThat(json.get("same").booleanValue()).isFalse();
    assertThat(json.get("added").longValue()).isEqualTo(ofTheFirst.addedCount());
    assertThat(json.get("removed").longValue()).isEqualTo(ofTheFirst.removedCount());
    assertThat(json.get("changeBytes").longValue())
        .isEqualTo(ofTheFirst.length() + Section.whole(after[1]).length());
    assertThat(json.get("shardsInFull").intValue()).isEqualTo(1);
  }

  @Test
  void diffRefusesWhatCannotBeCompared() throws IOException {
    Path set = chain();
    String first = write("0", publisher.snapshots()[0].toBytes());
    String second = write("1", publisher.snapshots()[1].toBytes());
    snapshot("diff", first, second).assertRefused("must have the same shard, 0 is not 1");
    snapshot("diff", first, set.toString()).assertRefused("got one of each");
    snapshot("diff", first, blob(publisher.base(0)))
        .assertRefused(
            blob(publisher.base(0)) + " must be a snapshot or a directory, got a base of shard 0");
  }

  // info, verify, query

  @Test
  void infoAndVerifyTakeAPack() throws IOException {
    Path set = chain();
    BlobReference reference = new SnapshotDirectory(set).latest().pack();
    Pack pack = newestPack(new SnapshotDirectory(set).latest());
    String file = blob(reference);
    Invocation info = snapshot("info", file);
    assertThat(info.status()).isZero();
    Section second = pack.sections().get(1);
    assertThat(info.out())
        .contains(
            "kind                pack",
            "set                 chains",
            "sequence            3",
            "digest              " + reference.digest(),
            "before              digest %s, bytes %d"
                .formatted(packs.get(1).digest(), packs.get(1).bytes()),
            "         shard         whole         bytes         added       removed",
            "             1         false%14d%14d%14d"
                .formatted(second.length(), second.addedCount(), second.removedCount()));
    JsonNode json = json("info", file);
    assertThat(json.get("kind").textValue()).isEqualTo("pack");
    assertThat(json.get("digest").textValue()).isEqualTo(reference.digest());
    assertThat(json.get("bases").get("digest").textValue()).isEqualTo(publisher.list().digest());
    assertThat(json.get("sections").get(1).get("added").longValue()).isEqualTo(second.addedCount());
    assertThat(json.get("sections").get(1).get("whole").booleanValue()).isFalse();
    Invocation verify = snapshot("verify", file);
    assertThat(verify.status()).isZero();
    assertThat(verify.out())
        .containsExactly(
            "valid: a pack of sequence 3 with sections of 2 shards; only applying it shows where it"
                + " leads");
    snapshot("query", file, "key-1")
        .assertRefused(file + " must be a snapshot or a directory, got a pack of sequence 3");
  }

  @Test
  void infoAndVerifyTakeABaseAListAndAManifest() throws IOException {
    Path set = chain();
    BlobReference base = publisher.base(1);
    JsonNode ofBase = json("info", blob(base));
    assertThat(ofBase.get("kind").textValue()).isEqualTo("base");
    assertThat(ofBase.get("shard").intValue()).isEqualTo(1);
    assertThat(ofBase.get("keys").intValue()).isEqualTo(ofShard(1, hashes(0, 5_000)).length);
    assertThat(snapshot("info", blob(base)).out()).contains("shard               1");

    JsonNode ofList = json("info", blob(publisher.list()));
    assertThat(ofList.get("kind").textValue()).isEqualTo("list of bases");
    assertThat(ofList.get("bases").get(1).get("digest").textValue()).isEqualTo(base.digest());
    assertThat(snapshot("info", blob(publisher.list())).out())
        .contains(
            "sequence            2",
            "         shard         bytes      sections",
            "             1%14s             1".formatted(number(base.bytes())));

    Manifest manifest = new SnapshotDirectory(set).latest();
    JsonNode ofManifest = json("info", manifest(3));
    assertThat(ofManifest.get("kind").textValue()).isEqualTo("manifest");
    assertThat(ofManifest.get("root").textValue()).isEqualTo(manifest.root());
    assertThat(ofManifest.get("pack").get("digest").textValue())
        .isEqualTo(manifest.pack().digest());
    assertThat(snapshot("info", manifest(3)).out())
        .contains("root                " + manifest.root(), "signature           none");

    assertThat(snapshot("verify", blob(base)).out())
        .containsExactly(
            "valid: a base of shard 1 with %s keys"
                .formatted(number(ofBase.get("keys").longValue())));
    assertThat(snapshot("verify", blob(publisher.list())).out())
        .containsExactly(
            "valid: a list of 2 bases with 2 sections since them; the bases were not read");
    assertThat(snapshot("verify", manifest(3)).out())
        .containsExactly("valid: a manifest of sequence 3, not signed; its blobs were not read");
  }

  @Test
  void aByteThatIsFlippedInAnyKindOfFileIsFound() throws IOException {
    chain();
    List<String> files =
        List.of(blob(packs.get(2)), blob(publisher.base(0)), blob(publisher.list()), manifest(3));
    for (String file : files) {
      byte[] sound = Files.readAllBytes(Path.of(file));
      for (int at : new int[] {sound.length / 2, sound.length - 1}) {
        byte[] damaged = sound.clone();
        damaged[at] ^= 1;
        Invocation invalid = snapshot("verify", write("damaged", damaged));
        assertThat(invalid.status()).isEqualTo(ExitCode.NEGATIVE);
        assertThat(invalid.out())
            .singleElement()
            .asString()
            .startsWith("invalid: " + path("damaged") + ": ");
        snapshot("info", path("damaged")).assertRefused(path("damaged") + ": ");
      }
    }
  }

  @Test
  void infoOfADirectoryShowsTheNewestPackAndTheListOfBases() throws IOException {
    Path set = chain();
    Manifest manifest = new SnapshotDirectory(set).latest();
    Pack pack = newestPack(manifest);
    Section change = pack.sections().get(0);
    Section listed =
        BaseList.read(publisher.load(publisher.list()), "chains", 2)
            .shards()
            .get(0)
            .sections()
            .get(0);
    Invocation info = snapshot("info", set.toString());
    assertThat(info.status()).isZero();
    long fromNothing = pack.basesBytes() + pack.packsSince() + manifest.pack().bytes();
    assertThat(info.out())
        .containsSubsequence(
            "keys                5,010",
            "root                " + manifest.root(),
            "pack bytes          " + number(manifest.packBytes()),
            "signature           none",
            "chain",
            "pack sequence       3",
            "kept pack bytes     " + number(manifest.packBytes() - pack.keptFrom()),
            "list                digest %s, bytes %d, sequence 2"
                .formatted(pack.bases().digest(), pack.bases().bytes()),
            "bytes from nothing  " + number(fromNothing),
            "",
            "         shard          keys    base bytes      sections  section bytes  newest whole"
                + "  newest bytes  newest added  newest removed",
            String.format(
                "             0%14s%14s%14s%15s%14s%14s%14s%16s",
                number(publisher.snapshots()[0].header().hashCount()),
                number(publisher.base(0).bytes()),
                1,
                listed.length(),
                change.isWhole(),
                change.length(),
                change.addedCount(),
                change.removedCount()));
    JsonNode json = json("info", set.toString());
    assertThat(json.get("root").textValue()).isEqualTo(manifest.root());
    assertThat(json.get("count")).isEqualTo(json.get("keys"));
    JsonNode chain = json.get("chain");
    assertThat(chain.get("bytesFromNothing").longValue()).isEqualTo(fromNothing);
    assertThat(chain.get("list").get("digest").textValue()).isEqualTo(publisher.list().digest());
    assertThat(chain.get("ofShards")).hasSize(2);
    JsonNode first = chain.get("ofShards").get(0);
    assertThat(first.get("setDigest").textValue())
        .isEqualTo(publisher.snapshots()[0].header().setDigest());
    assertThat(first.get("newest").get("bytes").intValue()).isEqualTo(change.length());
  }

  @Test
  void infoOfASetThatNeverHeldAKeyHasNoChain() throws IOException {
    publish(publisher, 1).write(new SnapshotDirectory(directory.resolve("empty")));
    assertThat(snapshot("info", path("empty")).out())
        .contains("keys                0", "pack bytes          0");
    assertThat(json("info", path("empty")).has("chain")).isFalse();
    assertThat(snapshot("verify", path("empty")).status()).isZero();
  }

  @Test
  void verifyOfADirectoryProvesTheRootAndReadsTheKeptPacks() throws IOException {
    Path set = chain();
    Invocation verify = snapshot("verify", set.toString());
    assertThat(verify.status()).as("%s", verify).isZero();
    assertThat(verify.out()).singleElement().asString().startsWith("valid: 5,010 keys in ");
    // Of another root, with the same blobs.
    new SnapshotDirectory(set).writeManifest(ofRoot("0".repeat(64), 4));
    Invocation wrong = snapshot("verify", set.toString());
    assertThat(wrong.status()).isEqualTo(ExitCode.NEGATIVE);
    assertThat(wrong.out())
        .singleElement()
        .asString()
        .startsWith("invalid: the shards must have the root of the manifest, 000");
    Files.delete(Path.of(blob(publisher.base(1))));
    Invocation missing = snapshot("verify", set.toString(), "--sequence", "3");
    assertThat(missing.status()).isEqualTo(ExitCode.NEGATIVE);
    assertThat(missing.out())
        .containsExactly(
            "invalid: " + set + ": blob " + publisher.base(1).digest() + " is missing");
  }

  @Test
  void queryAnswersFromBasesAndPacks() throws IOException {
    assertThat(snapshot("query", chain().toString(), "key-5", "key-39", "key-5040").out())
        .containsExactly("key-5\tabsent", "key-39\tabsent", "key-5040\tpresent");
  }
}
