package io.firstseen.cli.snapshot;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstseen.cli.shared.Cleanup;
import io.firstseen.cli.shared.ClosingVerb;
import io.firstseen.cli.shared.ExitCode;
import io.firstseen.cli.shared.Json;
import io.firstseen.cli.shared.SnapshotSummary;
import io.firstseen.cli.snapshot.FileSummary.BaseOfShard;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.Pack;
import io.firstseen.filters.snapshot.Section;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.filters.snapshot.SnapshotParameters;
import io.firstseen.filters.snapshot.SnapshotSet;
import io.firstseen.jobs.files.OutputFile;
import io.firstseen.operators.UserErrorException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Applies packs to one shard. */
@Command(
    name = "apply",
    footer = {
      "  firstseen snapshot apply keys.snapshot 7.pack 8.pack --output new.snapshot",
      "  firstseen snapshot apply base 8.pack --manifest 8.manifest --output new.snapshot"
    },
    description = {
      "Applies packs, one after the other, to the snapshot or base of one shard to which the "
          + "first pack applies, and writes the resulting snapshot.",
      "With --manifest, and one shard, verifies that the result has the root of the manifest."
    })
final class SnapshotApplyCommand extends ClosingVerb {

  @Parameters(index = "0", paramLabel = "BASE", description = "Snapshot or base to start with.")
  private Path base;

  @Parameters(
      index = "1..*",
      arity = "1..*",
      paramLabel = "PACK",
      description = "Packs to apply; each must directly follow the previous one.")
  private List<Path> packs;

  @Option(names = "--output", required = true, paramLabel = "F", description = "Output file.")
  private Path output;

  @Option(
      names = "--manifest",
      paramLabel = "F",
      description =
          "Manifest whose newest pack is the last one; has the parameters that a base lacks.")
  private Path manifestFile;

  private @Nullable Manifest manifest;

  private record Start(
      String setName, SetParameters parameters, int shard, long sequence, Section whole) {}

  @Override
  protected int run(Cleanup cleanup) throws IOException {
    output = output(output);
    OutputFile file = cleanup.open(() -> new OutputFile(output));
    if (manifestFile != null) {
      manifest = (Manifest) read(manifestFile, Manifest.class, "a manifest").content();
    }
    Start start = start();
    Snapshot snapshot = apply(start, chain(start));
    file.write(snapshot.toBytes());
    file.complete();
    SnapshotSummary summary = SnapshotSummary.of(snapshot);
    ObjectNode object = Json.object().put("output", output.toString());
    object.put("digest", snapshot.digest());
    print(object.setAll(summary.fields().json()), output + ": " + summary.sentence());
    return ExitCode.GOOD;
  }

  private Start start() throws SnapshotException {
    if (FileSummary.of(base).isPresent()) {
      BaseOfShard found =
          (BaseOfShard) read(base, BaseOfShard.class, "a snapshot or a base").content();
      if (manifest == null) {
        throw new UserErrorException(
            base + " is a base, which lacks the parameters of the set: give --manifest");
      }
      requireSame("set", found.setName(), manifest.setName());
      int shards = manifest.parameters().shards().count();
      if (found.shard() >= shards) {
        throw new UserErrorException(
            "%s is of shard %d, the manifest has %d shards".formatted(base, found.shard(), shards));
      }
      return new Start(found.setName(), manifest.parameters(), found.shard(), -1, found.whole());
    }
    Snapshot snapshot = Snapshot.read(base);
    SnapshotParameters own = snapshot.header().parameters();
    if (manifest != null) {
      requireSame("set", own.setName(), manifest.setName());
      requireSame("parameters", own.set(), manifest.parameters());
    }
    return new Start(
        own.setName(), own.set(), own.shard(), own.sequence(), Section.whole(snapshot));
  }

  private void requireSame(String what, Object found, Object ofManifest) {
    OpenedSnapshots.requireSame(what, base, found, manifestFile, ofManifest);
  }

  /** The packs, which must follow one another and end at the manifest. */
  private List<Pack> chain(Start start) throws SnapshotException {
    List<Pack> chain = new ArrayList<>();
    BlobReference last = null;
    for (Path path : packs) {
      FileSummary next = read(path, Pack.class, "a pack");
      Pack pack = (Pack) next.content();
      if (!pack.setName().equals(start.setName)) {
        throw new UserErrorException(
            "%s must be of set '%s', got '%s'".formatted(path, start.setName, pack.setName()));
      }
      if (pack.sequence() <= start.sequence) {
        throw new UserErrorException(
            "%s must have a higher sequence than %s, %d, got %d"
                .formatted(path, base, start.sequence, pack.sequence()));
      }
      if (last != null && !last.equals(pack.before())) {
        throw new UserErrorException(
            "%s must follow the pack %s, it follows %s"
                .formatted(
                    path, last.digest(), pack.before() == null ? "none" : pack.before().digest()));
      }
      chain.add(pack);
      last = next.reference();
    }
    if (manifest != null && !last.equals(manifest.pack())) {
      throw new UserErrorException(
          "the last pack must be the newest of %s, %s is not"
              .formatted(manifestFile, packs.get(packs.size() - 1)));
    }
    return chain;
  }

  private Snapshot apply(Start start, List<Pack> chain) throws SnapshotException {
    List<Section> sections = new ArrayList<>(List.of(start.whole));
    for (int i = 0; i < chain.size(); i++) {
      Section section = chain.get(i).sections().get(start.shard);
      if (section == null) {
        err().printf("%s changes nothing in shard %d%n", packs.get(i), start.shard);
      } else {
        sections.add(section);
      }
    }
    SnapshotParameters parameters =
        new SnapshotParameters(
            start.parameters,
            start.setName,
            start.shard,
            manifest == null ? chain.get(chain.size() - 1).sequence() : manifest.sequence(),
            manifest == null ? 0 : manifest.windowStartMillis(),
            manifest == null ? 0 : manifest.windowEndMillis());
    Snapshot snapshot;
    try {
      snapshot = Section.applyAll(null, sections, parameters);
    } catch (SnapshotException e) {
      throw e.at(base);
    }
    if (manifest != null && start.parameters.shards().count() == 1) {
      var unused = SnapshotSet.of(manifest, new Snapshot[] {snapshot});
    }
    return snapshot;
  }

  private static FileSummary read(Path path, Class<?> kind, String words) throws SnapshotException {
    Optional<FileSummary> found = FileSummary.of(path);
    return found
        .filter(file -> kind.isInstance(file.content()))
        .orElseThrow(
            () ->
                new UserErrorException(
                    "%s must be %s%s"
                        .formatted(
                            path, words, found.map(f -> ", got " + f.sentence()).orElse(""))));
  }
}
