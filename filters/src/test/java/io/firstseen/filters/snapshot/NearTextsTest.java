package io.firstseen.filters.snapshot;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.filters.gcs.Universe;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.InvalidKeyException;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.ScopedKey;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.near.NearRule;
import io.firstseen.filters.near.TextSignature;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NearTextsTest {
  private static final KeyHash HASH = KeyHash.parse("000102030405060708090a0b0c0d0e0f");
  private static final String OFFER =
      "dear customer claim your free prize worth 500 dollars before the offer ends tomorrow";

  private static SetParameters parameters(NearRule rule, int shards) {
    return SetParameters.of(HASH, Canonicaliser.TEXT, new Shards(shards), rule.elementRate(0.001))
        .withNear(rule);
  }

  private static byte[] form(String text) throws InvalidKeyException {
    return Canonicaliser.TEXT.canonicalise(text.getBytes(UTF_8));
  }

  private static Collection<Long> elements(NearRule rule, String scope, List<String> texts)
      throws InvalidKeyException {
    TextSignature signature = new TextSignature(rule, HASH);
    Collection<Long> elements = new LinkedHashSet<>();
    for (String text : texts) {
      byte[] joined = ScopedKey.join(scope.getBytes(UTF_8), form(text));
      Arrays.stream(signature.elements(joined)).forEach(elements::add);
    }
    return elements;
  }

  private static SnapshotSet set(NearRule rule, int shards, Collection<Long> elements)
      throws Exception {
    PublishedSet published = new PublishedSet("spam", parameters(rule, shards));
    return SnapshotSet.open(published.window(1, elements), published);
  }

  private static String words(SplittableRandom random, int count) {
    List<String> words = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      words.add(Long.toString(random.nextLong(1L << 20), 36));
    }
    return String.join(" ", words);
  }

  /** The definition of the format page: a band has a tag if the element of both is present. */
  private static int byDefinition(SnapshotSet set, NearRule rule, String text) throws Exception {
    byte[] form = form(text);
    if (set.mightContain(HASH.hash(form))) {
      return rule.bands();
    }
    int[] equal = new int[1 << rule.tagBits()];
    for (long band : new TextSignature(rule, HASH).bands(form, HASH.hash(new byte[0]))) {
      int[] tags =
          IntStream.range(0, equal.length)
              .filter(tag -> set.mightContain(rule.element(band, tag)))
              .toArray();
      if (tags.length < 8) {
        Arrays.stream(tags).forEach(tag -> equal[tag]++);
      }
    }
    int most = Arrays.stream(equal).max().getAsInt();
    return most >= rule.matches() ? most : 0;
  }

  @ParameterizedTest
  @CsvSource({
    "short, 1, 5",
    "short, 4, 300",
    "short, 1024, 20",
    "long, 2, 300",
    "'characters:3,20x2,2', 8, 200"
  })
  void findsTheTextsThatTheDefinitionFinds(String name, int shards, int count) throws Exception {
    NearRule rule = NearRule.of(name);
    SplittableRandom random = new SplittableRandom(7);
    List<String> texts = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      texts.add(words(random, 30));
    }
    PublishedSet published = new PublishedSet("spam", parameters(rule, shards));
    Manifest first = published.window(1, elements(rule, "", texts.subList(0, count - count / 5)));
    SnapshotSet before = SnapshotSet.open(first, published);
    Manifest second = published.window(2, elements(rule, "", texts.subList(count / 5, count)));
    SnapshotSet after = CatchUp.to(second, List.of(before), published).set();
    NearTexts near = NearTexts.of(after, HASH);
    int found = 0;
    int asked = Math.min(6 * Integer.getInteger("firstseen.scale", 1), count);
    for (int i = 0; i < asked; i++) {
      String text = texts.get(i * (count / asked));
      String variant = text.replaceFirst("\\w+ \\w+", words(random, 1)) + "!";
      for (String each : List.of(text, variant, words(random, 30))) {
        int equal = near.resembles(null, each.getBytes(UTF_8));
        assertThat(equal).isEqualTo(byDefinition(after, rule, each));
        found += equal > 0 ? 1 : 0;
      }
    }
    assertThat(found).isBetween(asked, 2 * asked);
  }

  @Test
  void aTextResemblesLiveTextsOfItsScope() throws Exception {
    NearTexts near =
        NearTexts.of(
            set(NearRule.SHORT, 16, elements(NearRule.SHORT, "mail", List.of(OFFER))), HASH);
    byte[] scope = "mail".getBytes(UTF_8);
    byte[] variant = (OFFER + "!!").replace("500", "£20").getBytes(UTF_8);
    assertThat(near.resembles(scope, OFFER.toUpperCase(Locale.ROOT).getBytes(UTF_8))).isEqualTo(32);
    assertThat(near.resembles(scope, variant)).isBetween(2, 31);
    assertThat(near.resembles(null, variant)).isZero();
    assertThat(near.resembles(scope, "see you at noon".getBytes(UTF_8))).isZero();
    assertThatThrownBy(() -> near.resembles(scope, new byte[0]))
        .isInstanceOf(InvalidKeyException.class);
    assertThatThrownBy(() -> near.resembles(scope, new byte[] {(byte) 0xFF}))
        .isInstanceOf(InvalidKeyException.class);
  }

  @Test
  void aBandOfManyTextsIsIgnored() throws Exception {
    SplittableRandom random = new SplittableRandom(1);
    for (int count : new int[] {7, 60}) {
      List<String> texts = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        texts.add(OFFER + " " + words(random, 4));
      }
      NearTexts near =
          NearTexts.of(set(NearRule.SHORT, 1, elements(NearRule.SHORT, "", texts)), HASH);
      assertThat(near.resembles(null, (OFFER + " " + words(random, 4)).getBytes(UTF_8)) > 0)
          .isEqualTo(count == 7);
    }
  }

  @Test
  void theRuleIsStoredAndNeedsTheTextRuleAndRoomForTags() throws Exception {
    SetParameters parameters = parameters(NearRule.SHORT, 4);
    Manifest manifest = new PublishedSet("spam", parameters).window(1, List.of(1L, 1L << 60));
    assertThat(Manifest.read(manifest.toBytes())).isEqualTo(manifest);
    SnapshotParameters one =
        new SnapshotParameters(parameters(NearRule.LONG, 1), "spam", 0, 1, 0, 0);
    Snapshot snapshot = Snapshot.build(new long[] {1, 2}, one);
    assertThat(Snapshot.read(snapshot.toBytes()).header().parameters()).isEqualTo(one);
    assertThat(NearTexts.of(snapshot, HASH).rule()).isEqualTo(NearRule.LONG);
    assertThatThrownBy(
            () ->
                SetParameters.of(HASH, Canonicaliser.URL, new Shards(1), 0.1)
                    .withNear(NearRule.LONG))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("canonicaliser text", "got url");
    assertThatThrownBy(
            () ->
                Snapshot.build(
                    new long[] {1},
                    new Universe(1, (1L << 34) - 1),
                    new SnapshotParameters(parameters, "spam", 0, 1, 0, 0)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("17179869183", "characters:4,32x5,2", "4 shards");
  }

  @Test
  void aSetWithoutARuleOrWithAnotherHashKeyCannotBeAsked() throws Exception {
    SnapshotSet set = set(NearRule.LONG, 2, List.of(1L, -1L));
    assertThatThrownBy(() -> NearTexts.of(set, KeyHash.fixed()))
        .isInstanceOf(HashKeyMismatchException.class);
    assertThatThrownBy(() -> NearTexts.of(set.snapshot(0), HASH))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("all shards", "shard 0 of 2");
    PublishedSet keys =
        new PublishedSet("keys", SetParameters.of(HASH, Canonicaliser.TEXT, new Shards(1), 0.001));
    SnapshotSet plain = SnapshotSet.open(keys.window(1, List.of(1L)), keys);
    assertThatThrownBy(() -> NearTexts.of(plain, HASH))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("'keys'", "near-duplicates", "--near");
  }
}
