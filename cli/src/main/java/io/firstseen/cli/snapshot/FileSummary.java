package io.firstseen.cli.snapshot;

import static io.firstseen.cli.shared.SnapshotSummary.number;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.util.TokenBuffer;
import io.firstseen.cli.shared.Fields;
import io.firstseen.cli.shared.Json;
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
  private static final String MANIFEST = "\u0089FSM";
  private static final String BLOB = "\u0089FSB";
  private static final ObjectMapper MAPPER = new ObjectMapper();

  record BaseOfShard(String setName, int shard, Section whole) {}

  /** Reads a manifest or a blob; empty if the file is neither. */
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

  /** The first bytes; empty if the file is unreadable, which a later read reports. */
  private static String magic(Path path) {
    try (InputStream in = Files.newInputStream(path)) {
      return new String(in.readNBytes(MANIFEST.length()), StandardCharsets.ISO_8859_1);
    } catch (IOException e) {
      return "";
    }
  }

  /** Decodes what can be decoded without other files; all of a manifest was checked before. */
  void verify() throws SnapshotException {
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
    String sentence =
        "a manifest of sequence %d, %s; its blobs were not read"
            .formatted(
                manifest.sequence(),
                manifest.signature() == null
                    ? "not signed"
                    : "with a signature by key " + manifest.signature().key());
    Fields fields = new Fields().put("kind", "kind", "manifest");
    return new FileSummary(manifest, null, add(fields, manifest), sentence);
  }

  /** Adds the fields of a manifest as the HTTP service shows them. */
  static Fields add(Fields fields, Manifest manifest) {
    try (TokenBuffer buffer = new TokenBuffer(MAPPER, false)) {
      ManifestJson.write(buffer, manifest);
      ObjectNode json = MAPPER.readTree(buffer.asParser());
      return fields.putAll(json).row("signature", manifest.signature() == null ? "none" : null);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static FileSummary of(Pack pack, BlobReference reference) {
    ObjectNode json = blob("pack", pack.setName(), reference).put("sequence", pack.sequence());
    if (pack.before() != null) {
      json.set("before", json(pack.before()));
    }
    json.put("keptFrom", pack.keptFrom()).set("bases", json(pack.bases()));
    json.put("basesBytes", pack.basesBytes()).put("packsSince", pack.packsSince());
    ArrayNode sections = json.putArray("sections");
    pack.sections()
        .forEach(
            (shard, section) -> sections.addObject().put("shard", shard).setAll(json(section)));
    String sentence =
        "a pack of sequence %d with sections of %s shards; only applying it shows where it leads"
            .formatted(pack.sequence(), number(pack.sections().size()));
    return new FileSummary(pack, reference, new Fields().putAll(json), sentence);
  }

  private static FileSummary of(BaseOfShard base, BlobReference reference) {
    long values = base.whole().addedCount();
    long keys = values + base.whole().hiddenCount();
    ObjectNode json =
        blob("base", base.setName(), reference)
            .put("shard", base.shard())
            .put("keys", keys)
            .put("values", values);
    String sentence = "a base of shard %d with %s keys".formatted(base.shard(), number(keys));
    return new FileSummary(base, reference, new Fields().putAll(json), sentence);
  }

  private static FileSummary of(BaseList list, BlobReference reference) {
    ObjectNode json =
        blob("list of bases", list.setName(), reference)
            .put("sequence", list.sequence())
            .put("shards", list.shards().size());
    ArrayNode bases = json.putArray("bases");
    for (int shard = 0; shard < list.shards().size(); shard++) {
      BaseList.Shard each = list.shards().get(shard);
      if (each.base() != null) {
        ObjectNode base = bases.addObject().put("shard", shard).setAll(json(each.base()));
        ArrayNode sections = base.putArray("sections");
        each.sections().forEach(section -> sections.add(json(section)));
      }
    }
    String sentence =
        "a list of %s bases with %s sections since them; the bases were not read"
            .formatted(number(list.bases().size()), number(sections(list).size()));
    return new FileSummary(list, reference, new Fields().putAll(json), sentence);
  }

  private static List<Section> sections(BaseList list) {
    return list.shards().stream().flatMap(shard -> shard.sections().stream()).toList();
  }

  private static ObjectNode blob(String kind, String setName, BlobReference reference) {
    return Json.object().put("kind", kind).put("set", setName).setAll(json(reference));
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
