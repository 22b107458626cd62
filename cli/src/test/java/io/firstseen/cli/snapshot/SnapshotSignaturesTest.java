package io.firstseen.cli.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.cli.Invocation;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.ManifestBlobs;
import io.firstseen.filters.snapshot.ManifestCheck;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.SnapshotDirectory;
import io.firstseen.filters.snapshot.TrustedKey;
import io.firstseen.fixtures.SetPublisher;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.apache.flink.util.FileUtils;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code snapshot keygen}, {@code sign}, {@code verify --public-key} and {@code prune}. */
class SnapshotSignaturesTest {
  private static final SetParameters PARAMETERS =
      SetParameters.of(KeyHash.fixed(), Canonicaliser.NONE, new Shards(1), 0.01);

  @TempDir private Path directory;

  private String path(String name) {
    return directory.resolve(name).toString();
  }

  private Invocation keygen(String name) {
    return Invocation.of("snapshot", "keygen", "--output", path(name));
  }

  /** A directory of the given number of manifests, each with a separate blob. */
  private SnapshotDirectory snapshots(int count) throws IOException {
    SnapshotDirectory snapshots = new SnapshotDirectory(directory.resolve("snapshots"));
    SetPublisher publisher = new SetPublisher("s", PARAMETERS);
    for (int sequence = 1; sequence <= count; sequence++) {
      publisher.publish(sequence, 0, 1, (long) sequence << 60).write(snapshots);
    }
    return snapshots;
  }

