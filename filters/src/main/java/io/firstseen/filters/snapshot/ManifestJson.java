package io.firstseen.filters.snapshot;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.StreamWriteFeature;
import com.fasterxml.jackson.core.TreeNode;
import com.fasterxml.jackson.jr.stree.JacksonJrsTreeCodec;
import com.fasterxml.jackson.jr.stree.JrsNull;
import com.fasterxml.jackson.jr.stree.JrsNumber;
import com.fasterxml.jackson.jr.stree.JrsString;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Pattern;

/**
 * The JSON form of manifests; only this class contains the field names. Uses Jackson's small tree
 * model (jackson-jr): loading jackson-databind takes longer than all other work of a client's warm
 * start.
 */
final class ManifestJson {
  // Double.toString prints more digits than needed for some numbers in Java 17, but not from Java
  // 19 on. Jackson's fast writer prints the same on every version.
  private static final JsonFactory FACTORY =
      JsonFactory.builder()
          .enable(StreamWriteFeature.USE_FAST_DOUBLE_WRITER)
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
          .build();
  private static final JacksonJrsTreeCodec TREES = new JacksonJrsTreeCodec();
  private static final Pattern KEY_CHECK = Pattern.compile("[0-9a-f]{16}");
  private static final int MAX_QUOTED_CHARS = 60;

  private ManifestJson() {}

  static byte[] write(Manifest manifest) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (JsonGenerator json = FACTORY.createGenerator(out)) {
      json.writeStartObject();
      json.writeNumberField("format", Manifest.FORMAT);
      json.writeStringField("set", manifest.setName());
      json.writeNumberField("sequence", manifest.sequence());
      json.writeNumberField("windowStartMillis", manifest.windowStartMillis());
      json.writeNumberField("windowEndMillis", manifest.windowEndMillis());
      json.writeNumberField("publishedMillis", manifest.publishedMillis());
      if (manifest.expiresMillis() != null) {
        json.writeNumberField("expiresMillis", manifest.expiresMillis());
      }
      writeParameters(json, manifest.parameters());
      json.writeNumberField("count", manifest.count());
      if (manifest.blobs() != null) {
        json.writeStringField("blobs", manifest.blobs().toString());
      }
      json.writeArrayFieldStart("shards");
      for (ManifestShard shard : manifest.shards()) {
        json.writeStartObject();
        json.writeNumberField("shard", shard.shard());
        json.writeNumberField("count", shard.count());
        json.writeFieldName("base");
        writeBlob(json, shard.base());
        json.writeArrayFieldStart("deltas");
        for (BlobReference delta : shard.deltas()) {
          writeBlob(json, delta);
        }
        json.writeEndArray();
        json.writeEndObject();
      }
      json.writeEndArray();
      // The signature is the last field: it is made over the bytes before it.
      if (manifest.signature() != null) {
        json.writeObjectFieldStart("signature");
        json.writeStringField("key", manifest.signature().key());
        json.writeStringField("value", manifest.signature().value());
        json.writeEndObject();
      }
      json.writeEndObject();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return out.toByteArray();
  }

  private static void writeParameters(JsonGenerator json, SetParameters parameters)
      throws IOException {
    json.writeObjectFieldStart("parameters");
    json.writeStringField("hash", parameters.hashAlgorithm().id());
    json.writeStringField("keyCheck", HexFormat.of().toHexDigits(parameters.keyCheck()));
    json.writeStringField("canonicaliser", parameters.canonicaliser().id());
    json.writeNumberField("canonicaliserVersion", parameters.canonicaliserVersion());
    json.writeNumberField("shards", parameters.shards().count());
    json.writeNumberField("falsePositiveRate", parameters.falsePositiveRate());
    json.writeEndObject();
  }

  private static void writeBlob(JsonGenerator json, BlobReference blob) throws IOException {
    if (blob == null) {
      json.writeNull();
      return;
    }
    json.writeStartObject();
    json.writeStringField("digest", blob.digest());
    json.writeNumberField("bytes", blob.bytes());
    json.writeNumberField("count", blob.count());
    json.writeStringField("setDigest", blob.setDigest());
    if (blob.isDelta()) {
      json.writeStringField("parentSetDigest", blob.parentSetDigest());
    }
    json.writeNumberField("sequence", blob.sequence());
    json.writeEndObject();
  }

