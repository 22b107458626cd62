package io.firstseen.operators.dedup;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.firstseen.filters.cuckoo.CuckooShape;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.near.NearRule;
import io.firstseen.operators.dedup.DedupTasks.Backend;
import io.firstseen.operators.dedup.ModelFilters.Kind;
import io.firstseen.serializers.Change;
import io.firstseen.types.DedupMode;
import io.firstseen.types.DedupParameters;
import io.firstseen.types.Operation;
import io.firstseen.types.TimeToLive;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The audit of near-duplicates against the similarities of all live texts. */
// Flink's harness may be interrupted while it closes.
@SuppressWarnings("try")
class NearAuditTest {
  private static final int SCALE = Integer.getInteger("firstseen.scale", 1);

  /** Shingles are words. Of two texts with the similarity 0.6, 95 % match. */
  private static final String ONE = "words:1,22x4,1";

  private static final String TWO = "words:1,36x4,2";

  /** So long that no lookup is wrong. */
  private static final int EXACT_BITS = 57;

  /** The first of many letters that the text rule keeps apart. */
  private static final char FIRST = '\u4E00';

  private static DedupParameters parameters(String rule, int identityBits, int slices) {
    return new DedupParameters(
            identityBits,
            8,
            "siphash-2-4",
            KeyHash.fixed().keyCheck(),
            "text",
            Canonicaliser.TEXT.version(),
            DedupMode.APPROXIMATE)
        .withNear(rule)
        .withAudit(slices);
  }

  private static Change<String> change(
      String rule, Operation operation, String scope, String text) {
    return NearDuplicatesTest.change(NearRule.of(rule), operation, scope, text);
  }

  private static String text(BitSet words) {
    return words.stream().mapToObj(word -> Character.toString(FIRST + word)).collect(joining(" "));
  }

  private static BitSet words(SplittableRandom random, int vocabulary) {
    BitSet words = new BitSet();
    while (words.cardinality() < 16) {
      words.set(random.nextInt(vocabulary));
    }
    return words;
  }

  private record Text(String scope, BitSet words, Change<String> change) {
    double similarity(Text other) {
      BitSet both = (BitSet) words.clone();
      both.and(other.words);
      int common = both.cardinality();
      return (double) common / (words.cardinality() + other.words.cardinality() - common);
    }
  }

  /** The live texts, and what the dedup made of new and similar texts. */
  private static final class Model {
    private static final int WORDS = 400;

    private final String name;
    private final NearRule rule;
    private final double resembling;
    private final double wrong;
    private final SplittableRandom random;
    private final Map<String, Map<String, Text>> live = new HashMap<>();
    private final List<Text> seen = new ArrayList<>();
    private long similar;
    private long missed;
    private long dropped;
    private long wronglyDropped;
    private long accepted;
    private long reported;

    Model(String name, long seed) {
      this.name = name;
      rule = NearRule.of(name);
      resembling = rule.similarityAt(0.95);
      wrong = rule.similarityAt(0.05);
      random = new SplittableRandom(seed);
    }

    /** New texts, near-duplicates, repeats and deletes. */
    void feed(DedupTasks tasks, int events) throws Exception {
      for (int i = 0; i < events; i++) {
        Text other = seen.isEmpty() ? null : seen.get(random.nextInt(seen.size()));
        int kind = other == null ? 7 : random.nextInt(8);
        if (kind < 3) {
          Operation operation = kind < 2 ? Operation.DELETE : Operation.ADD;
          String text = other.change.event();
          process(
              tasks,
              new Text(other.scope, other.words, change(name, operation, other.scope, text)));
          continue;
        }
        String scope = kind < 6 ? other.scope : "scope-" + random.nextInt(3);
        BitSet words = kind < 6 ? (BitSet) other.words.clone() : words(random, WORDS);
        for (int changes = kind < 6 ? random.nextInt(3, 5) : 0; changes > 0; changes--) {
          words.clear(words.nextSetBit(random.nextInt(words.length())));
          words.set(random.nextInt(WORDS));
        }
        Text text = new Text(scope, words, change(name, Operation.ADD, scope, text(words)));
        seen.add(text);
        process(tasks, text);
      }
    }

    private void process(DedupTasks tasks, Text text) throws Exception {
      Kind kind = tasks.process(text.change);
      Map<String, Text> texts = live.computeIfAbsent(text.scope, key -> new HashMap<>());
      if (kind == Kind.REMOVED) {
        texts.remove(text.change.event());
      }
      if (text.change.operation() == Operation.DELETE || texts.containsKey(text.change.event())) {
        return;
      }
      boolean isNew = kind == Kind.ACCEPTED;
      if (similarity(text, texts.values().stream()) >= resembling) {
        similar++;
        missed += isNew ? 1 : 0;
      }
      if (isNew) {
        accepted++;
        texts.put(text.change.event(), text);
      } else {
        dropped++;
        wronglyDropped += similarity(text, matches(text, texts.values())) < wrong ? 1 : 0;
        reported += kind == Kind.FALSELY_DROPPED ? 1 : 0;
      }
    }

