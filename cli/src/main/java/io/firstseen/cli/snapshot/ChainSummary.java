package io.firstseen.cli.snapshot;

import static io.firstseen.cli.shared.SnapshotSummary.number;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstseen.cli.shared.Fields;
import io.firstseen.cli.shared.Json;
import io.firstseen.cli.shared.SnapshotSummary;
import io.firstseen.filters.snapshot.BaseList;
import io.firstseen.filters.snapshot.BlobLoader;
import io.firstseen.filters.snapshot.ManifestBlobs;
import io.firstseen.filters.snapshot.Pack;
import io.firstseen.filters.snapshot.Section;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotSet;
import java.io.IOException;
import java.util.Arrays;

/** The newest pack of a set and its list of bases, shard by shard. */
final class ChainSummary {
  private ChainSummary() {}

  /** Reads the newest pack and the list of bases of a set that has a pack. */
  static Fields of(SnapshotSet set, BlobLoader loader) throws IOException {
    ManifestBlobs blobs = new ManifestBlobs(set.manifest(), loader);
    Pack newest = blobs.newestPack();
    BaseList list = blobs.baseList(newest);
    StringBuilder lines =
        new StringBuilder(
            String.format(
                "%nshard         keys     base bytes  sections  section bytes in newest pack"
                    + "        added      removed%n"));
    ArrayNode ofShards = Json.array();
    long[] all = new long[7];
    for (int shard = 0; shard < list.shards().size(); shard++) {
      Snapshot snapshot = set.snapshot(shard);
      BaseList.Shard listed = list.shards().get(shard);
      Section change = newest.sections().get(shard);
      long keys = snapshot == null ? 0 : snapshot.header().hashCount();
      long sectionBytes = listed.sections().stream().mapToLong(Section::length).sum();
      ObjectNode json = ofShards.addObject().put("shard", shard).put("keys", keys);
      if (snapshot != null) {
        json.put("setDigest", snapshot.header().setDigest());
      }
      if (listed.base() != null) {
        json.set("base", FileSummary.json(listed.base()));
      }
      json.put("sections", listed.sections().size()).put("sectionBytes", sectionBytes);
      if (change != null) {
        json.set("newest", FileSummary.json(change));
      }
      long[] figures = {
        keys,
        listed.base() == null ? 0 : listed.base().bytes(),
        listed.sections().size(),
        sectionBytes,
        change == null ? 0 : change.length(),
        change == null ? 0 : change.addedCount(),
        change == null ? 0 : change.removedCount()
      };
      lines.append(row(Integer.toString(shard), figures));
      Arrays.setAll(all, i -> all[i] + figures[i]);
    }
    long keptPackBytes = Math.max(0, set.manifest().packBytes() - newest.keptFrom());
    // The bytes that a new client fetches.
    long bytesFromNothing =
        newest.basesBytes() + newest.packsSince() + set.manifest().pack().bytes();
    return new Fields()
        .put("pack of sequence", "packSequence", newest.sequence(), newest.sequence())
        .row("changed shards", number(newest.sections().size()))
        .put("bytes of kept packs", "keptPackBytes", keptPackBytes)
        .put(
            "list of bases",
            "list",
            FileSummary.json(newest.bases()).put("sequence", list.sequence()),
            FileSummary.text(newest.bases()))
        .row("list of sequence", list.sequence())
        .put("bytes from nothing", "bytesFromNothing", bytesFromNothing)
        .json("ofShards", ofShards)
        .text(lines.append(row("all", all)).toString());
  }

  private static String row(String name, long[] figures) {
    Object[] cells = Arrays.stream(figures).mapToObj(SnapshotSummary::number).toArray();
    return String.format(
        "%5s %12s %14s %9s %14s %14s %12s %12s%n",
        name, cells[0], cells[1], cells[2], cells[3], cells[4], cells[5], cells[6]);
  }
}