  static Manifest read(byte[] json) throws SnapshotException {
    Field root = new Field("manifest", parse(json));
    if (!root.node.isObject()) {
      throw root.mustBe("a JSON object");
    }
    long format = root.at("format").integer(1, Integer.MAX_VALUE);
    if (format > Manifest.FORMAT) {
      throw new UnsupportedSnapshotException(
          "the manifest has format "
              + format
              + ", this program reads formats up to "
              + Manifest.FORMAT);
    }
    SetParameters parameters = readParameters(root.at("parameters"));
    List<ManifestShard> shards = new ArrayList<>();
    for (Field shard : root.at("shards").elements()) {
      shards.add(readShard(shard));
    }
    try {
      return new Manifest(
          root.at("set").text(),
          root.at("sequence").integer(0, Long.MAX_VALUE),
          root.at("windowStartMillis").integer(Long.MIN_VALUE, Long.MAX_VALUE),
          root.at("windowEndMillis").integer(Long.MIN_VALUE, Long.MAX_VALUE),
          root.at("publishedMillis").integer(Long.MIN_VALUE, Long.MAX_VALUE),
          root.has("expiresMillis")
              ? root.at("expiresMillis").integer(Long.MIN_VALUE, Long.MAX_VALUE)
              : null,
          parameters,
          root.at("count").integer(0, Long.MAX_VALUE),
          root.has("blobs") ? readUri(root.at("blobs")) : null,
          shards,
          root.has("signature") ? readSignature(root.at("signature")) : null);
    } catch (IllegalArgumentException e) {
      throw new MalformedSnapshotException("manifest: " + e.getMessage(), e);
    }
  }

  private static URI readUri(Field field) throws MalformedSnapshotException {
    try {
      return new URI(field.text());
    } catch (URISyntaxException e) {
      throw field.mustBe("a URI");
    }
  }

  private static ManifestSignature readSignature(Field field) throws MalformedSnapshotException {
    String key = field.at("key").text();
    String value = field.at("value").text();
    try {
      return new ManifestSignature(key, value);
    } catch (IllegalArgumentException e) {
      throw new MalformedSnapshotException("manifest: signature: " + e.getMessage(), e);
    }
  }

  private static TreeNode parse(byte[] json) throws MalformedSnapshotException {
    try (JsonParser parser = FACTORY.createParser(json)) {
      if (parser.nextToken() == null) {
        throw new JsonParseException(parser, "it is empty");
      }
      TreeNode root = TREES.readTree(parser);
      if (parser.nextToken() != null) {
        throw new JsonParseException(
            parser, "something follows its end", parser.currentTokenLocation());
      }
      return root;
    } catch (JsonProcessingException e) {
      throw new MalformedSnapshotException(
          "the manifest is not JSON: "
              + e.getOriginalMessage()
              + (e.getLocation() == null ? "" : " at byte " + e.getLocation().getByteOffset()),
          e);
    } catch (IOException e) {
      // For example, the bytes are not UTF-8.
      throw new MalformedSnapshotException("the manifest is not JSON: " + e.getMessage(), e);
    }
  }

  private static SetParameters readParameters(Field field) throws SnapshotException {
    KeyHash.Algorithm hashAlgorithm;
    Canonicaliser canonicaliser;
    try {
      hashAlgorithm = KeyHash.Algorithm.of(field.at("hash").text());
      canonicaliser = Canonicaliser.of(field.at("canonicaliser").text());
    } catch (IllegalArgumentException e) {
      throw new UnsupportedSnapshotException("manifest: " + e.getMessage(), e);
    }
    Field keyCheck = field.at("keyCheck");
    if (!KEY_CHECK.matcher(keyCheck.text()).matches()) {
      throw keyCheck.mustBe("16 lower-case hexadecimal digits");
    }
    try {
      return new SetParameters(
          hashAlgorithm,
          HexFormat.fromHexDigitsToLong(keyCheck.text()),
          canonicaliser,
          (int) field.at("canonicaliserVersion").integer(1, 65_535),
          new Shards((int) field.at("shards").integer(1, Shards.MAX_COUNT)),
          field.at("falsePositiveRate").number());
    } catch (IllegalArgumentException e) {
      throw new MalformedSnapshotException("manifest: parameters: " + e.getMessage(), e);
    }
  }

