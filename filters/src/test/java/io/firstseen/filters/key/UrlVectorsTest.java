package io.firstseen.filters.key;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
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
    return new ObjectMapper().readTree(VECTORS.resolve(canonicaliser.id() + ".json").toFile());
  }

  private static Stream<JsonNode> vectors(Canonicaliser canonicaliser, String array)
      throws IOException {
    return StreamSupport.stream(file(canonicaliser).required(array).spliterator(), false);
  }

  private static Stream<Arguments> keys() throws IOException {
    Stream<Arguments> urls =
        vectors(Canonicaliser.URL, "keys")
            .map(
                v ->
                    v.has("strip")
                        ? Arguments.of(Canonicaliser.URL.stripping(v.get("strip").textValue()), v)
                        : Arguments.of(Canonicaliser.URL, v));
    Stream<Arguments> entries =
        vectors(Canonicaliser.URL_EXPRESSION, "keys")
            .map(v -> Arguments.of(Canonicaliser.URL_EXPRESSION, v));
    return Stream.concat(urls, entries);
  }

  private static Stream<JsonNode> urls() throws IOException {
    return vectors(Canonicaliser.URL_EXPRESSION, "urls");
  }

  private static Stream<JsonNode> registrableDomains() throws IOException {
    return vectors(Canonicaliser.URL_EXPRESSION, "registrableDomains");
  }

  @Test
  void thereAreEnoughAndOfTheVersionsHere() throws IOException {
    assertThat(keys().count() + urls().count() + registrableDomains().count()).isGreaterThan(500);
    for (Canonicaliser rule : List.of(Canonicaliser.URL, Canonicaliser.URL_EXPRESSION)) {
      assertThat(file(rule).required("canonicaliser").textValue()).isEqualTo(rule.id());
      assertThat(file(rule).required("version").intValue()).isEqualTo(rule.version());
      assertThat(vectors(rule, "keys").filter(v -> v.required("form").isNull()).count())
          .isGreaterThan(50);
    }
  }

  /** The field is the text of files, which holds no {@code common}. */
  @Test
  void manyStripParametersByPatternsInTheirOneForm() throws IOException {
    List<String> patterns =
        vectors(Canonicaliser.URL, "keys")
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

  /** The key of which a form is the form; that of an entry needs a scheme to be no pattern. */
  private static byte[] again(Canonicaliser canonicaliser, byte[] form) {
    return canonicaliser.equals(Canonicaliser.URL_EXPRESSION)
        ? ("http://" + new String(form, UTF_8)).getBytes(UTF_8)
        : form;
  }

  @ParameterizedTest
  @MethodSource("urls")
  void aUrlHasTheExpressionsOfItsVector(JsonNode vector) throws InvalidKeyException {
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
    assertThat(UrlExpressions.of(url).asList()).isEqualTo(expected);
  }

  @ParameterizedTest
  @MethodSource("registrableDomains")
  void aHostHasTheRegistrableDomainOfItsVector(JsonNode vector) {
    String host = vector.required("host").textValue();
    int start = PublicSuffixes.bundled().registrableStart(host);
    assertThat(start < 0 ? null : host.substring(start))
        .isEqualTo(vector.required("registrableDomain").textValue());
  }

  /** A new list may change what is asked; then the page, the vectors and this version change. */
  @Test
  void thePublicSuffixListIsThatOfTheVectors() throws IOException {
    assertThat(file(Canonicaliser.URL_EXPRESSION).required("publicSuffixList").textValue())
        .isEqualTo(PublicSuffixes.bundled().version());
    assertThat(Path.of("../docs/format/url-expression-v1.md"))
        .content()
        .contains("version " + PublicSuffixes.bundled().version());
  }
}
