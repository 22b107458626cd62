package io.firstseen.cli.snapshot;

import static io.firstseen.cli.shared.SnapshotSummary.number;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstseen.cli.shared.Fields;
import io.firstseen.cli.shared.Json;
import io.firstseen.filters.snapshot.BaseList;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.Section;
import io.firstseen.filters.snapshot.SnapshotException;
import java.nio.ByteBuffer;
import java.util.List;

/** The content of a list of bases. */
record BaseListSummary(BaseList list, BlobReference reference) implements FileSummary {

  static BaseListSummary of(byte[] blob, String setName) throws SnapshotException {
    return new BaseListSummary(
        BaseList.read(ByteBuffer.wrap(blob), setName), BlobReference.to(blob));
  }

  private List<Section> sections() {
    return list.shards().stream().flatMap(shard -> shard.sections().stream()).toList();
  }

  @Override
  public Fields fields() {
    long baseBytes = list.bases().stream().mapToLong(BlobReference::bytes).sum();
    long sectionBytes = sections().stream().mapToLong(Section::length).sum();
    ArrayNode bases = Json.array();
    for (int shard = 0; shard < list.shards().size(); shard++) {
      BaseList.Shard each = list.shards().get(shard);
      if (each.base() != null) {
        ObjectNode base = PackSummary.json(each.base()).put("shard", shard);
        ArrayNode sections = base.putArray("sections");
        each.sections().forEach(section -> sections.add(PackSummary.json(section)));
        bases.add(base);
      }
    }
    return PackSummary.blob("list of bases", list.setName(), list.sequence(), "list", reference)
        .put("shards", "shards", list.shards().size())
        .put(
            "bases",
            "bases",
            bases,
            number(list.bases().size()) + ", " + number(baseBytes) + " bytes")
        .row("sections", number(sections().size()) + ", " + number(sectionBytes) + " bytes");
  }

  @Override
  public String sentence() {
    return "a list of %s bases with %s sections since them; the bases were not read"
        .formatted(number(list.bases().size()), number(sections().size()));
  }

  @Override
  public void verify() throws SnapshotException {
    for (Section section : sections()) {
      section.verify();
    }
  }
}
