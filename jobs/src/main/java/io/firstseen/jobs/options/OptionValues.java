package io.firstseen.jobs.options;

import io.firstseen.events.FieldPointer;
import io.firstseen.filters.cuckoo.CuckooShape;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.near.NearRule;
import io.firstseen.filters.snapshot.SnapshotTopicFormat;
import io.firstseen.operators.UserErrorException;
import io.firstseen.operators.dedup.Firstseen;
import io.firstseen.types.DedupMode;
import io.firstseen.types.TimeToLive;
import java.net.URI;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.apache.flink.configuration.MemorySize;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * Converters of option values, with their bounds. Each error message completes a sentence that
 * starts with the option's name.
 */
public final class OptionValues {
  /** The largest number of a duration, of any unit. */
  public static final int MAX_AMOUNT = 999_999_999;

  private static final Pattern DURATION = Pattern.compile("([0-9]{1,9})(ms|s|m|h|d)");
  private static final Pattern KAFKA_NAME = Pattern.compile("(?!\\.{1,2}$)[A-Za-z0-9._-]{1,200}");
  private static final Pattern WITH_SCHEME = Pattern.compile("[A-Za-z][A-Za-z0-9+.-]+:/.*");

  private static final String DIRECTORY =
      "the URI of a directory, such as s3://bucket/path or file:///path";

  private OptionValues() {}

  /** Formats a duration like an option value, in the largest unit that divides it. */
  public static String write(Duration duration) {
    long millis = duration.toMillis();
    if (millis == 0 || millis % 1000 != 0) {
      return millis + "ms";
    }
    long seconds = millis / 1000;
    if (seconds % 86_400 == 0) {
      return seconds / 86_400 + "d";
    }
    if (seconds % 3_600 == 0) {
      return seconds / 3_600 + "h";
    }
    return seconds % 60 == 0 ? seconds / 60 + "m" : seconds + "s";
  }

  static void reject(boolean contradictory, String message) {
    if (contradictory) {
      throw new UserErrorException(message);
    }
  }

  private static Duration readDuration(String value) {
    Matcher matcher = DURATION.matcher(value);
    if (!matcher.matches()) {
      throw mustBe("a whole number with a unit (500ms, 30s, 5m, 1h, 1d)", value);
    }
    long amount = Long.parseLong(matcher.group(1));
    return switch (matcher.group(2)) {
      case "ms" -> Duration.ofMillis(amount);
      case "s" -> Duration.ofSeconds(amount);
      case "m" -> Duration.ofMinutes(amount);
      case "h" -> Duration.ofHours(amount);
      default -> Duration.ofDays(amount);
    };
  }

  private static long readWholeNumber(String value, long min, long max) {
    return read(
        value,
        Long::parseLong,
        number -> number >= min && number <= max,
        "a whole number in [" + min + ", " + max + "]");
  }

  private static <T> T read(
      String value, Function<String, T> function, Predicate<T> isValid, String bounds) {
    try {
      T read = function.apply(value);
      if (isValid.test(read)) {
        return read;
      }
    } catch (IllegalArgumentException e) {
      // Falls through to the error.
    }
    throw mustBe(bounds, value);
  }

  private static boolean isPlain(URI uri) {
    return uri.getRawQuery() == null && uri.getRawFragment() == null;
  }

  static TypeConversionException mustBe(String bounds, String value) {
    return new TypeConversionException("must be " + bounds + ", got '" + value + "'");
  }

  static String requireOneOf(Collection<String> names, String value) {
    if (!names.contains(value)) {
      throw mustBe("one of " + String.join(", ", names), value);
    }
    return value;
  }

  /**
   * A converter by a function. The function throws an IllegalArgumentException, or a {@link
   * TypeConversionException}, with the error message.
   *
   * @param <T> the type of values
   */
  public abstract static class Value<T> implements ITypeConverter<T> {
    private final Function<String, T> function;

    protected Value(Function<String, T> function) {
      this.function = function;
    }

    protected Value(Function<String, T> function, Predicate<T> isValid, String bounds) {
      this(value -> read(value, function, isValid, bounds));
    }

    @Override
    public T convert(String value) {
      try {
        return function.apply(value);
      } catch (IllegalArgumentException e) {
        throw new TypeConversionException(e.getMessage());
      }
    }
  }

  public static final class DurationValue extends Value<Duration> {
    DurationValue() {
      super(OptionValues::readDuration);
    }
  }

  public static final class PositiveDuration extends Value<Duration> {
    PositiveDuration() {
      super(OptionValues::readDuration, duration -> !duration.isZero(), "longer than zero");
    }
  }

  public static final class ReplicaCount extends Value<Short> {
    ReplicaCount() {
      super(value -> (short) readWholeNumber(value, 1, Short.MAX_VALUE));
    }
  }

  /** A number of bytes, zero or more, in Flink's notation of memory sizes. */
  public static final class ByteCount extends Value<Long> {
    ByteCount() {
      super(
          value -> MemorySize.parse(value).getBytes(),
          bytes -> true,
          "a whole number with a unit (0, 512k, 64m, 1g)");
    }
  }

  public static final class FalsePositiveRate extends Value<Double> {
    private static final double MAX = CuckooShape.MAX_FALSE_POSITIVE_RATE;

    FalsePositiveRate() {
      super(Double::parseDouble, rate -> rate > 0 && rate <= MAX, "in (0, " + MAX + "]");
    }
  }

  public static final class Share extends Value<Double> {
    Share() {
      super(Double::parseDouble, share -> share >= 0 && share <= 1, "in [0, 1]");
    }
  }

  public static final class Growth extends Value<Double> {
    Growth() {
      super(Double::parseDouble, factor -> factor >= 1 && factor <= Double.MAX_VALUE, "at least 1");
    }
  }

