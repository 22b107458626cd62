package io.firstseen.cli.snapshot;

import static io.firstseen.cli.shared.SnapshotSummary.number;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstseen.cli.shared.Fields;
import io.firstseen.cli.shared.Json;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.Pack;
import io.firstseen.filters.snapshot.Section;
import io.firstseen.filters.snapshot.SnapshotException;
import java.nio.ByteBuffer;
import java.util.Map;

/** The content of a pack. */
record PackSummary(Pack pack, BlobReference reference) implements FileSummary {
  private static final String ROW = "%5s %-7s %12s %12s %12s%n";

  static PackSummary of(byte[] blob, String setName) throws SnapshotException {
    return new PackSummary(
        Pack.read(ByteBuffer.wrap(blob), setName, Shards.MAX_COUNT), BlobReference.to(blob));
  }

  @Override
  public Fields fields() {
    ArrayNode sections = Json.array();
    StringBuilder lines =
        new StringBuilder(String.format("%n" + ROW, "shard", "kind", "bytes", "added", "removed"));
    pack.sections()
        .forEach(
            (shard, section) -> {
              sections.add(json(section).put("shard", shard));
              lines.append(
                  String.format(
                      ROW,
                      shard,
                      section.isWhole() ? "whole" : "change",
                      number(section.length()),
                      number(section.addedCount()),
                      number(section.removedCount())));
            });
    BlobReference before = pack.before();
    return blob("pack", pack.setName(), pack.sequence(), "pack", reference)
        .row("pack before", before == null ? "none" : text(before))
        .json("before", before == null ? null : json(before))
        .put("packs kept from", "keptFrom", pack.keptFrom(), "byte " + number(pack.keptFrom()))
        .put("list of bases", "bases", json(pack.bases()), text(pack.bases()))
        .put(
            "list and bases", "basesBytes", pack.basesBytes(), number(pack.basesBytes()) + " bytes")
        .put(
            "packs since then",
            "packsSince",
            pack.packsSince(),
            number(pack.packsSince()) + " bytes before this one")
        .row("changed shards", number(pack.sections().size()))
        .json("sections", sections)
        .text(lines.toString());
  }

  /** The common fields of packs and lists of bases. */
  static Fields blob(
      String kind, String setName, long sequence, String title, BlobReference reference) {
    return new Fields()
        .put("kind", "kind", kind)
        .put("set", "set", setName)
        .put("sequence", "sequence", sequence, sequence)
        .row(title, text(reference))
        .json("digest", reference.digest())
        .json("bytes", reference.bytes());
  }

  static String text(BlobReference reference) {
    return reference.digest() + ", " + number(reference.bytes()) + " bytes";
  }

  static ObjectNode json(BlobReference reference) {
    return Json.object().put("digest", reference.digest()).put("bytes", reference.bytes());
  }

  static ObjectNode json(Section section) {
    return Json.object()
        .put("whole", section.isWhole())
        .put("bytes", section.length())
        .put("added", section.addedCount())
        .put("removed", section.removedCount());
  }

  @Override
  public String sentence() {
    return "a pack of sequence %d with sections of %s shards; only applying it shows where it leads"
        .formatted(pack.sequence(), number(pack.sections().size()));
  }

  @Override
  public void verify() throws SnapshotException {
    for (Map.Entry<Integer, Section> each : pack.sections().entrySet()) {
      try {
        each.getValue().verify();
      } catch (SnapshotException e) {
        throw e.at("shard " + each.getKey());
      }
    }
  }
}
