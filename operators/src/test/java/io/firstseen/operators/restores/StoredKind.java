package io.firstseen.operators.restores;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.near.NearRule;
import io.firstseen.operators.dedup.Firstseen;
import io.firstseen.types.DedupMode;
import io.firstseen.types.TimeToLive;
import io.firstseen.types.TimeToLive.Clock;
import io.firstseen.types.TimeToLive.Since;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The kind of dedup of a stored savepoint, the events from which it was created, and the events
 * that reveal its contents.
 */
enum StoredKind {
  PLAIN(StoredKind::precise),

  /** So short identities that the filter alone would drop new keys. */
  EXACT(dedup -> dedup.mode(DedupMode.EXACT).capacity(10).falsePositiveRate(0.1)),
  EXACT_KEYS(dedup -> dedup.mode(DedupMode.EXACT_KEYS).capacity(10).falsePositiveRate(0.1)),
  AUDIT(dedup -> precise(dedup).audit(1)),
  TTL_EVENT(dedup -> precise(dedup).ttl(TimeToLive.of(Duration.ofHours(8)))) {
    @Override
    EventScript script(List<String> keys) {
      EventScript script = new EventScript().at(FIRST_HOUR);
      earlier(keys).forEach(script::add);
      script.at(FIRST_HOUR + 4 * HOUR);
      later(keys).forEach(script::add);
      return deleteFirstQuarter(script, keys);
    }

    /** Those of the first hour first live, and are due after nine hours; the others are not. */
    @Override
    EventScript probe(EventScript script, List<String> keys) {
      keys.subList(keys.size() / 4, keys.size()).forEach(script::add);
      return script
          .at(FIRST_HOUR + 10 * HOUR)
          .add("the first that is as late, ahead of its watermark")
          .forget(earlier(keys))
          .probe(keys, ABSENT_KEYS);
    }
  },

  /** As long as these files will be tested. */
  TTL_PROCESSING(
      dedup ->
          precise(dedup)
              .ttl(
                  TimeToLive.of(Duration.ofDays(36_500))
                      .by(Clock.PROCESSING)
                      .since(Since.LAST_SEEN))),

  NEAR(dedup -> precise(dedup).canonicaliser(Canonicaliser.TEXT).near(NearRule.SHORT)),

  /** The entries of texts contain their bands. */
  NEAR_EXACT(
      dedup ->
          TTL_PROCESSING
              .dedup
              .apply(dedup)
              .mode(DedupMode.EXACT)
              .canonicaliser(Canonicaliser.TEXT)
              // The rule "long" when the savepoints were made.
              .near(NearRule.of("words:3,18x8,1")));

  private static final long HOUR = 3_600_000;
  private static final long FIRST_HOUR = 480_000 * HOUR;
  private static final int ABSENT_KEYS = 1_000;

  @SuppressWarnings("ImmutableEnumChecker") // Functions without state.
  final UnaryOperator<Firstseen<KeyEvent>> dedup;

  StoredKind(UnaryOperator<Firstseen<KeyEvent>> dedup) {
    this.dedup = dedup;
  }

  /** The name in {@code contents.properties}, and at the end of the directory's. */
  String id() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  static StoredKind of(String id) {
    return valueOf(id.toUpperCase(Locale.ROOT).replace('-', '_'));
  }

  boolean isOfTexts() {
    return this == NEAR || this == NEAR_EXACT;
  }

  /** The keys of shards. */
  List<String> keys(int shards, int... keysOfShards) {
    return isOfTexts()
        ? texts(Arrays.stream(keysOfShards).sum(), 1)
        : EventScript.keysOfShards("stored", shards, keysOfShards);
  }

  /** Texts of random words. */
  private static List<String> texts(int count, int seed) {
    SplittableRandom random = new SplittableRandom(seed);
    List<String> texts = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      texts.add(
          IntStream.range(0, 40)
              .mapToObj(unused -> letters(random))
              .collect(Collectors.joining(" ")));
    }
    return texts;
  }

  private static String letters(SplittableRandom random) {
    return random.ints(5, 'a', 'z' + 1).mapToObj(Character::toString).collect(Collectors.joining());
  }

  /** The texts that resemble a live text are duplicates. */
  private static EventScript probeTexts(EventScript script, List<String> texts) {
    for (String live : texts.subList(texts.size() / 4, texts.size())) {
      script.addNear(live + " and more");
    }
    texts.forEach(script::add);
    texts(ABSENT_KEYS, 2).forEach(script::add);
    return script;
  }

  /** Adds every key, and deletes the first quarter. */
  EventScript script(List<String> keys) {
    EventScript script = new EventScript();
    keys.forEach(script::add);
    return deleteFirstQuarter(script, keys);
  }

  /** Goes on with events that show what there is. */
  EventScript probe(EventScript script, List<String> keys) {
    return isOfTexts() ? probeTexts(script, keys) : script.probe(keys, ABSENT_KEYS);
  }

  /** As short identities as keep the model exact, for the files' sake. */
  private static Firstseen<KeyEvent> precise(Firstseen<KeyEvent> dedup) {
    return dedup.capacity(10_000).falsePositiveRate(1e-6);
  }

  private static EventScript deleteFirstQuarter(EventScript script, List<String> keys) {
    keys.subList(0, keys.size() / 4).forEach(script::delete);
    return script;
  }

  private static List<String> earlier(List<String> keys) {
    return keys.subList(0, keys.size() / 2);
  }

  private static List<String> later(List<String> keys) {
    return keys.subList(keys.size() / 2, keys.size());
  }
}