    /** The texts with the first equal band of any text, or of the text with most equal bands. */
    private Stream<Text> matches(Text text, Collection<Text> texts) {
      Text best = texts.stream().max(Comparator.comparing(other -> equal(text, other))).get();
      for (int i = 0; i < rule.bands(); i++) {
        int band = i;
        long hash = text.change.bands()[i];
        List<Text> equal =
            texts.stream().filter(other -> other.change.bands()[band] == hash).toList();
        if (rule.matches() == 1 ? !equal.isEmpty() : equal.contains(best)) {
          return equal.stream();
        }
      }
      throw new AssertionError("dropped without a match: " + text.change.event());
    }

    private int equal(Text one, Text other) {
      int equal = 0;
      for (int i = 0; i < rule.bands(); i++) {
        equal += one.change.bands()[i] == other.change.bands()[i] ? 1 : 0;
      }
      return equal;
    }

    private static double similarity(Text text, Stream<Text> others) {
      return others.mapToDouble(text::similarity).max().orElse(0);
    }
  }

  /** With all hashes audited, the counts are of all texts. */
  @ParameterizedTest
  @EnumSource
  void countsWhatTheModelCountsAcrossBackendsAndScales(Backend first) throws Exception {
    Model model = new Model(ONE, 7);
    DedupTasks.State state = null;
    Backend backend = first;
    for (int parallelism : new int[] {1, 4, 2}) {
      DedupParameters parameters = parameters(ONE, EXACT_BITS, 1);
      try (DedupTasks tasks = new DedupTasks(backend, parameters, parallelism, state)) {
        model.feed(tasks, 500 * SCALE);
        // The heap backend returns copies of values that a checkpoint includes.
        tasks.savepoint();
        model.feed(tasks, 500 * SCALE);
        assertThat(tasks.sum("auditedDuplicates")).isEqualTo(model.dropped);
        assertThat(tasks.sum("auditedWrongDuplicates")).isEqualTo(model.wronglyDropped);
        assertThat(tasks.sum("auditedNewKeys")).isEqualTo(model.accepted + model.reported);
        assertThat(tasks.sum("auditedFalsePositives")).isZero();
        state = tasks.savepoint();
      }
      backend = backend.other();
    }
    assertThat(model.wronglyDropped).isGreaterThanOrEqualTo(model.reported);
    assertThat(model.reported).isGreaterThan(10);
  }

  @ParameterizedTest
  @CsvSource({"'words:1,22x4,1', 11", "'words:1,36x4,2', 12"})
  void theIntervalCoversThePrecisionOfTheWholeStream(String rule, long seed) throws Exception {
    Model model = new Model(rule, seed);
    DedupParameters parameters = parameters(rule, EXACT_BITS, 4);
    try (DedupTasks tasks = new DedupTasks(Backend.HEAP, parameters, 1, null)) {
      model.feed(tasks, 3_000 * SCALE);
      assertThat(1 - (double) model.wronglyDropped / model.dropped)
          .isLessThan(1)
          .isBetween(
              tasks.metrics().gauge("measuredPrecisionLow").doubleValue(),
              tasks.metrics().gauge("measuredPrecisionHigh").doubleValue());
      assertThat((double) tasks.sum("auditedDuplicates"))
          .isBetween(model.dropped / 5.0, model.dropped / 3.0);
    }
  }

  /** Pairs of texts whose similarity is just above the least that counts. */
  @ParameterizedTest
  @CsvSource({"'words:1,22x4,1', 21", "'words:1,36x4,2', 22"})
  void theIntervalCoversTheRecallOfTheWholeStream(String name, long seed) throws Exception {
    NearRule rule = NearRule.of(name);
    SplittableRandom random = new SplittableRandom(seed);
    int pairs = 3_000 * SCALE;
    int missed = 0;
    DedupParameters parameters = parameters(name, EXACT_BITS, 1);
    try (DedupTasks tasks = new DedupTasks(Backend.HEAP, parameters, 1, null)) {
      for (int i = 0; i < pairs; i++) {
        BitSet words = words(random, 10_000);
        tasks.process(change(name, Operation.ADD, "scope-" + i, text(words)));
        for (int changes = 0; changes < 4; changes++) {
          words.clear(words.nextSetBit(0));
          words.set(random.nextInt(10_000, 20_000));
        }
        Kind kind = tasks.process(change(name, Operation.ADD, "scope-" + i, text(words)));
        missed += kind == Kind.ACCEPTED ? 1 : 0;
      }
      TaskMetrics metrics = tasks.metrics();
      double recall = 1 - (double) missed / pairs;
      double low = metrics.gauge("measuredRecallLow").doubleValue();
      double high = metrics.gauge("measuredRecallHigh").doubleValue();
      assertThat(recall).isLessThan(0.97).isBetween(low, high);
      assertThat(metrics.gauge("auditedPredictedRecall").doubleValue()).isBetween(low, high);
      assertThat(tasks.sum("auditedMisses")).isPositive();
      double expected = pairs * Math.pow(rule.similarityAt(0.95), rule.rows());
      assertThat((double) tasks.sum("auditedNearDuplicates"))
          .isCloseTo(expected, within(6 * Math.sqrt(expected)));
    }
  }