  private static ManifestShard readShard(Field field) throws SnapshotException {
    Field base = field.at("base");
    List<BlobReference> deltas = new ArrayList<>();
    for (Field delta : field.at("deltas").elements()) {
      deltas.add(readBlob(delta, delta.at("parentSetDigest").text()));
    }
    try {
      return new ManifestShard(
          (int) field.at("shard").integer(0, Shards.MAX_COUNT - 1),
          field.at("count").integer(0, Long.MAX_VALUE),
          base.isNull() ? null : readBlob(base, null),
          deltas);
    } catch (IllegalArgumentException e) {
      throw new MalformedSnapshotException("manifest: " + field.path + ": " + e.getMessage(), e);
    }
  }

  private static BlobReference readBlob(Field field, String parentSetDigest)
      throws SnapshotException {
    try {
      return new BlobReference(
          field.at("digest").text(),
          field.at("bytes").integer(1, Integer.MAX_VALUE),
          field.at("count").integer(0, Long.MAX_VALUE),
          field.at("setDigest").text(),
          parentSetDigest,
          field.at("sequence").integer(0, Long.MAX_VALUE));
    } catch (IllegalArgumentException e) {
      throw new MalformedSnapshotException("manifest: " + field.path + ": " + e.getMessage(), e);
    }
  }

  /** A node of the document and its path. */
  private record Field(String path, TreeNode node) {

    Field at(String name) throws MalformedSnapshotException {
      if (!node.isObject()) {
        throw mustBe("an object");
      }
      String inner = path.equals("manifest") ? name : path + "." + name;
      TreeNode value = node.get(name);
      if (value == null) {
        throw new MalformedSnapshotException("manifest: the field " + inner + " is missing");
      }
      return new Field(inner, value);
    }

    boolean has(String name) {
      return node.get(name) != null;
    }

    List<Field> elements() throws MalformedSnapshotException {
      if (!node.isArray()) {
        throw mustBe("an array");
      }
      List<Field> elements = new ArrayList<>();
      for (int i = 0; i < node.size(); i++) {
        elements.add(new Field(path + "[" + i + "]", node.get(i)));
      }
      return elements;
    }

    String text() throws MalformedSnapshotException {
      if (node instanceof JrsString string) {
        return string.getValue();
      }
      throw mustBe("a string");
    }

    boolean isNull() {
      return node instanceof JrsNull;
    }

    long integer(long min, long max) throws MalformedSnapshotException {
      if (node instanceof JrsNumber number
          && (number.getValue() instanceof Integer || number.getValue() instanceof Long)) {
        long value = number.getValue().longValue();
        if (value >= min && value <= max) {
          return value;
        }
      }
      throw mustBe("an integer in [" + min + ", " + max + "]");
    }

    double number() throws MalformedSnapshotException {
      if (node instanceof JrsNumber number) {
        return number.getValue().doubleValue();
      }
      throw mustBe("a number");
    }

    MalformedSnapshotException mustBe(String expected) {
      String got = json(node);
      if (got.length() > MAX_QUOTED_CHARS) {
        got = got.substring(0, MAX_QUOTED_CHARS) + "…";
      }
      String what = path.equals("manifest") ? "a manifest" : "manifest: the field " + path;
      return new MalformedSnapshotException(what + " must be " + expected + ", got " + got);
    }

    private static String json(TreeNode node) {
      StringWriter out = new StringWriter();
      try (JsonGenerator json = FACTORY.createGenerator(out)) {
        TREES.writeTree(json, node);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      return out.toString();
    }
  }
}
