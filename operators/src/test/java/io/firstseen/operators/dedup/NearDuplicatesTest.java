package io.firstseen.operators.dedup;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.InvalidKeyException;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.ScopedKey;
import io.firstseen.filters.near.NearMatch;
import io.firstseen.filters.near.NearRule;
import io.firstseen.filters.near.TextSignature;
import io.firstseen.operators.dedup.DedupTasks.Backend;
import io.firstseen.operators.dedup.ModelFilters.Kind;
import io.firstseen.serializers.Change;
import io.firstseen.types.DedupMode;
import io.firstseen.types.DedupParameters;
import io.firstseen.types.Operation;
import io.firstseen.types.TimeToLive;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Near-duplicates of texts against a model that holds the same bands exactly. */
// Flink's harness may be interrupted while it closes.
@SuppressWarnings("try")
class NearDuplicatesTest {
  private static final int EVENTS = Integer.getInteger("firstseen.scale", 1) > 1 ? 12_000 : 800;
  private static final KeyHash HASH = KeyHash.fixed();

  private static DedupParameters parameters(NearRule rule, int shards) {
    return parameters(rule, shards, DedupMode.APPROXIMATE);
  }

  private static DedupParameters parameters(NearRule rule, int shards, DedupMode mode) {
    return parameters(rule, shards, mode, 0);
  }

  private static DedupParameters parameters(
      NearRule rule, int shards, DedupMode mode, int auditSlices) {
    return Firstseen.<String>withoutEvents()
        .canonicaliser(Canonicaliser.TEXT)
        .near(rule)
        .mode(mode)
        .audit(auditSlices)
        .capacity(10_000)
        // So low that no lookup is wrong.
        .falsePositiveRate(1e-9)
        .shards(shards)
        .parameters();
  }

  static Change<String> change(NearRule rule, Operation operation, String scope, String text) {
    try {
      byte[] form = Canonicaliser.TEXT.canonicalise(text.getBytes(UTF_8));
      long ofScope = HASH.hash(scope.getBytes(UTF_8));
      byte[] joined = ScopedKey.join(scope.getBytes(UTF_8), form);
      long[] hashes =
          new TextSignature(rule, HASH).hashesAndSample(form, ofScope, HASH.hash(joined));
      return new Change<>(operation, joined, ofScope, hashes, text);
    } catch (InvalidKeyException e) {
      throw new IllegalArgumentException(e);
    }
  }

  /** The bands of the live texts, each with the texts that have it. */
  private static final class Model {
    private static final int MAX_TEXTS_OF_BAND = 8;

    private final NearRule rule;
    // The digits of a text's id that are not known.
    private final int hidden;
    private final Map<Long, List<Long>> texts = new HashMap<>();
    private final Set<Long> live = new HashSet<>();
    private final Map<Kind, Integer> counts = new HashMap<>();
    // The matches that the last change may have.
    private Set<NearMatch> matches;

    Model(NearRule rule, DedupMode mode) {
      this.rule = rule;
      hidden = mode.isExact() ? 0 : 16 - rule.tagBits() / 4;
    }

    Kind apply(Change<String> change) {
      Kind kind = kind(change);
      counts.merge(kind, 1, Integer::sum);
      return kind;
    }

    private Kind kind(Change<String> change) {
      long text = change.keyHash();
      List<Long> bands = IntStream.range(0, rule.bands()).mapToObj(i -> change.bands()[i]).toList();
      matches = Collections.singleton(null);
      if (change.operation() == Operation.DELETE) {
        bands.forEach(band -> texts.getOrDefault(band, new ArrayList<>()).remove(text));
        return live.remove(text) ? Kind.REMOVED : Kind.UNKNOWN_DELETE;
      }
      Map<Long, Long> equal =
          bands.stream()
              .map(band -> texts.getOrDefault(band, List.of()))
              .filter(list -> list.size() < MAX_TEXTS_OF_BAND)
              .flatMap(List::stream)
              .collect(Collectors.groupingBy(each -> each, Collectors.counting()));
      Map<String, Long> tags = new HashMap<>();
      for (long band : bands) {
        List<Long> list = texts.getOrDefault(band, List.of());
        list.stream()
            .filter(unused -> list.size() < MAX_TEXTS_OF_BAND)
            .map(each -> "%016x".formatted(each).substring(hidden))
            .distinct()
            .forEach(tag -> tags.merge(tag, 1L, Long::sum));
      }
      long most = tags.values().stream().mapToLong(each -> each).max().orElse(0);
      matches =
          live.contains(text)
              ? Set.of(new NearMatch("%016x".formatted(text), rule.bands()))
              : tags.entrySet().stream()
                  .filter(tag -> tag.getValue() == most)
                  .map(tag -> new NearMatch(tag.getKey(), (int) most))
                  .collect(Collectors.toSet());
      if (live.contains(text)
          || equal.values().stream().anyMatch(count -> count >= rule.matches())) {
        return Kind.DUPLICATE;
      }
      matches = Set.of(new NearMatch("%016x".formatted(text), 0));
      live.add(text);
      for (long band : bands) {
        List<Long> list = texts.computeIfAbsent(band, unused -> new ArrayList<>());
        if (list.size() < MAX_TEXTS_OF_BAND) {
          list.add(text);
        }
      }
      return Kind.ACCEPTED;
    }
  }

