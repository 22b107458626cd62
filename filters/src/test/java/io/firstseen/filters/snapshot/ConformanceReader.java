package io.firstseen.filters.snapshot;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstseen.filters.gcs.Universe;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.InvalidKeyException;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.ProtocolNames;
import io.firstseen.filters.key.ScopedKey;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.key.UrlExpressions;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.PrimitiveIterator;
import java.util.stream.Stream;

/** This reader as an adapter of {@code conformance/README.md}. */
final class ConformanceReader {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final HexFormat HEX = HexFormat.of();
  private static final int SHOWN_VALUES = 100;

  private ConformanceReader() {}

  /** Responds to requests on standard input, one per line. */
  public static void main(String[] arguments) throws IOException {
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    PrintStream out = new PrintStream(System.out, true, UTF_8);
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      out.println(answer(JSON.readTree(line)));
    }
  }

  /** The answer to a request. */
  static ObjectNode answer(JsonNode request) throws IOException {
    ObjectNode answer = JSON.createObjectNode();
    try {
      switch (text(request, "op")) {
        case "canonical" -> canonical(request, answer);
        case "expressions" ->
            strings(
                answer.putArray("expressions"),
                UrlExpressions.of(text(request, "url").getBytes(UTF_8))
                    .forVersion(request.has("canonicaliser") ? canonicaliser(request).version() : 1)
                    .asList());
        case "hash" ->
            answer.put(
                "hash",
                HEX.toHexDigits(
                    keyHash(request)
                        .hash(ScopedKey.join(bytes(request, "scope"), bytes(request, "form")))));
        case "value" -> value(request, answer);
        case "snapshot" -> snapshot(request, answer);
        case "query" -> query(request, answer);
        case "match" -> match(request, answer);
        case "resembles" -> resembles(request, answer);
        case "manifest" -> manifest(request, answer);
        case "follow" -> follow(request, answer);
        default -> answer.put("unsupported", true);
      }
    } catch (InvalidKeyException | SnapshotException | IllegalArgumentException e) {
      answer.removeAll();
      answer.put("refused", e.getMessage());
    }
    return answer;
  }

  private static void canonical(JsonNode request, ObjectNode answer) throws InvalidKeyException {
    byte[] key = request.has("key") ? text(request, "key").getBytes(UTF_8) : bytes(request, "key");
    Canonicaliser canonicaliser = canonicaliser(request);
    if (request.has("strip")) {
      canonicaliser = canonicaliser.stripping(text(request, "strip"));
    }
    answer.put("form", HEX.formatHex(canonicaliser.canonicalise(key)));
  }

  private static Canonicaliser canonicaliser(JsonNode request) {
    return ProtocolNames.rule(text(request, "canonicaliser"));
  }

  private static void value(JsonNode request, ObjectNode answer) {
    long hash = HexFormat.fromHexDigitsToLong(text(request, "hash"));
    Shards shards = new Shards(request.required("shards").intValue());
    Universe universe =
        new Universe(
            Long.parseLong(text(request, "buckets")), Long.parseLong(text(request, "width")));
    answer
        .put("shard", shards.shardOf(hash))
        .put("value", Long.toUnsignedString(universe.valueOf(shards.suffix(hash))));
  }

  private static void snapshot(JsonNode request, ObjectNode answer) throws SnapshotException {
    Snapshot snapshot = Snapshot.read(path(request, "file"));
    SnapshotHeader header = snapshot.header();
    answer
        .put("set", header.parameters().setName())
        .put("shard", header.parameters().shard())
        .put("count", Long.toString(header.count()))
        .put("hashCount", Long.toString(header.hashCount()))
        .put("setDigest", header.setDigest());
    if (request.required("verify").booleanValue()) {
      snapshot.verify();
      ArrayNode values = answer.putArray("values");
      PrimitiveIterator.OfLong each = snapshot.values();
      while (values.size() < SHOWN_VALUES && each.hasNext()) {
        values.add(Long.toUnsignedString(each.nextLong()));
      }
    }
  }

  private static void query(JsonNode request, ObjectNode answer) throws IOException {
    KeyHash keyHash = keyHash(request);
    SetParameters parameters;
    Snapshot snapshot = null;
    SnapshotSet set = null;
    if (request.has("file")) {
      snapshot = Snapshot.read(path(request, "file"));
      parameters = snapshot.header().parameters().set();
    } else {
      set = SnapshotSet.openDirectory(path(request, "directory"), OptionalLong.empty());
      parameters = set.manifest().parameters();
    }
    parameters.requireReadableBy(keyHash);
    ArrayNode present = answer.putArray("present");
    ArrayNode invalid = answer.putArray("invalid");
    for (JsonNode key : request.required("keys")) {
      try {
        long hash = parameters.hash(scope(request), key.textValue().getBytes(UTF_8), keyHash);
        present.add(
            set != null
                ? set.mightContain(hash)
                : parameters.shards().shardOf(hash) == snapshot.header().parameters().shard()
                    && snapshot.mightContain(hash));
      } catch (InvalidKeyException e) {
        invalid.add(present.size());
        present.add(false);
      }
    }
  }

  private static void match(JsonNode request, ObjectNode answer) throws IOException {
    KeyHash keyHash = keyHash(request);
    UrlList list =
        request.has("file")
            ? UrlList.of(Snapshot.read(path(request, "file")), keyHash)
            : UrlList.of(
                SnapshotSet.openDirectory(path(request, "directory"), OptionalLong.empty()),
                keyHash);
    ArrayNode entries = answer.putArray("entries");
    ArrayNode invalid = answer.putArray("invalid");
    for (JsonNode url : request.required("urls")) {
      Optional<String> entry;
      try {
        entry = list.match(scope(request), UrlExpressions.of(url.textValue().getBytes(UTF_8)));
      } catch (InvalidKeyException e) {
        invalid.add(entries.size());
        entry = Optional.empty();
      }
      entries.add(entry.orElse(null));
    }
  }

  private static void resembles(JsonNode request, ObjectNode answer) throws IOException {
    KeyHash keyHash = keyHash(request);
    NearTexts live =
        request.has("file")
            ? NearTexts.of(Snapshot.read(path(request, "file")), keyHash)
            : NearTexts.of(
                SnapshotSet.openDirectory(path(request, "directory"), OptionalLong.empty()),
                keyHash);
    ArrayNode equalBands = answer.putArray("equalBands");
    ArrayNode invalid = answer.putArray("invalid");
    for (JsonNode text : request.required("texts")) {
      try {
        equalBands.add(live.resembles(scope(request), text.textValue().getBytes(UTF_8)));
      } catch (InvalidKeyException e) {
        invalid.add(equalBands.size());
        equalBands.add(0);
      }
    }
  }

  private static void manifest(JsonNode request, ObjectNode answer) throws IOException {
    byte[] bytes = Files.readAllBytes(path(request, "file"));
    List<TrustedKey> keys = new ArrayList<>();
    for (JsonNode key : request.path("publicKeys")) {
      keys.add(
          TrustedKey.parse(
              "-----BEGIN PUBLIC KEY-----\n" + key.textValue() + "\n-----END PUBLIC KEY-----\n"));
    }
    Manifest manifest =
        keys.isEmpty() ? Manifest.read(bytes) : ManifestCheck.requireSigned(bytes, keys);
    SetParameters parameters = manifest.parameters();
    answer
        .put("set", manifest.setName())
        .put("sequence", Long.toString(manifest.sequence()))
        .put("windowStartMillis", Long.toString(manifest.windowStartMillis()))
        .put("windowEndMillis", Long.toString(manifest.windowEndMillis()))
        .put("publishedMillis", Long.toString(manifest.publishedMillis()))
        .put("expiresMillis", manifest.expiresMillis())
        .put("algorithm", parameters.hashAlgorithm().id())
        .put("keyCheck", HEX.toHexDigits(parameters.keyCheck()))
        .put("canonicaliser", parameters.canonicaliser().id())
        .put("canonicaliserVersion", parameters.canonicaliserVersion())
        .put("shards", parameters.shards().count())
        .put("falsePositiveRate", parameters.falsePositiveRate())
        .put("count", Long.toString(manifest.count()))
        .put("root", manifest.root())
        .put("pack", manifest.pack() == null ? null : manifest.pack().digest())
        .put("packBytes", Long.toString(manifest.packBytes()))
        .put("blobs", manifest.blobs() == null ? null : manifest.blobs().toString());
  }

  private static void follow(JsonNode request, ObjectNode answer) throws IOException {
    List<SnapshotSet> held = new ArrayList<>();
    if (request.has("from")) {
      held.add(SnapshotSet.openDirectory(path(request, "from"), OptionalLong.empty()));
    }
    SnapshotDirectory to = new SnapshotDirectory(path(request, "to"));
    SnapshotSet reached = CatchUp.to(to.latest(), held, to::blob).set();
    reached.verify();
    List<ShardTree.Leaf> leaves = Stream.of(reached.snapshots()).map(ShardTree.Leaf::of).toList();
    answer
        .put("root", ShardTree.root(leaves))
        .put("count", Long.toString(leaves.stream().mapToLong(ShardTree.Leaf::hashCount).sum()));
  }

  private static String text(JsonNode request, String field) {
    return request.required(field).textValue();
  }

  private static Path path(JsonNode request, String field) {
    return Path.of(text(request, field));
  }

  /** The bytes in the field of a name and {@code Hex}; none if there is no such field. */
  private static byte[] bytes(JsonNode request, String name) {
    return HEX.parseHex(request.path(name + "Hex").asText(""));
  }

  private static byte[] scope(JsonNode request) {
    return request.path("scope").asText("").getBytes(UTF_8);
  }

  private static KeyHash keyHash(JsonNode request) {
    String key = text(request, "hashKey");
    return switch (KeyHash.Algorithm.of(text(request, "algorithm"))) {
      case SIPHASH_2_4 -> KeyHash.parse(key);
      case XXH3_64 -> KeyHash.xxh3(Long.parseUnsignedLong(key));
    };
  }

  private static void strings(ArrayNode array, List<String> strings) {
    strings.forEach(array::add);
  }
}
