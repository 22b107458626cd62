package io.firstseen.cli.snapshot;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstseen.cli.shared.Cleanup;
import io.firstseen.cli.shared.ExitCode;
import io.firstseen.cli.shared.Json;
import io.firstseen.cli.shared.SnapshotSummary;
import io.firstseen.cli.shared.Verb;
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
      "Applies packs to the snapshot or the base of one shard, one after the other, and "
          + "writes the resulting snapshot. The result has the same bytes as a snapshot that is "
          + "built from the keys.",
      "A pack contains changes only, so BASE must be the set to which the first pack "
          + "applies. With --manifest, and one shard, the command verifies that the "
          + "result has the root of the manifest."
    })
final class SnapshotApplyCommand extends Verb {

  @Parameters(index = "0", paramLabel = "BASE", description = "Snapshot or base to start with.")
  private Path base;

  @Parameters(
      index = "1..*",
      arity = "1..*",
      paramLabel = "PACK",
      description = "Packs to apply, in order; each must directly follow the previous pack.")
  private List<Path> packs;

  @Option(names = "--output", required = true, paramLabel = "F", description = "Output file.")
  private Path output;

  @Option(
      names = "--manifest",
      paramLabel = "F",
      description =
          "Manifest whose newest pack is the last pack; provides the window and the parameters "
              + "that a base lacks.")
  private Path manifestFile;

  @Option(names = "--json", description = "Print one JSON object.")
  private boolean json;

  /** The set of a shard before the packs: as a section. */
  private record Start(
      String setName, SetParameters parameters, int shard, long sequence, Section whole) {}

  @Override
  public Integer call() throws Exception {
    return Cleanup.after(this::apply);
  }

  private int apply(Cleanup cleanup) throws IOException {
    output = output(output);
    OutputFile file = new OutputFile(output);
    cleanup.add(file);
    Optional<Manifest> manifest =
        manifestFile == null
            ? Optional.empty()
            : Optional.of(read(manifestFile, ManifestSummary.class, "a manifest").manifest());
    Start start = start(manifest);
    List<PackSummary> chain = chain(start, manifest);
    Snapshot snapshot = apply(start, chain, manifest);
    file.write(snapshot.toBytes());
    file.complete();
    print(snapshot);
    return ExitCode.GOOD;
  }

  private Start start(Optional<Manifest> manifest) throws SnapshotException {
    if (FileSummary.of(base).isPresent()) {
      BaseSummary found = read(base, BaseSummary.class, "a snapshot or a base");
      Manifest head =
          manifest.orElseThrow(
              () ->
                  new UserErrorException(
                      base + " is a base, which lacks the parameters of the set: give --manifest"));
      requireSame("set", base, found.setName(), head.setName());
      int shards = head.parameters().shards().count();
      if (found.shard() >= shards) {
        throw new UserErrorException(
            "%s is of shard %d, the manifest has %d shards".formatted(base, found.shard(), shards));
      }
      return new Start(found.setName(), head.parameters(), found.shard(), -1, found.whole());
    }
    Snapshot snapshot = Snapshot.read(base);
    SnapshotParameters own = snapshot.header().parameters();
    if (manifest.isPresent()) {
      requireSame("set", base, own.setName(), manifest.get().setName());
      requireSame("parameters", base, own.set(), manifest.get().parameters());
    }
    return new Start(
        own.setName(), own.set(), own.shard(), own.sequence(), Section.whole(snapshot));
  }

  private void requireSame(String what, Path file, Object found, Object ofManifest) {
    if (!found.equals(ofManifest)) {
      throw new UserErrorException(
          "%s and %s must have the same %s, %s is not %s"
              .formatted(file, manifestFile, what, found, ofManifest));
    }
  }

  /** The packs, which must follow one another and end at the manifest. */
  private List<PackSummary> chain(Start start, Optional<Manifest> manifest)
      throws SnapshotException {
    List<PackSummary> chain = new ArrayList<>();
    for (Path path : packs) {
      PackSummary next = read(path, PackSummary.class, "a pack");
      Pack pack = next.pack();
      if (!pack.setName().equals(start.setName)) {
        throw new UserErrorException(
            "%s must be of set '%s', got '%s'".formatted(path, start.setName, pack.setName()));
      }
      if (pack.sequence() <= start.sequence) {
        throw new UserErrorException(
            "%s must have a higher sequence than %s, %d, got %d"
                .formatted(path, base, start.sequence, pack.sequence()));
      }
      if (!chain.isEmpty() && !chain.get(chain.size() - 1).reference().equals(pack.before())) {
        throw new UserErrorException(
            "%s must follow the pack %s, it follows %s"
                .formatted(
                    path,
                    chain.get(chain.size() - 1).reference().digest(),
                    pack.before() == null ? "none" : pack.before().digest()));
      }
      chain.add(next);
    }
    BlobReference last = chain.get(chain.size() - 1).reference();
    if (manifest.isPresent() && !last.equals(manifest.get().pack())) {
      throw new UserErrorException(
          "the last pack must be the newest of %s, %s is not"
              .formatted(manifestFile, packs.get(packs.size() - 1)));
    }
    return chain;
  }

  private Snapshot apply(Start start, List<PackSummary> chain, Optional<Manifest> manifest)
      throws SnapshotException {
    List<Section> sections = new ArrayList<>(List.of(start.whole));
    for (int i = 0; i < chain.size(); i++) {
      Section section = chain.get(i).pack().sections().get(start.shard);
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
            manifest.map(Manifest::sequence).orElse(chain.get(chain.size() - 1).pack().sequence()),
            manifest.map(Manifest::windowStartMillis).orElse(0L),
            manifest.map(Manifest::windowEndMillis).orElse(0L));
    Snapshot snapshot = apply(sections, parameters);
    if (manifest.isPresent() && start.parameters.shards().count() == 1) {
      var unused = SnapshotSet.of(manifest.get(), new Snapshot[] {snapshot});
    }
    return snapshot;
  }

  private Snapshot apply(List<Section> sections, SnapshotParameters parameters)
      throws SnapshotException {
    try {
      return Section.applyAll(null, sections, parameters);
    } catch (SnapshotException e) {
      throw e.at(base);
    }
  }

  private static <T extends FileSummary> T read(Path path, Class<T> kind, String words)
      throws SnapshotException {
    Optional<FileSummary> found = FileSummary.of(path);
    if (found.isEmpty() || !kind.isInstance(found.get())) {
      throw new UserErrorException(
          path + " must be " + words + found.map(other -> ", got " + other.sentence()).orElse(""));
    }
    return kind.cast(found.get());
  }

  private void print(Snapshot snapshot) {
    SnapshotSummary summary = SnapshotSummary.of(snapshot);
    ObjectNode object = Json.object().put("output", output.toString());
    object.put("digest", snapshot.digest());
    print(json, object.setAll(summary.fields().json()), output + ": " + summary.sentence());
  }
}
