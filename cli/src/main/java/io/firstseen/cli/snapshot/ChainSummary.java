package io.firstseen.cli.snapshot;

import static io.firstseen.cli.shared.SnapshotSummary.number;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstseen.cli.shared.Fields;
import io.firstseen.cli.shared.Json;
import io.firstseen.filters.snapshot.BaseList;
import io.firstseen.filters.snapshot.BlobLoader;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.ManifestBlobs;
import io.firstseen.filters.snapshot.Pack;
import io.firstseen.filters.snapshot.Section;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotSet;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** The newest pack of a set and its list of bases, shard by shard. */
record ChainSummary(SnapshotSet set, Pack newest, BaseList list) {
  private static final String ROW = "%5s %12s %14s %9s %14s %14s %12s %12s%n";

  /** The chain of a shard. */
  private record Shard(
      int number,
      long keys,
      Optional<String> setDigest,
      Optional<BlobReference> base,
      List<Section> since,
      Optional<Section> change) {

    long baseBytes() {
      return base.map(BlobReference::bytes).orElse(0L);
    }

    long sinceBytes() {
      return since.stream().mapToLong(Section::length).sum();
    }

    long changeBytes() {
      return change.map(Section::length).orElse(0);
    }

    long added() {
      return change.map(Section::addedCount).orElse(0L);
    }

    long removed() {
      return change.map(Section::removedCount).orElse(0L);
    }

    ObjectNode json() {
      ObjectNode json = Json.object().put("shard", number).put("keys", keys);
      setDigest.ifPresent(digest -> json.put("setDigest", digest));
      base.ifPresent(reference -> json.set("base", FileSummary.json(reference)));
      json.put("sections", since.size()).put("sectionBytes", sinceBytes());
      change.ifPresent(section -> json.set("newest", FileSummary.json(section)));
      return json;
    }
  }

  /** Reads the newest pack and the list of bases of a set that has a pack. */
  static ChainSummary of(SnapshotSet set, BlobLoader loader) throws IOException {
    ManifestBlobs blobs = new ManifestBlobs(set.manifest(), loader);
    Pack newest = blobs.newestPack();
    return new ChainSummary(set, newest, blobs.baseList(newest));
  }

  private List<Shard> shards() {
    return IntStream.range(0, list.shards().size()).mapToObj(this::shard).toList();
  }

  private Shard shard(int number) {
    Optional<Snapshot> snapshot = Optional.ofNullable(set.snapshot(number));
    BaseList.Shard listed = list.shards().get(number);
    return new Shard(
        number,
        snapshot.map(each -> each.header().hashCount()).orElse(0L),
        snapshot.map(each -> each.header().setDigest()),
        Optional.ofNullable(listed.base()),
        listed.sections(),
        Optional.ofNullable(newest.sections().get(number)));
  }

  /** The bytes that a new client fetches. */
  private long bytesFromNothing() {
    return newest.basesBytes() + newest.packsSince() + set.manifest().pack().bytes();
  }

  private long keptPackBytes() {
    return Math.max(0, set.manifest().packBytes() - newest.keptFrom());
  }

  /** The chain and its shards. */
  Fields fields() {
    StringBuilder lines =
        new StringBuilder(
            String.format(
                "%n" + ROW,
                "shard",
                "keys",
                "base bytes",
                "sections",
                "section bytes",
                "in newest pack",
                "added",
                "removed"));
    ArrayNode ofShards = Json.array();
    List<Shard> shards = shards();
    for (Shard shard : shards) {
      lines.append(row(Integer.toString(shard.number), List.of(shard)));
      ofShards.add(shard.json());
    }
    return new Fields()
        .put("pack of sequence", "packSequence", newest.sequence(), newest.sequence())
        .row("changed shards", number(newest.sections().size()))
        .put("bytes of kept packs", "keptPackBytes", keptPackBytes())
        .put(
            "list of bases",
            "list",
            FileSummary.json(newest.bases()).put("sequence", list.sequence()),
            FileSummary.text(newest.bases()))
        .row("list of sequence", list.sequence())
        .put("bytes from nothing", "bytesFromNothing", bytesFromNothing())
        .json("ofShards", ofShards)
        .text(lines.append(row("all", shards)).toString());
  }

  private static String row(String name, List<Shard> shards) {
    return String.format(
        ROW,
        name,
        number(shards.stream().mapToLong(Shard::keys).sum()),
        number(shards.stream().mapToLong(Shard::baseBytes).sum()),
        number(shards.stream().mapToLong(shard -> shard.since().size()).sum()),
        number(shards.stream().mapToLong(Shard::sinceBytes).sum()),
        number(shards.stream().mapToLong(Shard::changeBytes).sum()),
        number(shards.stream().mapToLong(Shard::added).sum()),
        number(shards.stream().mapToLong(Shard::removed).sum()));
  }
}
