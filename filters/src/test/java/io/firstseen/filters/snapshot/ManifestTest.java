package io.firstseen.filters.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ManifestTest {
  private static final String A = "a".repeat(64);
  private static final String B = "b".repeat(64);
  private static final String C = "c".repeat(64);
  private static final String D = "d".repeat(64);
  private static final BlobReference BASE = new BlobReference(A, 350, 42, B, 5);
  private static final BlobReference DELTA = new BlobReference(C, 231, 43, D, B, 7);
  private static final String SIGNATURE_VALUE = "A".repeat(86) + "==";
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private final Manifest manifest = manifest(0.001);
  private final Manifest full = full();
  private final byte[] json = full.toJson();

  @Test
  void hasTheDocumentedBytes() {
    String head =
        "{\"format\":1,\"set\":\"phishing\",\"sequence\":7,"
            + "\"windowStartMillis\":1700000000000,\"windowEndMillis\":1700003600000,"
            + "\"publishedMillis\":%s,"
            + "\"parameters\":{\"hash\":\"siphash-2-4\",\"keyCheck\":\"00000000000000ff\","
            + "\"canonicaliser\":\"url\",\"canonicaliserVersion\":1,\"shards\":2,"
            + "\"falsePositiveRate\":0.001},\"count\":43,";
    String base =
        "\"shards\":[{\"shard\":0,\"count\":43,\"base\":{\"digest\":\""
            + A
            + "\",\"bytes\":350,\"count\":42,\"setDigest\":\""
            + B
            + "\",\"sequence\":5},\"deltas\":[";
    String tail = "]},{\"shard\":1,\"count\":0,\"base\":null,\"deltas\":[]}]";
    String delta =
        "{\"digest\":\""
            + C
            + "\",\"bytes\":231,\"count\":43,\"setDigest\":\""
            + D
            + "\",\"parentSetDigest\":\""
            + B
            + "\",\"sequence\":7}";
    assertThat(new String(manifest.toJson(), StandardCharsets.UTF_8))
        .isEqualTo(head.formatted("0") + base + tail + "}");
    assertThat(new String(json, StandardCharsets.UTF_8))
        .isEqualTo(
            head.formatted("1700003661000,\"expiresMillis\":1700007261000")
                + "\"blobs\":\"s3://bucket/phishing/blobs\","
                + base
                + delta
                + tail
                + ",\"signature\":{\"key\":\"0123456789abcdef\",\"value\":\""
                + SIGNATURE_VALUE
                + "\"}}");
  }

  @Test
  void isReadBack() throws Exception {
    assertThat(Manifest.fromJson(json)).isEqualTo(full);
    assertThat(Manifest.fromJson(manifest.toJson())).isEqualTo(manifest);
    // White space and another order of fields are a reader's business, not a writer's.
    JsonNode root = MAPPER.readTree(json);
    ObjectNode turned = MAPPER.createObjectNode();
    List<String> names = new ArrayList<>();
    root.fieldNames().forEachRemaining(names::add);
    for (int i = names.size() - 1; i >= 0; i--) {
      turned.set(names.get(i), root.get(names.get(i)));
    }
    byte[] pretty = MAPPER.writerWithDefaultPrettyPrinter().writeValueAsBytes(turned);
    assertThat(Manifest.fromJson(pretty)).isEqualTo(full);
    assertThat(Manifest.fromJson(pretty).toJson()).isEqualTo(json);
  }

  @Test
  void aSignatureIsOverAllThatStandsBeforeIt() {
    String signed = new String(json, StandardCharsets.UTF_8);
    String unsigned = new String(full.withSignature(null).toJson(), StandardCharsets.UTF_8);
    assertThat(unsigned).endsWith("}");
    assertThat(signed).startsWith(unsigned.substring(0, unsigned.length() - 1) + ",\"signature\":");
    assertThat(full.withBlobs(URI.create("file:///elsewhere")).signature())
        .as("of another content")
        .isNull();
  }

  @ParameterizedTest
  @CsvSource({
    "s3://bucket/phishing, s3://bucket/phishing/",
    "s3://bucket/phishing/, s3://bucket/phishing/",
    "https://a.example:8080/x%20y, https://a.example:8080/x%20y/",
    "file:/var/blobs, file:/var/blobs/",
  })
  void saysWhereABlobLies(String directory, String before) throws Exception {
    Manifest elsewhere = manifest.withBlobs(URI.create(directory));
    assertThat(elsewhere.blobUri(A)).hasToString(before + A);
    assertThat(Manifest.fromJson(elsewhere.toJson()).blobUri(A)).hasToString(before + A);
    assertThatThrownBy(() -> manifest.blobUri(A)).isInstanceOf(IllegalStateException.class);
  }

  /** Each letter is a set; a base is its set and sequence, a delta both sets and its sequence. */
  @ParameterizedTest
  @CsvSource({
    "a1, ''",
    "a1, ab2",
    "a1, ab2 bc5",
    // The base beside a delta, and cut again later by its age.
    "b2, ab2 bc5",
    "b4, ab2 bc5",
    "c5, ab2 bc5",
    "c9, ab2 bc5",
    // Back to an earlier set, and a change of hashes that changes no value.
    "a1, ab2 ba3",
    "a3, ab2 ba3 ac4",
    "a1, aa2",
  })
  void takesChainsThatPassTheBase(String base, String deltas) {
    ManifestShard shard = chain(base, deltas);
    assertThat(shard.blobs()).hasSize(1 + shard.deltas().size()).startsWith(shard.base());
    assertThat(shard.newest()).isEqualTo(shard.blobs().get(shard.deltas().size()));
    String reached = shard.base().setDigest();
    for (BlobReference delta : shard.deltasBehindBase()) {
      assertThat(delta.parentSetDigest()).isEqualTo(reached);
      reached = delta.setDigest();
    }
    assertThat(reached).isEqualTo(shard.newest().setDigest());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "a1 | ab2 cd3 | deltas[1] of shard 0 must change the set that the one before leads to, bbb",
        "a1 | ab2 bc2 | deltas[1] of shard 0 must have a sequence above 2, that of the one before",
        "a1 | ab2 bc1 | deltas[1] of shard 0 must have a sequence above 2",
        "d1 | ab2 bc3 | the deltas of shard 0 must pass through the set of its base at the base's",
        "a2 | ab2 bc3 | must pass through the set of its base at the base's sequence, 2, got none",
        "b1 | ab2 bc3 | must pass through the set of its base",
        "b3 | ab2 bc3 | must pass through the set of its base",
        "c2 | ab2 bc3 | must pass through the set of its base",
        "a1 | b2 | deltas[0] of shard 0 must have a parentSetDigest",
        "ab1 | bc2 | the base of shard 0 must be a snapshot, got a delta",
      })
  void refusesChainsWithAGap(String base, String deltas, String sentence) {
    assertThatThrownBy(() -> chain(base, deltas))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(sentence);
  }

  private static ManifestShard chain(String base, String deltas) {
    List<BlobReference> references =
        deltas.isEmpty()
            ? List.of()
            : Arrays.stream(deltas.split(" ")).map(ManifestTest::reference).toList();
    return new ManifestShard(0, 5, reference(base), references);
  }

  private static BlobReference reference(String text) {
    String sequence = text.replaceAll("[a-z]", "");
    String sets = text.substring(0, text.length() - sequence.length());
    return new BlobReference(
        Sha256.hex(text.getBytes(StandardCharsets.UTF_8)),
        100,
        5,
        sets.substring(sets.length() - 1).repeat(64),
        sets.length() == 1 ? null : sets.substring(0, 1).repeat(64),
        Long.parseLong(sequence));
  }

  /** Double.toString prints the first in one digit more on Java 17 than on 19 and later. */
  @ParameterizedTest
  @CsvSource({
    "5.684341886080802E-14, 5.684341886080802E-14",
    "0.1, 0.1",
    "0.0009765625, 9.765625E-4",
    "0.01, 0.01",
    "1e-5, 1.0E-5",
  })
  void printsRatesTheSameOnEveryJava(double rate, String printed) throws Exception {
    byte[] bytes = manifest(rate).toJson();
    assertThat(new String(bytes, StandardCharsets.UTF_8))
        .contains("\"falsePositiveRate\":" + printed + "}");
    assertThat(Manifest.fromJson(bytes).parameters().falsePositiveRate()).isEqualTo(rate);
  }

  @Test
  void whatItSaysOfTheSetDependsOnNeitherTimeNorPlace() {
    Manifest later = full.withTimes(1_700_003_662_000L, null).withBlobs(null);
    assertThat(later.hasContentOf(full)).isTrue();
    assertThat(later.content().toJson()).isEqualTo(full.content().toJson());
    assertThat(manifest.hasContentOf(full)).as("other shards").isFalse();
    assertThat(full.withTimes(0, null).signature()).as("of another time").isNull();
  }

  @Test
  void ignoresUnknownFields() throws Exception {
    ObjectNode root = (ObjectNode) MAPPER.readTree(json);
    root.put("note", "abc");
    ((ObjectNode) root.get("signature")).put("algorithm", "Ed25519");
    ((ObjectNode) root.get("parameters")).put("ttl", 5);
    ((ObjectNode) root.get("shards").get(0)).put("note", "x");
    ((ObjectNode) root.get("shards").get(0).get("base")).putObject("place");
    assertThat(Manifest.fromJson(MAPPER.writeValueAsBytes(root))).isEqualTo(full);
  }

  @Test
  void namesEveryMissingField() throws Exception {
    List<String> pointers = fields(MAPPER.readTree(json), "");
    assertThat(pointers).hasSize(12 + 6 + 2 * 4 + 5 + 6 + 2);
    pointers.removeAll(List.of("/blobs", "/expiresMillis", "/signature"));
    for (String pointer : pointers) {
      JsonNode root = MAPPER.readTree(json);
      int slash = pointer.lastIndexOf('/');
      ((ObjectNode) root.at(pointer.substring(0, slash))).remove(pointer.substring(slash + 1));
      assertThatThrownBy(() -> Manifest.fromJson(MAPPER.writeValueAsBytes(root)))
          .isInstanceOf(MalformedSnapshotException.class)
          .hasMessage("manifest: the field " + path(pointer) + " is missing");
    }
  }

  @Test
  void namesEveryFieldOfAWrongType() throws Exception {
    for (String pointer : fields(MAPPER.readTree(json), "")) {
      for (String wrong : new String[] {"true", "1.5", "\"\"", "{}", "[1]", "null"}) {
        boolean allowed =
            (wrong.equals("null") && pointer.endsWith("/base"))
                || (wrong.equals("1.5") && pointer.endsWith("Rate"));
        if (allowed) {
          continue;
        }
        JsonNode root = MAPPER.readTree(json);
        int slash = pointer.lastIndexOf('/');
        String name = pointer.substring(slash + 1);
        ((ObjectNode) root.at(pointer.substring(0, slash))).set(name, MAPPER.readTree(wrong));
        assertThatThrownBy(() -> Manifest.fromJson(MAPPER.writeValueAsBytes(root)))
            .as("%s = %s", pointer, wrong)
            .isInstanceOfAny(MalformedSnapshotException.class, UnsupportedSnapshotException.class)
            .hasMessageStartingWith("manifest: ")
            .hasMessageContaining(sentenceName(pointer));
      }
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "/format | 2 | the manifest has format 2, this program reads formats up to 1",
        "/parameters/hash | \"md5\" | hash must be one of siphash-2-4, xxh3-64, got 'md5'",
        "/parameters/canonicaliser | \"soundex\" | canonicaliser must be one of none, url, text",
      })
  void leavesNewerOnesToNewerReaders(String pointer, String value, String sentence)
      throws Exception {
    assertThatThrownBy(() -> Manifest.fromJson(with(pointer, value)))
        .isInstanceOf(UnsupportedSnapshotException.class)
        .hasMessageContaining(sentence);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "/format | 0 | the field format must be an integer in [1, 2147483647], got 0",
        "/set | \"a/b\" | a set name must be 1 to 100 of the characters",
        "/sequence | -1 | the field sequence must be an integer in [0, 9223372036854775807]",
        "/sequence | 4 | the base of shard 0 must have a sequence of at most 4, got 5",
        "/sequence | 6 | the deltas of shard 0 must have a sequence of at most 6, got 7",
        "/blobs | \"\" | blobs must be the URI of a directory, such as s3://bucket/path, got ''",
        "/blobs | \"blobs/x\" | blobs must be the URI of a directory",
        "/blobs | \"mailto:a\" | blobs must be the URI of a directory",
        "/blobs | \"http://a.example/?x=1\" | blobs must be the URI of a directory",
        "/blobs | \"http://a.example/#x\" | blobs must be the URI of a directory",
        "/blobs | \"http://a b\" | the field blobs must be a URI, got \"http://a b\"",
        "/signature/key | \"0123\" | signature: key must be 16 lower-case hexadecimal digits",
        "/signature/value | \"AAAA\" | signature: value must be the Base64 form of 64 bytes",
        "/signature/value | \"@\" | signature: value must be the Base64 form of 64 bytes",
        "/shards/0/deltas/0/parentSetDigest | \"x\" | deltas[0]: parentSetDigest must be 64",
        "/shards/0/base/setDigest | \"REPEATED\" | shards[0]: the deltas of shard 0 must pass",
        "/sequence | 99999999999999999999 | the field sequence must be an integer in [0,",
        "/publishedMillis | -1 | publishedMillis must be in [0, 253402300799999], got -1",
        "/publishedMillis | 253402300800000 | publishedMillis must be in [0, 253402300799999]",
        "/expiresMillis | 1700003661000 | expiresMillis must be in [1700003661001, 253402300799999]",
        "/windowStartMillis | 1700003600001 | windowStartMillis must be at most windowEndMillis",
        "/count | 42 | count must be the sum over the shards, 43, got 42",
        "/shards | [] | shards must have 2 entries, got 0",
        "/shards/0/shard | 1 | shards[0] must be shard 0, got 1",
        "/shards/0/count | 1099511627777 | shards[0]: count must be in [0, 2^40]",
        "/shards/0/base | null | shards[0]: shard 0 must have a base, since it has keys or deltas",
        "/shards/0/base/digest | \"A\" | shards[0].base: digest must be 64 lower-case",
        "/shards/0/base/bytes | 0 | the field shards[0].base.bytes must be an integer in [1, 2147",
        "/shards/0/base/bytes | 2147483648 | the field shards[0].base.bytes must be an integer",
        "/parameters/shards | 3 | parameters: shards must be a power of two in [1, 65536], got 3",
        "/parameters/keyCheck | \"FF\" | keyCheck must be 16 lower-case hexadecimal digits",
        "/parameters/falsePositiveRate | 0.5 | falsePositiveRate must be in (0, 0.1], got 0.5",
      })
  void refusesContradictions(String pointer, String value, String sentence) throws Exception {
    byte[] changed = with(pointer, value.replace("REPEATED", "e".repeat(64)));
    assertThatThrownBy(() -> Manifest.fromJson(changed))
        .isInstanceOf(MalformedSnapshotException.class)
        .hasMessageStartingWith("manifest: ")
        .hasMessageContaining(sentence);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "null",
        "[]",
        "7",
        "\"x\"",
        "{",
        "{}x",
        "{} {}",
        "{\"format\":1,\"format\":1}",
        "\u0000",
        "{'format':1}",
      })
  void refusesWhatIsNoJsonObject(String text) {
    assertThatThrownBy(() -> Manifest.fromJson(text.getBytes(StandardCharsets.UTF_8)))
        .isInstanceOf(MalformedSnapshotException.class)
        .hasMessageMatching(
            "(a manifest must be a JSON object, got |the manifest is not JSON: ).*");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '^',
      value = {
        "^^ | the manifest is not JSON: it is empty at byte 0",
        "{} {} | the manifest is not JSON: something follows its end at byte 3",
      })
  void saysWhatIsWrongWithTheText(String text, String sentence) {
    assertThatThrownBy(() -> Manifest.fromJson(text.getBytes(StandardCharsets.UTF_8)))
        .isInstanceOf(MalformedSnapshotException.class)
        .hasMessage(sentence);
  }

  @Test
  void refusesHostileJsonWithoutHarm() {
    List<String> hostile =
        List.of(
            "[".repeat(100_000),
            "{\"format\":".repeat(100_000),
            "{\"format\":" + "9".repeat(1_000_000) + "}",
            "{\"format\":1e999999999}");
    for (String text : hostile) {
      assertThatThrownBy(() -> Manifest.fromJson(text.getBytes(StandardCharsets.UTF_8)))
          .isInstanceOf(MalformedSnapshotException.class)
          .satisfies(e -> assertThat(e.getMessage()).hasSizeLessThan(400));
    }
  }

  @Test
  void everyTruncationAndManyMutationsAreRefusedOrGiveAManifest() {
    for (int length = 0; length < json.length; length++) {
      byte[] truncated = Arrays.copyOf(json, length);
      assertThatThrownBy(() -> Manifest.fromJson(truncated))
          .isInstanceOf(MalformedSnapshotException.class);
    }
    SplittableRandom random = new SplittableRandom(61);
    int refused = 0;
    for (int i = 0; i < 20_000; i++) {
      byte[] mutated = json.clone();
      mutated[random.nextInt(json.length)] = (byte) random.nextInt(256);
      try {
        Manifest read = Manifest.fromJson(mutated);
        assertThat(Manifest.fromJson(read.toJson())).isEqualTo(read);
      } catch (MalformedSnapshotException | UnsupportedSnapshotException e) {
        refused++;
      } catch (SnapshotException e) {
        throw new AssertionError("refused without a type", e);
      }
    }
    assertThat(refused).isBetween(10_000, 19_999);
  }

  private static Manifest manifest(double falsePositiveRate) {
    SetParameters parameters =
        new SetParameters(
            KeyHash.Algorithm.SIPHASH_2_4,
            255,
            Canonicaliser.URL,
            1,
            new Shards(2),
            falsePositiveRate);
    return Manifest.of(
        "phishing",
        7,
        1_700_000_000_000L,
        1_700_003_600_000L,
        parameters,
        List.of(ManifestShard.of(0, 43, BASE), ManifestShard.empty(1)));
  }

  private static Manifest full() {
    Manifest bases = manifest(0.001);
    ManifestShard shard = new ManifestShard(0, 43, BASE, List.of(DELTA));
    return Manifest.of(
            "phishing",
            7,
            bases.windowStartMillis(),
            bases.windowEndMillis(),
            bases.parameters(),
            List.of(shard, ManifestShard.empty(1)))
        .withTimes(1_700_003_661_000L, 1_700_007_261_000L)
        .withBlobs(URI.create("s3://bucket/phishing/blobs"))
        .withSignature(new ManifestSignature("0123456789abcdef", SIGNATURE_VALUE));
  }

  private byte[] with(String pointer, String value) throws Exception {
    JsonNode root = MAPPER.readTree(json);
    int slash = pointer.lastIndexOf('/');
    ((ObjectNode) root.at(pointer.substring(0, slash)))
        .set(pointer.substring(slash + 1), MAPPER.readTree(value));
    return MAPPER.writeValueAsBytes(root);
  }

  /** JSON pointers to all fields of all objects. */
  private static List<String> fields(JsonNode node, String pointer) {
    List<String> pointers = new ArrayList<>();
    if (node instanceof ObjectNode object) {
      object
          .properties()
          .forEach(
              field -> {
                pointers.add(pointer + "/" + field.getKey());
                pointers.addAll(fields(field.getValue(), pointer + "/" + field.getKey()));
              });
    } else if (node instanceof ArrayNode array) {
      for (int i = 0; i < array.size(); i++) {
        pointers.addAll(fields(array.get(i), pointer + "/" + i));
      }
    }
    return pointers;
  }

  private static String path(String pointer) {
    return pointer.substring(1).replaceAll("/(\\d+)", "[$1]").replace('/', '.');
  }

  private static String sentenceName(String pointer) {
    return pointer.substring(pointer.lastIndexOf('/') + 1);
  }
}
