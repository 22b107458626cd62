package io.firstseen.jobs.options;

import io.firstseen.filters.cuckoo.CuckooShape;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.near.NearRule;
import io.firstseen.filters.snapshot.SnapshotTopicFormat;
import io.firstseen.jobs.shared.FieldPointer;
import io.firstseen.operators.dedup.Firstseen;
import io.firstseen.types.DedupMode;
import io.firstseen.types.TimeToLive;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.Locale;
import java.util.function.Function;
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
  private static final Pattern KAFKA_NAME = Pattern.compile("[A-Za-z0-9._-]{1,200}");

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

  private static Duration readDuration(String value) {
    Matcher matcher = DURATION.matcher(value);
    if (!matcher.matches()) {
      throw new TypeConversionException(
          "must be a whole number with a unit (500ms, 30s, 5m, 1h, 1d), got '" + value + "'");
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
    try {
      long number = Long.parseLong(value);
      if (number >= min && number <= max) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Falls through to the error.
    }
    throw new TypeConversionException(
        "must be a whole number in [" + min + ", " + max + "], got '" + value + "'");
  }

  /** Applies a conversion that throws IllegalArgumentException if the value is invalid. */
  private static <T> T read(String value, Function<String, T> function) {
    try {
      return function.apply(value);
    } catch (IllegalArgumentException e) {
      throw new TypeConversionException(e.getMessage());
    }
  }

  /** A duration of zero or more. */
  public static final class DurationValue implements ITypeConverter<Duration> {
    @Override
    public Duration convert(String value) {
      return readDuration(value);
    }
  }

  /** A duration of more than zero. */
  public static final class PositiveDuration implements ITypeConverter<Duration> {
    @Override
    public Duration convert(String value) {
      Duration duration = readDuration(value);
      if (duration.isZero()) {
        throw new TypeConversionException("must be longer than zero, got '" + value + "'");
      }
      return duration;
    }
  }

  /** A number of replicas of a topic, from 1. */
  public static final class ReplicaCount implements ITypeConverter<Short> {
    @Override
    public Short convert(String value) {
      return (short) readWholeNumber(value, 1, Short.MAX_VALUE);
    }
  }

  /** A number of bytes, zero or more, in Flink's notation of memory sizes. */
  public static final class ByteCount implements ITypeConverter<Long> {
    @Override
    public Long convert(String value) {
      try {
        return MemorySize.parse(value).getBytes();
      } catch (IllegalArgumentException e) {
        throw new TypeConversionException(
            "must be a whole number with a unit (0, 512k, 64m, 1g), got '" + value + "'");
      }
    }
  }

  /** A false-positive rate in (0, 0.1]. */
  public static final class FalsePositiveRate implements ITypeConverter<Double> {
    @Override
    public Double convert(String value) {
      double max = CuckooShape.MAX_FALSE_POSITIVE_RATE;
      return readNumber(value, Double.MIN_VALUE, max, "in (0, " + max + "]");
    }
  }

  /** A real number within bounds. */
  private static double readNumber(String value, double min, double max, String bounds) {
    double number;
    try {
      number = Double.parseDouble(value);
    } catch (NumberFormatException e) {
      number = Double.NaN;
    }
    if (!(number >= min && number <= max)) {
      throw new TypeConversionException("must be " + bounds + ", got '" + value + "'");
    }
    return number;
  }

  /** A share, in [0, 1]. */
  public static final class Share implements ITypeConverter<Double> {
    @Override
    public Double convert(String value) {
      return readNumber(value, 0, 1, "in [0, 1]");
    }
  }

  /** A factor of growth, at least 1. */
  public static final class Growth implements ITypeConverter<Double> {
    @Override
    public Double convert(String value) {
      return readNumber(value, 1, Double.MAX_VALUE, "at least 1");
    }
  }

  /** The URI of a directory. */
  public static final class DirectoryUri implements ITypeConverter<URI> {
    @Override
    public URI convert(String value) {
      try {
        URI uri = new URI(value);
        if (uri.isAbsolute()
            && !uri.isOpaque()
            && uri.getRawQuery() == null
            && uri.getRawFragment() == null) {
          return uri;
        }
      } catch (URISyntaxException e) {
        // Falls through to the error.
      }
      throw notDirectory(value);
    }
  }

  private static TypeConversionException notDirectory(String value) {
    return new TypeConversionException(
        "must be the URI of a directory, such as s3://bucket/path or file:///path, got '"
            + value
            + "'");
  }

  /**
   * The URI of a directory in Flink's notation, in which spaces and non-ASCII letters are not
   * escaped.
   */
  public static final class FlinkDirectory implements ITypeConverter<String> {
    private static final Pattern WITH_SCHEME = Pattern.compile("[A-Za-z][A-Za-z0-9+.-]+:/.*");

    @Override
    public String convert(String value) {
      if (!WITH_SCHEME.matcher(value).matches()) {
        throw notDirectory(value);
      }
      return value;
    }
  }

  /**
   * The address of a schema registry. The error message does not repeat the value, which may
   * contain a password.
   */
  public static final class RegistryUri implements ITypeConverter<URI> {
    @Override
    public URI convert(String value) {
      try {
        URI uri = new URI(value);
        if (("http".equals(uri.getScheme()) || "https".equals(uri.getScheme()))
            && uri.getHost() != null
            && uri.getRawUserInfo() == null
            && uri.getRawQuery() == null
            && uri.getRawFragment() == null) {
          return uri;
        }
      } catch (URISyntaxException e) {
        // Falls through to the error.
      }
      throw new TypeConversionException(
          "must be the http or https address of a schema registry, without user, query and "
              + "fragment");
    }
  }

  /** The sequence of a manifest. */
  public static final class Sequence implements ITypeConverter<Long> {
    @Override
    public Long convert(String value) {
      return readWholeNumber(value, 0, Long.MAX_VALUE);
    }
  }

  /** A number of keys, at least 1. */
  public static final class KeyCount implements ITypeConverter<Long> {
    @Override
    public Long convert(String value) {
      return readWholeNumber(value, 1, Long.MAX_VALUE);
    }
  }

  /** A whole number within bounds. */
  public abstract static class WholeNumber implements ITypeConverter<Integer> {
    private final int min;
    private final int max;

    protected WholeNumber(int min, int max) {
      this.min = min;
      this.max = max;
    }

    @Override
    public Integer convert(String value) {
      return (int) readWholeNumber(value, min, max);
    }
  }

  /** A port; 0 for any free one. */
  public static final class Port extends WholeNumber {
    Port() {
      super(0, 65_535);
    }
  }

  /** A number of parallel tasks, 1 to 32768. */
  public static final class Parallelism implements ITypeConverter<Integer> {
    @Override
    public Integer convert(String value) {
      return (int) readWholeNumber(value, 1, 1 << 15);
    }
  }

  /** A number of shards: a power of two in [1, 65536]. */
  public static final class ShardCount implements ITypeConverter<Integer> {
    @Override
    public Integer convert(String value) {
      int count = (int) readWholeNumber(value, 1, Shards.MAX_COUNT);
      return read(value, unused -> new Shards(count)).count();
    }
  }

  /** A number of dedup shards, at most one for each key group: a power of two in [1, 32768]. */
  public static final class DedupShardCount implements ITypeConverter<Integer> {
    @Override
    public Integer convert(String value) {
      int count = (int) readWholeNumber(value, 1, Firstseen.MAX_SHARDS);
      if (Integer.bitCount(count) != 1) {
        throw new TypeConversionException(
            "must be a power of two in [1, " + Firstseen.MAX_SHARDS + "], got '" + value + "'");
      }
      return count;
    }
  }

  /** The name of a canonicaliser. */
  public static final class CanonicaliserName implements ITypeConverter<Canonicaliser> {
    @Override
    public Canonicaliser convert(String value) {
      return read(value, Canonicaliser::of);
    }
  }

  /** A rule for near-duplicates. */
  public static final class NearRuleName implements ITypeConverter<NearRule> {
    @Override
    public NearRule convert(String value) {
      return read(value, NearRule::of);
    }
  }

  /** Patterns of the query parameters that are removed from URLs. */
  public static final class StrippedParameters implements ITypeConverter<String> {
    @Override
    public String convert(String value) {
      return read(value, Canonicaliser.URL::stripping).strippedParameters();
    }
  }

  /** The length of a time to live. */
  public static final class TtlLength implements ITypeConverter<Duration> {
    @Override
    public Duration convert(String value) {
      Duration length = readDuration(value);
      if (length.toMillis() < TimeToLive.MIN_MILLIS) {
        throw new TypeConversionException("must be at least 1s, got '" + value + "'");
      }
      return read(value, unused -> Duration.ofMillis(TimeToLive.of(length).millis()));
    }
  }

  /** The name of a ttl's clock. */
  public static final class TtlClock implements ITypeConverter<TimeToLive.Clock> {
    @Override
    public TimeToLive.Clock convert(String value) {
      return read(value, TimeToLive.Clock::of);
    }
  }

  /** The name of the event from which a ttl is measured. */
  public static final class TtlSince implements ITypeConverter<TimeToLive.Since> {
    @Override
    public TimeToLive.Since convert(String value) {
      return read(value, TimeToLive.Since::of);
    }
  }

  /** The name of a mode of the dedup. */
  public static final class ModeName implements ITypeConverter<DedupMode> {
    @Override
    public DedupMode convert(String value) {
      return read(value, DedupMode::of);
    }
  }

  /** The name of a set of keys, as manifests allow it. */
  public static final class SetName implements ITypeConverter<String> {
    @Override
    public String convert(String value) {
      if (!SnapshotTopicFormat.isSetName(value)) {
        throw new TypeConversionException(
            "must be 1 to 100 letters, digits, '.', '_' or '-', got '" + value + "'");
      }
      return value;
    }
  }

  /** The path to a field of a value. */
  public static final class Pointer implements ITypeConverter<FieldPointer> {
    @Override
    public FieldPointer convert(String value) {
      return read(value, FieldPointer::parse);
    }
  }

  /** A pattern of names of topics. */
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
  public static final class KafkaName implements ITypeConverter<String> {
    @Override
    public String convert(String value) {
      if (!KAFKA_NAME.matcher(value).matches() || value.equals(".") || value.equals("..")) {
        throw new TypeConversionException(
            "must be 1 to 200 letters, digits, '.', '_' or '-', got '" + value + "'");
      }
      return value;
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
      StringBuilder names = new StringBuilder();
      for (E constant : type.getEnumConstants()) {
        String name = constant.name().toLowerCase(Locale.ROOT);
        if (name.equals(value)) {
          return constant;
        }
        names.append(names.isEmpty() ? "" : ", ").append(name);
      }
      throw new TypeConversionException("must be one of " + names + ", got '" + value + "'");
    }
  }
}