  public static final class DirectoryUri extends Value<URI> {
    DirectoryUri() {
      super(URI::create, uri -> isPlain(uri) && uri.isAbsolute() && !uri.isOpaque(), DIRECTORY);
    }
  }

  /** The URI of a directory in Flink's notation, in which no character is escaped. */
  public static final class FlinkDirectory extends Value<String> {
    FlinkDirectory() {
      super(value -> value, WITH_SCHEME.asMatchPredicate(), DIRECTORY);
    }
  }

  /** The address of a schema registry; the error omits it, as it may contain a password. */
  public static final class RegistryUri implements ITypeConverter<URI> {
    @Override
    public URI convert(String value) {
      try {
        URI uri = URI.create(value);
        boolean isHttp = "http".equals(uri.getScheme()) || "https".equals(uri.getScheme());
        if (isPlain(uri) && isHttp && uri.getHost() != null && uri.getRawUserInfo() == null) {
          return uri;
        }
      } catch (IllegalArgumentException e) {
        // Falls through to the error.
      }
      throw new TypeConversionException(
          "must be the http or https address of a schema registry, without user, query and "
              + "fragment");
    }
  }

  public static final class Sequence extends Value<Long> {
    Sequence() {
      super(value -> readWholeNumber(value, 0, Long.MAX_VALUE));
    }
  }

  public static final class KeyCount extends Value<Long> {
    KeyCount() {
      super(value -> readWholeNumber(value, 1, Long.MAX_VALUE));
    }
  }

  public abstract static class WholeNumber extends Value<Integer> {
    protected WholeNumber(int min, int max) {
      super(value -> (int) readWholeNumber(value, min, max));
    }
  }

  /** A number from 1 to a million. */
  public static final class Count extends WholeNumber {
    Count() {
      super(1, 1_000_000);
    }
  }

  /** A number from 0 to a million. */
  public static final class CountOrNone extends WholeNumber {
    CountOrNone() {
      super(0, 1_000_000);
    }
  }

  /** A port; 0 for any free one. */
  public static final class Port extends WholeNumber {
    Port() {
      super(0, 65_535);
    }
  }

  public static final class Parallelism extends WholeNumber {
    Parallelism() {
      super(1, 1 << 15);
    }
  }

  public static final class ShardCount extends Value<Integer> {
    ShardCount() {
      super(value -> new Shards((int) readWholeNumber(value, 1, Shards.MAX_COUNT)).count());
    }
  }

  /** A number of dedup shards, at most one for each key group: a power of two in [1, 32768]. */
  public static final class DedupShardCount extends Value<Integer> {
    DedupShardCount() {
      super(
          value -> (int) readWholeNumber(value, 1, Firstseen.MAX_SHARDS),
          count -> Integer.bitCount(count) == 1,
          "a power of two in [1, " + Firstseen.MAX_SHARDS + "]");
    }
  }

  public static final class CanonicaliserName extends Value<Canonicaliser> {
    CanonicaliserName() {
      super(Canonicaliser::of);
    }
  }

  public static final class NearRuleName extends Value<NearRule> {
    NearRuleName() {
      super(NearRule::of);
    }
  }

  public static final class StrippedParameters extends Value<String> {
    StrippedParameters() {
      super(value -> Canonicaliser.URL.stripping(value).strippedParameters());
    }
  }

  public static final class TtlLength extends Value<Duration> {
    TtlLength() {
      super(
          value -> {
            Duration length = readDuration(value);
            if (length.toMillis() < TimeToLive.MIN_MILLIS) {
              throw mustBe("at least 1s", value);
            }
            return Duration.ofMillis(TimeToLive.of(length).millis());
          });
    }
  }

  public static final class TtlClock extends Value<TimeToLive.Clock> {
    TtlClock() {
      super(TimeToLive.Clock::of);
    }
  }

  public static final class TtlSince extends Value<TimeToLive.Since> {
    TtlSince() {
      super(TimeToLive.Since::of);
    }
  }

  public static final class ModeName extends Value<DedupMode> {
    ModeName() {
      super(DedupMode::of);
    }
  }

  /** The name of a set of keys, as manifests allow it. */
  public static final class SetName extends Value<String> {
    SetName() {
      super(
          value -> value,
          SnapshotTopicFormat::isSetName,
          "1 to 100 letters, digits, '.', '_' or '-'");
    }
  }

  public static final class Pointer extends Value<FieldPointer> {
    Pointer() {
      super(FieldPointer::parse);
    }
  }

  public static final class TopicPattern implements ITypeConverter<Pattern> {
    @Override
    public Pattern convert(String value) {
      try {
        return Pattern.compile(value);
      } catch (PatternSyntaxException e) {
        throw new TypeConversionException(
            "must be a regular expression, got '" + value + "': " + e.getDescription());
      }
    }
  }

  /** The name of a topic, or a prefix of transactional ids. */
  public static final class KafkaName extends Value<String> {
    KafkaName() {
      super(
          value -> value,
          KAFKA_NAME.asMatchPredicate(),
          "1 to 200 letters, digits, '.', '_' or '-'");
    }
  }

  /**
   * An enum constant by its name in lower case.
   *
   * @param <E> the enum
   */
  public abstract static class LowerCaseName<E extends Enum<E>> implements ITypeConverter<E> {
    private final Class<E> type;

    protected LowerCaseName(Class<E> type) {
      this.type = type;
    }

    @Override
    public E convert(String value) {
      E[] constants = type.getEnumConstants();
      List<String> names =
          Arrays.stream(constants).map(each -> each.name().toLowerCase(Locale.ROOT)).toList();
      return constants[names.indexOf(requireOneOf(names, value))];
    }
  }
}