  /** Unrelated texts in a filter that is far too small. */
  @ParameterizedTest
  @CsvSource({"'words:1,20x4,1', 0", "'words:1,32x4,2', 12"})
  void theIntervalCoversTheRateOfTheFilter(String name, int tagBits) throws Exception {
    SplittableRandom random = new SplittableRandom(5);
    int texts = 6_000 * SCALE;
    int dropped = 0;
    int reported = 0;
    int bits = CuckooShape.MIN_IDENTITY_BITS + tagBits;
    DedupParameters parameters = parameters(name, bits, 2);
    try (DedupTasks tasks = new DedupTasks(Backend.HEAP, parameters, 1, null)) {
      for (int i = 0; i < texts; i++) {
        String text = text(words(random, 20_000));
        Kind kind = tasks.process(change(name, Operation.ADD, "", text));
        dropped += kind == Kind.ACCEPTED ? 0 : 1;
        reported += kind == Kind.FALSELY_DROPPED ? 1 : 0;
        if (kind != Kind.ACCEPTED) {
          Kind again = tasks.process(change(name, Operation.ADD, "", text));
          assertThat(again).isEqualTo(Kind.DUPLICATE);
        }
      }
      TaskMetrics metrics = tasks.metrics();
      double low = metrics.gauge("measuredFalsePositiveRateLow").doubleValue();
      double high = metrics.gauge("measuredFalsePositiveRateHigh").doubleValue();
      assertThat((double) dropped / texts).isPositive().isBetween(low, high);
      assertThat(metrics.gauge("auditedPredictedRate").doubleValue()).isBetween(low, high);
      assertThat(tasks.sum("auditedFalsePositives")).isEqualTo(reported).isPositive();
      assertThat(metrics.count("falselyDropped")).isEqualTo(reported);
    }
  }

  /** The audit forgets texts when the filter does: each drop has its match. */
  @ParameterizedTest
  @EnumSource
  void expiresTextsLikeTheFilter(TimeToLive.Since since) throws Exception {
    TimeToLive ttl = new TimeToLive(80_000, TimeToLive.Clock.EVENT, since);
    SplittableRandom random = new SplittableRandom(6);
    BitSet[] groups = new BitSet[60];
    for (int i = 0; i < groups.length; i++) {
      groups[i] = words(random, 20_000);
    }
    for (String name : List.of(ONE, TWO)) {
      DedupParameters parameters = parameters(name, EXACT_BITS, 1).withTtl(ttl);
      try (DedupTasks tasks = new DedupTasks(Backend.HEAP, parameters, 1, null)) {
        int again = 0;
        for (int i = 0; i < 2_000; i++) {
          BitSet words = (BitSet) groups[random.nextInt(groups.length)].clone();
          words.clear(words.nextSetBit(random.nextInt(words.length())));
          Kind kind = tasks.process(change(name, Operation.ADD, "", text(words)), i * 400L);
          again += kind == Kind.ACCEPTED ? 1 : 0;
          tasks.watermark(i * 400L);
        }
        assertThat(again).isGreaterThan(groups.length);
        assertThat(tasks.sum("auditedDuplicates")).isGreaterThan(100);
        assertThat(tasks.sum("auditedWrongDuplicates")).isZero();
        assertThat(tasks.sum("auditedNearDuplicates")).isPositive();
        assertThat(tasks.sum("auditedMisses")).isZero();
        for (long later = 1; later < 400; later++) {
          tasks.watermark(800_000 + later * 10_000);
        }
        assertThat(tasks.namespaces("firstseen-audit")).isZero();
      }
    }
  }

  @Test
  void anAuditWithoutTextsKnowsNothing() throws Exception {
    DedupParameters parameters = parameters(ONE, EXACT_BITS, 1);
    try (DedupTasks tasks = new DedupTasks(Backend.HEAP, parameters, 1, null)) {
      for (String measured : List.of("measuredPrecision", "measuredRecall")) {
        assertThat(tasks.metrics().gauge(measured).doubleValue()).isEqualTo(1);
        assertThat(tasks.metrics().gauge(measured + "Low").doubleValue()).isZero();
        assertThat(tasks.metrics().gauge(measured + "High").doubleValue()).isEqualTo(1);
      }
    }
  }
}