  /** Groups of similar texts in a few scopes. */
  private static String text(SplittableRandom random) {
    SplittableRandom group = new SplittableRandom(random.nextInt(150));
    List<String> words = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      String word = Long.toString(group.nextLong(1 << 20), 36);
      words.add(random.nextInt(12) == 0 ? Long.toString(random.nextLong(1 << 20), 36) : word);
    }
    return String.join(" ", words);
  }

  @ParameterizedTest
  @CsvSource({
    "HEAP, short, APPROXIMATE",
    "ROCKSDB, short, APPROXIMATE",
    "HEAP, long, APPROXIMATE",
    "ROCKSDB, 'words:2,20x4,2', APPROXIMATE",
    "HEAP, short, EXACT",
    "ROCKSDB, long, EXACT",
  })
  void equalsTheModelAcrossBackendsAndScales(Backend first, String name, DedupMode mode)
      throws Exception {
    NearRule rule = NearRule.of(name);
    SplittableRandom random = new SplittableRandom(3);
    Model model = new Model(rule, mode);
    DedupParameters parameters = parameters(rule, 8, mode);
    if (mode.isExact()) {
      parameters = withShortIdentities(parameters);
    }
    DedupTasks.State state = null;
    Backend backend = first;
    List<Change<String>> seen = new ArrayList<>();
    for (int parallelism : new int[] {1, 4, 2}) {
      try (DedupTasks tasks = new DedupTasks(backend, parameters, parallelism, state)) {
        for (int i = 0; i < EVENTS; i++) {
          if (i == EVENTS / 2) {
            // The heap writes copies of the pages from now on.
            tasks.savepoint();
          }
          Change<String> change;
          if (!seen.isEmpty() && random.nextInt(3) == 0) {
            Change<String> earlier = seen.get(random.nextInt(seen.size()));
            change =
                new Change<>(
                    Operation.DELETE,
                    earlier.key(),
                    earlier.hash(),
                    earlier.bands(),
                    earlier.event());
          } else {
            change = change(rule, Operation.ADD, "scope-" + random.nextInt(5), text(random));
            seen.add(change);
          }
          assertThat(tasks.process(change)).as("event %d", i).isEqualTo(model.apply(change));
          assertThat(tasks.lastMatch()).as("event %d", i).isIn(model.matches);
        }
        if (mode.isExact()) {
          assertThat(tasks.sum("exactRescues")).isGreaterThan(EVENTS / 100);
        }
        state = tasks.savepoint();
      }
      backend = backend.other();
    }
    assertThat(model.counts.values()).hasSize(4).allMatch(count -> count > EVENTS / 20);
  }

  /** The cache has room for a few pages, and the bands of a text are on most pages. */
  @Test
  void anEventThatReadsAnyOfItsPagesIsAMiss() throws Exception {
    NearRule rule = NearRule.SHORT;
    SplittableRandom random = new SplittableRandom(4);
    try (DedupTasks tasks = new DedupTasks(Backend.ROCKSDB, parameters(rule, 1), 1, null)) {
      for (int i = 0; i < 1_000; i++) {
        tasks.process(change(rule, Operation.ADD, "", text(random)));
      }
      assertThat(tasks.sum("pages")).isEqualTo(4);
      long hits = tasks.sum("cacheHits");
      assertThat(hits).isLessThan(250);
      assertThat(hits + tasks.sum("cacheMisses")).isEqualTo(1_000);
    }
  }

  /** So short that the filter alone would drop many texts. */
  private static DedupParameters withShortIdentities(DedupParameters parameters) {
    return new DedupParameters(
        20,
        parameters.shardCount(),
        parameters.hashAlgorithm(),
        parameters.keyCheck(),
        parameters.canonicaliser(),
        parameters.canonicaliserVersion(),
        parameters.mode(),
        null,
        0,
        "",
        parameters.near());
  }

  /** Without the limit of texts per band, the pages of the footer's bands would overflow. */
  @Test
  void aCommonFooterMakesNoNearDuplicates() throws Exception {
    SplittableRandom random = new SplittableRandom(9);
    NearRule rule = NearRule.SHORT;
    int texts = 6_000;
    List<Change<String>> all = new ArrayList<>();
    try (DedupTasks tasks = new DedupTasks(Backend.HEAP, parameters(rule, 8), 1, null)) {
      int accepted = 0;
      for (int i = 0; i < texts; i++) {
        String body =
            random
                .ints(12, 0, 1 << 20)
                .mapToObj(n -> Integer.toString(n, 36))
                .collect(joining(" "));
        Change<String> change =
            change(rule, Operation.ADD, "", body + " reply stop to unsubscribe from this list");
        all.add(change);
        accepted += tasks.process(change) == Kind.ACCEPTED ? 1 : 0;
      }
      assertThat(accepted).isGreaterThan(texts * 99 / 100);
      for (Change<String> change : all.subList(texts - 100, texts)) {
        assertThat(tasks.process(change)).isEqualTo(Kind.DUPLICATE);
      }
    }
  }

  /** Both texts consist of the same shingles. */
  @Test
  void theDeleteOfATextWithAnEqualSignatureRemovesNothing() throws Exception {
    for (NearRule rule : List.of(NearRule.SHORT, NearRule.LONG)) {
      try (DedupTasks tasks = new DedupTasks(Backend.HEAP, parameters(rule, 8), 1, null)) {
        String first = rule == NearRule.SHORT ? "hahahaha" : "a b c a b c a b";
        String other = rule == NearRule.SHORT ? "hahahahahaha" : "a b c a b c a b c a b";
        assertThat(tasks.process(change(rule, Operation.ADD, "", first))).isEqualTo(Kind.ACCEPTED);
        assertThat(tasks.process(change(rule, Operation.ADD, "", other))).isEqualTo(Kind.DUPLICATE);
        assertThat(tasks.process(change(rule, Operation.DELETE, "", other)))
            .isEqualTo(Kind.UNKNOWN_DELETE);
        assertThat(tasks.process(change(rule, Operation.DELETE, "", first)))
            .isEqualTo(Kind.REMOVED);
        assertThat(tasks.process(change(rule, Operation.ADD, "", other))).isEqualTo(Kind.ACCEPTED);
      }
    }
  }

  /** One in 4,096 texts has the same tag. */
  @Test
  void theDeleteOfANearDuplicateWithTheTagOfItsMatchRemovesNothing() throws Exception {
    NearRule rule = NearRule.SHORT;
    String text = "your parcel waits, pay the fee now";
    Change<String> first = change(rule, Operation.ADD, "", text);
    String near = text;
    for (int i = 0; near.equals(text) || tag(rule, near) != tag(rule, text); i++) {
      near = text + " " + Integer.toString(i, 26).replace('0', 'z');
    }
    try (DedupTasks tasks = new DedupTasks(Backend.HEAP, parameters(rule, 8), 1, null)) {
      assertThat(tasks.process(first)).isEqualTo(Kind.ACCEPTED);
      for (int i = 0; i < 2; i++) {
        assertThat(tasks.process(change(rule, Operation.ADD, "", near))).isEqualTo(Kind.DUPLICATE);
        assertThat(tasks.process(change(rule, Operation.DELETE, "", near)))
            .isEqualTo(Kind.UNKNOWN_DELETE);
      }
    }
  }

  private static int tag(NearRule rule, String text) throws InvalidKeyException {
    return rule.tagOf(HASH.hash(Canonicaliser.TEXT.canonicalise(text.getBytes(UTF_8))));
  }

  /** The filter reports about one in 100 texts as live, by the hash of the whole text. */
  @Test
  void withOneMatchingBandTheDeletesOfRejectedTextsHarmNone() throws Exception {
    NearRule rule = NearRule.LONG;
    SplittableRandom random = new SplittableRandom(5);
    DedupParameters parameters = withShortIdentities(parameters(rule, 1));
    try (DedupTasks tasks = new DedupTasks(Backend.HEAP, parameters, 1, null)) {
      List<String> accepted = new ArrayList<>();
      int rejected = 0;
      for (int i = 0; i < 3_000; i++) {
        String text = text(random);
        if (tasks.process(change(rule, Operation.ADD, "", text)) == Kind.ACCEPTED) {
          accepted.add(text);
        } else if (!accepted.contains(text)) {
          rejected++;
          assertThat(tasks.process(change(rule, Operation.DELETE, "", text)))
              .isEqualTo(Kind.UNKNOWN_DELETE);
        }
      }
      assertThat(rejected).isGreaterThan(1_000);
      for (String text : accepted) {
        assertThat(tasks.process(change(rule, Operation.DELETE, "", text))).isEqualTo(Kind.REMOVED);
      }
      assertThat(tasks.sum("keys")).isZero();
    }
  }

  @Test
  void theFirstTextOfAGroupIsAcceptedUntilItIsDeleted() throws Exception {
    NearRule rule = NearRule.SHORT;
    String scope = "";
    try (DedupTasks tasks = new DedupTasks(Backend.HEAP, parameters(rule, 8), 1, null)) {
      Change<String> first =
          change(rule, Operation.ADD, scope, "Dear Anna, claim your FREE prize worth $500 today!");
      Change<String> near =
          change(rule, Operation.ADD, scope, "dear Robert, claim your free prize worth £20 today");
      Change<String> deleteOfNear =
          change(
              rule, Operation.DELETE, scope, "dear Robert, claim your free prize worth £20 today");
      Change<String> deleteOfFirst =
          change(
              rule, Operation.DELETE, scope, "Dear Anna, claim your FREE prize worth $500 today!");
      assertThat(tasks.process(first)).isEqualTo(Kind.ACCEPTED);
      assertThat(tasks.process(near)).isEqualTo(Kind.DUPLICATE);
      assertThat(
              tasks.process(
                  change(
                      rule,
                      Operation.ADD,
                      "other",
                      "dear Robert, claim your free prize worth £20 today")))
          .isEqualTo(Kind.ACCEPTED);
      assertThat(tasks.process(deleteOfNear)).isEqualTo(Kind.UNKNOWN_DELETE);
      assertThat(tasks.process(near)).isEqualTo(Kind.DUPLICATE);
      assertThat(tasks.process(deleteOfFirst)).isEqualTo(Kind.REMOVED);
      assertThat(tasks.process(near)).isEqualTo(Kind.ACCEPTED);
      assertThat(tasks.process(first)).isEqualTo(Kind.DUPLICATE);
    }
  }

  @ParameterizedTest
  @CsvSource({"FIRST_SEEN, ACCEPTED", "LAST_SEEN, DUPLICATE"})
  void aNearDuplicateRenewsTheTextThatItMatched(TimeToLive.Since since, Kind afterwards)
      throws Exception {
    NearRule rule = NearRule.SHORT;
    TimeToLive ttl = new TimeToLive(80_000, TimeToLive.Clock.EVENT, since);
    Change<String> first = change(rule, Operation.ADD, "", "your parcel waits, pay the fee now");
    Change<String> near = change(rule, Operation.ADD, "", "your parcel waits, pay the fee now!!");
    DedupParameters parameters = parameters(rule, 8).withTtl(ttl);
    try (DedupTasks tasks = new DedupTasks(Backend.HEAP, parameters, 1, null)) {
      assertThat(tasks.process(first, 0)).isEqualTo(Kind.ACCEPTED);
      tasks.watermark(60_000);
      assertThat(tasks.process(near, 60_000)).isEqualTo(Kind.DUPLICATE);
      tasks.watermark(100_000);
      assertThat(tasks.process(near, 100_000)).isEqualTo(afterwards);
      Change<String> delete =
          change(rule, Operation.DELETE, "", "your parcel waits, pay the fee now");
      assertThat(tasks.process(delete, 100_000))
          .isEqualTo(since == TimeToLive.Since.LAST_SEEN ? Kind.REMOVED : Kind.UNKNOWN_DELETE);
    }
  }

  /** The near-duplicate shares only some of the bands. */
  @ParameterizedTest
  @CsvSource({"HEAP, short", "ROCKSDB, long"})
  void inTheExactModeANearDuplicateRenewsTheWholeText(Backend backend, String name)
      throws Exception {
    NearRule rule = NearRule.of(name);
    TimeToLive ttl = new TimeToLive(80_000, TimeToLive.Clock.EVENT, TimeToLive.Since.LAST_SEEN);
    String text = "your parcel waits at the depot, pay the small fee at our page before noon";
    Change<String> first = change(rule, Operation.ADD, "", text);
    Change<String> near = change(rule, Operation.ADD, "", text + " today");
    DedupParameters parameters = parameters(rule, 8, DedupMode.EXACT).withTtl(ttl);
    String id = "%016x".formatted(first.keyHash());
    try (DedupTasks tasks = new DedupTasks(backend, parameters, 1, null)) {
      assertThat(tasks.process(first, 0)).isEqualTo(Kind.ACCEPTED);
      for (int i = 1; i <= 3; i++) {
        tasks.watermark(60_000 * i);
        assertThat(tasks.process(near, 60_000 * i)).isEqualTo(Kind.DUPLICATE);
        assertThat(tasks.lastMatch().text()).isEqualTo(id);
        assertThat(tasks.lastMatch().bands()).isBetween(rule.matches(), rule.bands() - 1);
        assertThat(tasks.process(first, 60_000 * i)).isEqualTo(Kind.DUPLICATE);
        assertThat(tasks.lastMatch()).isEqualTo(new NearMatch(id, rule.bands()));
      }
      assertThat(tasks.process(change(rule, Operation.DELETE, "", text), 200_000))
          .isEqualTo(Kind.REMOVED);
      assertThat(tasks.exactEntries()).isZero();
      assertThat(tasks.sum("keys")).isZero();
      assertThat(tasks.process(first, 200_000)).isEqualTo(Kind.ACCEPTED);
      tasks.watermark(400_000);
      assertThat(tasks.process(near, 400_000)).isEqualTo(Kind.ACCEPTED);
    }
  }

  @Test
  void stateOfAnotherRuleIsRejected() throws Exception {
    DedupTasks.State state;
    try (DedupTasks tasks = new DedupTasks(Backend.HEAP, parameters(NearRule.SHORT, 8), 1, null)) {
      tasks.process(change(NearRule.SHORT, Operation.ADD, "", "some text"));
      state = tasks.savepoint();
    }
    DedupParameters whole =
        Firstseen.<String>withoutEvents().canonicaliser(Canonicaliser.TEXT).shards(8).parameters();
    for (DedupParameters other : List.of(parameters(NearRule.LONG, 8), whole)) {
      assertThatThrownBy(() -> new DedupTasks(Backend.HEAP, other, 1, state).close())
          .hasMessageContaining("near (state: characters:4,32x5,2, job: ");
    }
  }

  @Test
  void whatNearNeedsIsChecked() {
    Firstseen<?> near = Firstseen.withoutEvents().near(NearRule.SHORT);
    assertThatThrownBy(near::parameters)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("canonicaliser text", "got none");
    near.canonicaliser(Canonicaliser.TEXT).mode(DedupMode.EXACT_KEYS);
    assertThatThrownBy(near::parameters)
        .hasMessageStartingWith(
            "near needs the mode approximate or exact, got the mode exact-keys");
    near.mode(DedupMode.APPROXIMATE);
    assertThatThrownBy(() -> near.falsePositiveRate(0.5).parameters())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("falsePositiveRate", "(0, 0.1]", "0.5");
    assertThatThrownBy(() -> near.falsePositiveRate(0.001).capacity(Long.MAX_VALUE).parameters())
        .hasMessageStartingWith("capacity must be at most 10,661,930,936 with near characters:4");
    assertThatThrownBy(() -> parameters(NearRule.SHORT, 1, DedupMode.EXACT, 16))
        .hasMessageStartingWith("audit needs the mode approximate, got exact, in which");
    assertThat(near.capacity(10_000_000_000L).parameters().identityBits()).isEqualTo(57);
  }
}
