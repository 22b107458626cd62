package io.firstseen.filters.key;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Holds {@code conformance/vectors} and the code together. */
class UrlVectorsTest {
  private static final Path VECTORS = Path.of("../conformance/vectors");

  private static JsonNode file(Canonicaliser canonicaliser) throws IOException {
    return new ObjectMapper()
        .readTree(VECTORS.resolve(ProtocolNames.of(canonicaliser) + ".json").toFile());
  }

  private static final List<Canonicaliser> RULES =
      List.of(
          Canonicaliser.of("url-2"),
          Canonicaliser.URL,
          Canonicaliser.of("url-expression-1"),
          Canonicaliser.URL_EXPRESSION);

  private static Stream<JsonNode> vectors(Canonicaliser canonicaliser, String array)
      throws IOException {
    return StreamSupport.stream(file(canonicaliser).required(array).spliterator(), false);
  }

  private static Stream<Arguments> keys() throws IOException {
    List<Arguments> keys = new ArrayList<>();
    for (Canonicaliser rule : RULES) {
      vectors(rule, "keys")
          .map(
              v ->
                  Arguments.of(
                      v.has("strip") ? rule.stripping(v.get("strip").textValue()) : rule, v))
          .forEach(keys::add);
    }
    return keys.stream();
  }

  private static Stream<Arguments> urls() throws IOException {
    return RULES.stream()
        .filter(rule -> rule.is(Canonicaliser.URL_EXPRESSION))
        .flatMap(
            rule -> {
              try {
                return vectors(rule, "urls").map(vector -> Arguments.of(rule, vector));
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
            });
  }

  private static Stream<JsonNode> registrableDomains() throws IOException {
    return vectors(Canonicaliser.of("url-expression-1"), "registrableDomains");
  }

  @Test
  void thereAreEnoughAndOfTheVersionsHere() throws IOException {
    assertThat(keys().count() + urls().count() + registrableDomains().count()).isGreaterThan(500);
    for (Canonicaliser rule : RULES) {
      assertThat(file(rule).required("canonicaliser").textValue())
          .isEqualTo(ProtocolNames.of(rule));
      assertThat(file(rule).required("version").intValue()).isEqualTo(rule.version());
      assertThat(vectors(rule, "keys").filter(v -> v.required("form").isNull()).count())
          .isGreaterThan(10);
    }
  }

  /** The field is the text of files, which holds no {@code common}. */
  @Test
  void manyStripParametersByPatternsInTheirOneForm() throws IOException {
    List<String> patterns =
        vectors(Canonicaliser.of("url-2"), "keys")
            .filter(v -> v.has("strip"))
            .map(v -> v.get("strip").textValue())
            .toList();
    assertThat(patterns).hasSizeGreaterThan(30);
    assertThat(patterns)
        .allSatisfy(
            text ->
                assertThat(Canonicaliser.URL.stripping(text).strippedParameters()).isEqualTo(text));
  }

  @ParameterizedTest
  @MethodSource("keys")
  void aKeyHasTheFormOfItsVectorOrNone(Canonicaliser canonicaliser, JsonNode vector)
      throws InvalidKeyException {
    byte[] key =
        vector.has("key")
            ? vector.get("key").textValue().getBytes(UTF_8)
            : HexFormat.of().parseHex(vector.required("keyHex").textValue());
    if (vector.required("form").isNull()) {
      assertThatThrownBy(() -> canonicaliser.canonicalise(key))
          .isInstanceOf(InvalidKeyException.class);
    } else {
      byte[] form = vector.get("form").textValue().getBytes(UTF_8);
      assertThat(canonicaliser.canonicalise(key))
          .asString(UTF_8)
          .isEqualTo(new String(form, UTF_8));
      assertThat(canonicaliser.canonicalise(again(canonicaliser, form))).isEqualTo(form);
    }
  }

  /**
   * Returns a key with this canonical form; the key of an entry needs a scheme, so that it is not a
   * pattern.
   */
  private static byte[] again(Canonicaliser canonicaliser, byte[] form) {
    return canonicaliser.is(Canonicaliser.URL_EXPRESSION)
        ? ("http://" + new String(form, UTF_8)).getBytes(UTF_8)
        : form;
  }

  @ParameterizedTest
  @MethodSource("urls")
  void aUrlHasTheExpressionsOfItsVector(Canonicaliser rule, JsonNode vector)
      throws InvalidKeyException {
    if (vector.required("expressions").isNull()) {
      byte[] refused = vector.required("url").textValue().getBytes(UTF_8);
      assertThatThrownBy(() -> UrlExpressions.of(refused)).isInstanceOf(InvalidKeyException.class);
      return;
    }
    List<String> expected =
        StreamSupport.stream(vector.required("expressions").spliterator(), false)
            .map(JsonNode::textValue)
            .toList();
    byte[] url = vector.required("url").textValue().getBytes(UTF_8);
    assertThat(UrlExpressions.of(url).forVersion(rule.version()).asList()).isEqualTo(expected);
  }

  @ParameterizedTest
  @MethodSource("registrableDomains")
  void aHostHasTheRegistrableDomainOfItsVector(JsonNode vector) {
    String host = vector.required("host").textValue();
    int start = PublicSuffixes.bundled().registrableStart(host);
    assertThat(start < 0 ? null : host.substring(start))
        .isEqualTo(vector.required("registrableDomain").textValue());
  }

  /**
   * A new public suffix list may change the expressions; then the page, the vectors and this
   * version change.
   */
  @Test
  void thePublicSuffixListIsThatOfTheVectors() throws IOException {
    assertThat(file(Canonicaliser.of("url-expression-1")).required("publicSuffixList").textValue())
        .isEqualTo(PublicSuffixes.bundled().version());
    assertThat(Path.of("../docs/format/url-expression-v2.md"))
        .content()
        .contains("version " + PublicSuffixes.bundled().version());
  }
}