  @Test
  void aPrivateKeyIsItsOwnersAlone() throws IOException {
    Invocation made = keygen("key");
    assertThat(made.status()).as("%s", made).isZero();
    TrustedKey key = TrustedKey.read(directory.resolve("key.pub"));
    assertThat(made.out())
        .containsExactly(
            "key %s: %s signs, %s checks".formatted(key.id(), path("key"), path("key.pub")));
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(Path.of(path("key")))))
        .isEqualTo("rw-------");
    String before = Files.readString(Path.of(path("key")));
    Invocation again = keygen("key");
    assertThat(again.status()).isEqualTo(2);
    assertThat(again.err())
        .containsExactly(
            "firstseen snapshot keygen: " + path("key.pub") + " exists, and keys are not replaced");
    Files.delete(Path.of(path("key.pub")));
    assertThat(keygen("key").err())
        .containsExactly(
            "firstseen snapshot keygen: " + path("key") + " exists, and keys are not replaced");
    assertThat(Files.readString(Path.of(path("key")))).isEqualTo(before);
  }

  @Test
  void whatIsSignedIsValidUnderTheKeyAndNoOther() throws IOException {
    keygen("key");
    keygen("other");
    SnapshotDirectory snapshots = snapshots(2);
    String target = snapshots.path().toString();
    Invocation unsigned = verify(target, "key.pub");
    assertThat(unsigned.status()).isEqualTo(1);
    assertThat(unsigned.out()).containsExactly("invalid: the manifest has no signature");

    Invocation signed = Invocation.of("snapshot", "sign", "--signing-key", path("key"), target);
    String id = TrustedKey.read(directory.resolve("key.pub")).id();
    assertThat(signed.out()).containsExactly("signed 2 manifests with key " + id);
    assertThat(verify(target, "key.pub").status()).isZero();
    assertThat(verify(target, "key.pub", "--sequence=1").status()).isZero();
    Invocation other = verify(target, "other.pub");
    assertThat(other.status()).isEqualTo(1);
    assertThat(other.out())
        .containsExactly(
            "invalid: the manifest is signed by the key %s, which is not trusted".formatted(id));
    for (String verb : List.of("query", "match")) {
      assertThat(
              Invocation.of("snapshot", verb, target, "a", "--public-key", path("other.pub")).err())
          .singleElement()
          .asString()
          .endsWith("the manifest is signed by the key %s, which is not trusted".formatted(id));
    }
    assertThat(
            Invocation.of("snapshot", "query", target, "a", "--public-key", path("key.pub"))
                .status())
        .isZero();
    assertThat(verify(target, "other.pub", "--public-key=" + path("key.pub")).status()).isZero();

    String manifest = snapshots.manifestFile(2).toString();
    Manifest changed = snapshots.manifest(2).withTimes(5, null);
    snapshots.writeManifest(changed.withSignature(snapshots.manifest(2).signature()));
    assertThat(verify(target, "key.pub").out())
        .containsExactly("invalid: the manifest is not what the key %s signed".formatted(id));
    assertThat(verify(manifest, "key.pub").out())
        .containsExactly("invalid: the manifest is not what the key %s signed".formatted(id));
    Invocation one = Invocation.of("snapshot", "sign", "--signing-key", path("other"), manifest);
    assertThat(one.status()).as("%s", one).isZero();
    assertThat(
            ManifestCheck.requireSigned(
                    snapshots.manifestBytes(2),
                    List.of(TrustedKey.read(directory.resolve("other.pub"))))
                .withSignature(null))
        .isEqualTo(changed);
  }

  private Invocation verify(String target, String publicKey, String... more) {
    return Invocation.of(
        Stream.concat(
                Stream.of("snapshot", "verify", target, "--public-key=" + path(publicKey)),
                Stream.of(more))
            .toArray(String[]::new));
  }

  private Invocation run(String... more) {
    return Invocation.of(
        Stream.concat(
                Stream.of(
                    "run",
                    "--format=tsv",
                    "--input=" + path("events.tsv"),
                    "--accepted=" + path("accepted"),
                    "--snapshots=" + path("run"),
                    "--window=1m"),
                Stream.of(more))
            .toArray(String[]::new));
  }

  /** 1,500 keys in one window, of which 100 remain in the next. */
  private void writeEventsOfASetThatFalls() throws IOException {
    StringBuilder events = new StringBuilder();
    for (int key = 0; key < 1_500; key++) {
      events.append("0\tadd\tkey-").append(key).append('\n');
    }
    for (int key = 100; key < 1_500; key++) {
      events.append("60\tdel\tkey-").append(key).append('\n');
    }
    Files.writeString(directory.resolve("events.tsv"), events);
  }

  @Test
  void aRunSignsWhatItPublishesAndTellsOfWhatItHolds() throws IOException {
    keygen("key");
    writeEventsOfASetThatFalls();
    Invocation run =
        run("--signing-key=" + path("key"), "--blob-dir=" + directory.resolve("elsewhere").toUri());
    assertThat(run.status()).as("%s", run).isZero();
    assertThat(run.err())
        .contains(
            "warning: 1 windows have no manifest, because the set fell or grew too far (--max-fall,"
                + " --max-growth)");
    SnapshotDirectory published = new SnapshotDirectory(directory.resolve("run"));
    assertThat(published.sequences()).containsExactly(1L);
    assertThat(published.latest().count()).isEqualTo(1_500);
    assertThat(verify(path("run"), "key.pub").out()).singleElement().asString().startsWith("valid");
    assertThat(directory.resolve("run/blobs")).doesNotExist();
    assertThat(directory.resolve("elsewhere").toFile().list()).hasSizeGreaterThanOrEqualTo(16);
    FileUtils.deleteDirectory(published.path().toFile());
    assertThat(run("--max-fall=1").err()).noneMatch(line -> line.contains("no manifest"));
    assertThat(published.sequences()).containsExactly(1L, 2L);
    assertThat(published.latest().count()).isEqualTo(100);
    FileUtils.deleteDirectory(published.path().toFile());
    assertThat(run("--signing-key=" + path("none")).err())
        .contains(
            "firstseen run: cannot read the signing key %s: there is no such file or directory"
                .formatted(path("none")));
  }

  @Test
  void mistakesAreOneLine() throws IOException {
    keygen("key");
    String target = snapshots(1).path().toString();
    Invocation swapped =
        Invocation.of("snapshot", "sign", "--signing-key", path("key.pub"), target);
    assertThat(swapped.status()).isEqualTo(2);
    assertThat(swapped.err())
        .containsExactly(
            "firstseen snapshot sign: --signing-key: %s: a key must be between '-----BEGIN PRIVATE KEY-----' and '-----END PRIVATE KEY-----'"
                .formatted(path("key.pub")));
    assertThat(verify(target, "key").err()).singleElement().asString().contains("PUBLIC KEY");
    assertThat(verify(path("key"), "key.pub").err())
        .containsExactly(
            "firstseen snapshot verify: --public-key checks a manifest or the manifest of a "
                + "directory, but "
                + path("key")
                + " is not");
    assertThat(Invocation.of("snapshot", "sign", "--signing-key", path("key"), path("key")).err())
        .singleElement()
        .asString()
        .startsWith("firstseen snapshot sign: " + path("key") + ": this is not a manifest");
  }

  @Test
  void oldManifestsGoWithTheBlobsThatNoOtherNames() throws IOException {
    SnapshotDirectory snapshots = snapshots(5);
    Files.writeString(snapshots.path().resolve("blobs/mine"), "not a blob");
    Path blobs = snapshots.path().resolve("blobs");
    int before = Invocation.names(blobs).size();
    Set<String> stay = new TreeSet<>(Set.of("mine"));
    for (long sequence = 4; sequence <= 5; sequence++) {
      Manifest manifest = snapshots.manifest(sequence);
      stay.addAll(new ManifestBlobs(manifest, snapshots::blob).named().keySet());
    }
    Invocation pruned = Invocation.of("snapshot", "prune", snapshots.path().toString(), "--keep=2");
    assertThat(snapshots.sequences()).containsExactly(4L, 5L);
    assertThat(Invocation.names(blobs)).containsExactlyElementsOf(stay).hasSizeLessThan(before);
    assertThat(pruned.out())
        .containsExactly("removed 3 manifests and %d blobs".formatted(before - stay.size()));
    for (long sequence : snapshots.sequences()) {
      assertThat(
              Invocation.of(
                      "snapshot", "verify", snapshots.path().toString(), "--sequence=" + sequence)
                  .status())
          .isZero();
    }
    assertThat(Invocation.of("snapshot", "prune", snapshots.path().toString(), "--keep=9").out())
        .containsExactly("removed 0 manifests and 0 blobs");
    assertThat(Invocation.of("snapshot", "prune", path("none"), "--keep=9").err())
        .containsExactly(
            "firstseen snapshot prune: there is no snapshot directory " + path("none"));
    Files.createDirectory(directory.resolve("empty"));
    assertThat(Invocation.of("snapshot", "prune", path("empty"), "--keep=9").err())
        .containsExactly("firstseen snapshot prune: there is no manifest in " + path("empty"));
  }

  @Test
  void aSecondRunIntoADirectoryIsRefused() throws IOException {
    writeEventsOfASetThatFalls();
    SnapshotDirectory published = new SnapshotDirectory(directory.resolve("run"));
    Invocation run = run("--allow-jump-after=1");
    assertThat(run.status()).as("%s", run).isZero();
    assertThat(run.err()).noneMatch(line -> line.contains("no manifest"));
    assertThat(published.latest().count()).isEqualTo(100);
    Invocation second = run("--allow-jump-after=1");
    assertThat(second.status()).isEqualTo(2);
    assertThat(second.err())
        .singleElement()
        .asString()
        .startsWith("firstseen run: " + published.path() + " already has snapshots");
    assertThat(published.sequences()).as("what is there stays").containsExactly(1L, 2L);
  }

  @Test
  void nothingIsPrunedOrSignedWhileAJobWrites() throws IOException {
    keygen("key");
    SnapshotDirectory snapshots = snapshots(2);
    String target = snapshots.path().toString();
    String sentence = ": another job writes snapshots into " + target;
    Closeable lock = snapshots.lock();
    try {
      assertThat(Invocation.of("snapshot", "prune", target, "--keep=1").err())
          .containsExactly("firstseen snapshot prune" + sentence);
      assertThat(Invocation.of("snapshot", "sign", "--signing-key", path("key"), target).err())
          .containsExactly("firstseen snapshot sign" + sentence);
    } finally {
      lock.close();
    }
    assertThat(Invocation.of("snapshot", "prune", target, "--keep=1").status()).isZero();
  }
}
