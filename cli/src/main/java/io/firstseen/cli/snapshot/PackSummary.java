package io.firstseen.cli.snapshot;

import static io.firstseen.cli.shared.SnapshotSummary.number;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstseen.cli.shared.Json;
import io.firstseen.cli.shared.Rows;
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
  public String table() {
    Rows rows = new Rows().put("kind", "pack").put("set", pack.setName());
    describe(rows);
    StringBuilder table = new StringBuilder(rows.toString());
    table.append(String.format("%n" + ROW, "shard", "kind", "bytes", "added", "removed"));
    pack.sections()
        .forEach(
            (shard, section) ->
                table.append(
                    String.format(
                        ROW,
                        shard,
                        section.isWhole() ? "whole" : "change",
                        number(section.length()),
                        number(section.addedCount()),
                        number(section.removedCount()))));
    return table.toString();
  }

  private void describe(Rows rows) {
    rows.put("sequence", Long.toString(pack.sequence()));
    rows.put("pack", text(reference));
    rows.put("pack before", pack.before() == null ? "none" : text(pack.before()));
    rows.put("packs kept from", "byte " + number(pack.keptFrom()));
    rows.put("list of bases", text(pack.bases()));
    rows.put("list and bases", number(pack.basesBytes()) + " bytes");
    rows.put("packs since then", number(pack.packsSince()) + " bytes before this one");
    rows.put("changed shards", pack.sections().size());
  }

  @Override
  public ObjectNode json() {
    ObjectNode json = Json.object();
    json.put("kind", "pack");
    json.put("set", pack.setName());
    json.put("sequence", pack.sequence());
    json.put("digest", reference.digest());
    json.put("bytes", reference.bytes());
    if (pack.before() != null) {
      json.set("before", json(pack.before()));
    }
    json.put("keptFrom", pack.keptFrom());
    json.set("bases", json(pack.bases()));
    json.put("basesBytes", pack.basesBytes());
    json.put("packsSince", pack.packsSince());
    ArrayNode sections = json.putArray("sections");
    for (Map.Entry<Integer, Section> each : pack.sections().entrySet()) {
      sections.add(json(each.getValue()).put("shard", each.getKey()));
    }
    return json;
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
