package io.firstseen.cli.snapshot;

import static io.firstseen.cli.shared.SnapshotSummary.number;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.util.TokenBuffer;
import io.firstseen.cli.shared.Fields;
import io.firstseen.cli.shared.Json;
import io.firstseen.cli.shared.SnapshotSummary;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.snapshot.Base;
import io.firstseen.filters.snapshot.BaseList;
import io.firstseen.filters.snapshot.BlobFrame;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.Pack;
import io.firstseen.filters.snapshot.Section;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.operators.UserErrorException;
import io.firstseen.server.ManifestJson;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The content of a published file other than a snapshot: a manifest or a blob.
 *
 * @param content a {@link Manifest}, {@link Pack}, {@link BaseOfShard} or {@link BaseList}
 * @param reference the reference to the blob; null for a manifest
 * @param fields the content as a table and as JSON
 * @param sentence what it is, in a few words
 */
record FileSummary(
    Object content, @Nullable BlobReference reference, Fields fields, String sentence) {
  /** The first bytes of a manifest. */
  private static final String MANIFEST = "\u0089FSM";

  /** The first bytes of a blob. */
  private static final String BLOB = "\u0089FSB";

  private static final String SECTION_ROW = "%5s %-7s %12s %12s %12s%n";
  private static final ObjectMapper MAPPER = new ObjectMapper();

  /** The content of a base. */
  record BaseOfShard(String setName, int shard, Section whole) {}

  /**
   * Reads a manifest or a blob; empty if the file is neither.
   *
   * @throws SnapshotException if it is damaged, or a newer reader is needed
   */
  static Optional<FileSummary> of(Path path) throws SnapshotException {
    String magic = magic(path);
    if (!magic.equals(MANIFEST) && !magic.equals(BLOB)) {
      return Optional.empty();
    }
    try {
      byte[] bytes = Files.readAllBytes(path);
      return Optional.of(magic.equals(MANIFEST) ? of(Manifest.read(bytes)) : ofBlob(bytes));
    } catch (SnapshotException e) {
      throw e.at(path);
    } catch (IOException e) {
      throw UserErrorException.cannot("read", path, e);
    }
  }

  /** The first bytes of a file; empty if it is unreadable, which a later read reports. */
  private static String magic(Path path) {
    try (InputStream in = Files.newInputStream(path)) {
      return new String(in.readNBytes(MANIFEST.length()), StandardCharsets.ISO_8859_1);
    } catch (IOException e) {
      return "";
    }
  }

  /**
   * Decodes what can be decoded without other files.
   *
   * @throws SnapshotException if it is damaged
   */
  void verify() throws SnapshotException {
    // All of a manifest was checked when it was read.
    if (content instanceof BaseOfShard base) {
      base.whole().verify();
    } else if (content instanceof BaseList list) {
      for (Section section : sections(list)) {
        section.verify();
      }
    } else if (content instanceof Pack pack) {
      for (Map.Entry<Integer, Section> each : pack.sections().entrySet()) {
        try {
          each.getValue().verify();
        } catch (SnapshotException e) {
          throw e.at("shard " + each.getKey());
        }
      }
    }
  }

  private static FileSummary ofBlob(byte[] blob) throws SnapshotException {
    BlobFrame frame = BlobFrame.read(ByteBuffer.wrap(blob));
    ByteBuffer bytes = ByteBuffer.wrap(blob);
    BlobReference reference = BlobReference.to(blob);
    String setName = frame.setName();
    return switch (frame.kind()) {
      case PACK -> of(Pack.read(bytes, setName, Shards.MAX_COUNT), reference);
      case BASE_LIST -> of(BaseList.read(bytes, setName), reference);
      case BASE -> {
        int shard = Base.shardOf(ByteBuffer.wrap(blob), setName);
        yield of(new BaseOfShard(setName, shard, Base.read(bytes, setName, shard)), reference);
      }
    };
  }

  private static FileSummary of(Manifest manifest) {
    Long expires = manifest.expiresMillis();
    Fields fields =
        new Fields()
            .row("kind", "manifest")
            .row("set", manifest.setName())
            .row("sequence", manifest.sequence())
            .row(
                "window",
                SnapshotSummary.window(manifest.windowStartMillis(), manifest.windowEndMillis()))
            .row("published", Instant.ofEpochMilli(manifest.publishedMillis()))
            .row("expires", expires == null ? null : Instant.ofEpochMilli(expires))
            .row("keys", number(manifest.count()))
            .row("shards", number(manifest.parameters().shards().count()));
    add(fields, manifest);
    String sentence =
        "a manifest of sequence %d, %s; its blobs were not read"
            .formatted(
                manifest.sequence(),
                manifest.signature() == null
                    ? "not signed"
                    : "with a signature by key " + manifest.signature().key());
    return new FileSummary(manifest, null, fields.json("kind", "manifest"), sentence);
  }

  /** Adds all fields of a manifest to the JSON, and what proves its set to the table. */
  static void add(Fields fields, Manifest manifest) {
    fields
        .row("root", manifest.root())
        .row("newest pack", manifest.pack() == null ? "none" : text(manifest.pack()))
        .row("bytes of all packs", number(manifest.packBytes()))
        .row("blobs", manifest.blobs() == null ? null : manifest.blobs().toASCIIString())
        .row(
            "signature",
            manifest.signature() == null ? "none" : "by key " + manifest.signature().key());
    // The fields as the HTTP service shows them.
    try (TokenBuffer buffer = new TokenBuffer(MAPPER, false)) {
      ManifestJson.write(buffer, manifest);
      ObjectNode json = MAPPER.readTree(buffer.asParser());
      fields.json().setAll(json);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static FileSummary of(Pack pack, BlobReference reference) {
    ArrayNode sections = Json.array();
    StringBuilder lines = new StringBuilder();
    lines.append(String.format("%n" + SECTION_ROW, "shard", "kind", "bytes", "added", "removed"));
    pack.sections()
        .forEach(
            (shard, section) -> {
              sections.add(json(section).put("shard", shard));
              lines.append(
                  String.format(
                      SECTION_ROW,
                      shard,
                      section.isWhole() ? "whole" : "change",
                      number(section.length()),
                      number(section.addedCount()),
                      number(section.removedCount())));
            });
    BlobReference before = pack.before();
    Fields fields =
        blob("pack", pack.setName(), pack.sequence(), "pack", reference)
            .row("pack before", before == null ? "none" : text(before))
            .json("before", before == null ? null : json(before))
            .put("packs kept from", "keptFrom", pack.keptFrom(), "byte " + number(pack.keptFrom()))
            .put("list of bases", "bases", json(pack.bases()), text(pack.bases()))
            .put("list and bases", "basesBytes", pack.basesBytes(), bytes(pack.basesBytes()))
            .put(
                "packs since then",
                "packsSince",
                pack.packsSince(),
                bytes(pack.packsSince()) + " before this one")
            .row("changed shards", number(pack.sections().size()))
            .json("sections", sections)
            .text(lines.toString());
    String sentence =
        "a pack of sequence %d with sections of %s shards; only applying it shows where it leads"
            .formatted(pack.sequence(), number(pack.sections().size()));
    return new FileSummary(pack, reference, fields, sentence);
  }

  private static FileSummary of(BaseOfShard base, BlobReference reference) {
    long values = base.whole().addedCount();
    long keys = values + base.whole().hiddenCount();
    Fields fields =
        new Fields()
            .put("kind", "kind", "base")
            .put("set", "set", base.setName())
            .put("shard", "shard", base.shard(), base.shard())
            .json("digest", reference.digest())
            .json("bytes", reference.bytes())
            .put("keys", "keys", keys)
            .put("values", "values", values)
            .row("base", text(reference));
    String sentence = "a base of shard %d with %s keys".formatted(base.shard(), number(keys));
    return new FileSummary(base, reference, fields, sentence);
  }

  private static FileSummary of(BaseList list, BlobReference reference) {
    long baseBytes = list.bases().stream().mapToLong(BlobReference::bytes).sum();
    long sectionBytes = sections(list).stream().mapToLong(Section::length).sum();
    String count = number(list.bases().size());
    String sectionCount = number(sections(list).size());
    ArrayNode bases = Json.array();
    for (int shard = 0; shard < list.shards().size(); shard++) {
      BaseList.Shard each = list.shards().get(shard);
      if (each.base() != null) {
        ObjectNode base = json(each.base()).put("shard", shard);
        ArrayNode sections = base.putArray("sections");
        each.sections().forEach(section -> sections.add(json(section)));
        bases.add(base);
      }
    }
    Fields fields =
        blob("list of bases", list.setName(), list.sequence(), "list", reference)
            .put("shards", "shards", list.shards().size())
            .put("bases", "bases", bases, count + ", " + bytes(baseBytes))
            .row("sections", sectionCount + ", " + bytes(sectionBytes));
    String sentence =
        "a list of %s bases with %s sections since them; the bases were not read"
            .formatted(count, sectionCount);
    return new FileSummary(list, reference, fields, sentence);
  }

  private static List<Section> sections(BaseList list) {
    return list.shards().stream().flatMap(shard -> shard.sections().stream()).toList();
  }

  /** The common fields of packs and lists of bases. */
  private static Fields blob(
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
    return reference.digest() + ", " + bytes(reference.bytes());
  }

  private static String bytes(long bytes) {
    return number(bytes) + " bytes";
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
}
