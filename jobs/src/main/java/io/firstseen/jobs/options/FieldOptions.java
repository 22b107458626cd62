package io.firstseen.jobs.options;

import io.firstseen.jobs.shared.EventFields;
import io.firstseen.jobs.shared.FieldPointer;
import io.firstseen.operators.UserErrorException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Which fields of a record's value are its key, time, operation and scope. */
public final class FieldOptions {

  /** The unit of times that are whole numbers. */
  public enum Unit {
    /** Milliseconds. */
    MILLIS(TimeUnit.MILLISECONDS),
    /** Seconds. */
    SECONDS(TimeUnit.SECONDS),
    /** Microseconds. */
    MICROS(TimeUnit.MICROSECONDS),
    /** Nanoseconds. */
    NANOS(TimeUnit.NANOSECONDS);

    private final TimeUnit unit;

    Unit(TimeUnit unit) {
      this.unit = unit;
    }

    static final class Converter extends OptionValues.LowerCaseName<Unit> {
      Converter() {
        super(Unit.class);
      }
    }
  }

  @Option(
      names = "--key-field",
      paramLabel = "POINTER",
      converter = OptionValues.Pointer.class,
      description =
          "The field of the value that is the key, as a JSON pointer (RFC 6901) such as /id or"
              + " /order/id. May be repeated: then the key is the JSON array of these fields"
              + " (default: the format of docs/format/records-v1.md).")
  @Bound(Bound.By.IDENTITY)
  private List<FieldPointer> key = new ArrayList<>();

  @Option(
      names = "--time-field",
      paramLabel = "POINTER",
      converter = OptionValues.Pointer.class,
      description =
          "With --key-field: the field of event time, a whole number or an ISO 8601 date-time with an"
              + " offset (default: the header firstseen.timestamp, else the record's timestamp).")
  @Bound(Bound.By.IDENTITY)
  private @Nullable FieldPointer time;

  @Option(
      names = "--time-unit",
      paramLabel = "UNIT",
      converter = Unit.Converter.class,
      description =
          "The unit of whole numbers in --time-field, since 1970: millis, seconds, micros or nanos"
              + " (default: millis).")
  @Bound(value = Bound.By.IDENTITY, unset = "millis")
  private @Nullable Unit timeUnit;

  @Option(
      names = "--operation-field",
      paramLabel = "POINTER",
      converter = OptionValues.Pointer.class,
      description =
          "With --key-field: the field that says whether the key is deleted. The job only logs a"
              + " warning if values lack the field (default: none is).")
  @Bound(Bound.By.IDENTITY)
  private @Nullable FieldPointer operation;

  @Option(
      names = "--delete-values",
      paramLabel = "VALUE,...",
      split = ",",
      description =
          "The values of --operation-field that delete the key, such as d. Every other value adds"
              + " it; so does a field that is null or missing. A misspelt value is not detected.")
  @Bound(Bound.By.IDENTITY)
  private Set<String> deleteValues = new LinkedHashSet<>();

  @Option(
      names = "--scope-field",
      paramLabel = "POINTER",
      converter = OptionValues.Pointer.class,
      description =
          "With --key-field: the field of the scope; null, missing or empty for none. The job only"
              + " logs a warning if values lack the field (default: no scope).")
  @Bound(Bound.By.IDENTITY)
  private @Nullable FieldPointer scope;

  FieldOptions() {}

  /** The fields; empty for the format of the jobs. */
  Optional<EventFields> fields() {
    if (key.isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(
        new EventFields(
            key,
            time,
            (timeUnit == null ? Unit.MILLIS : timeUnit).unit,
            operation,
            deleteValues,
            scope));
  }

  /**
   * Refuses options that contradict each other.
   *
   * @throws UserErrorException with a sentence
   */
  void check(KafkaOptions.EventFormat format) {
    if (format == KafkaOptions.EventFormat.KEY) {
      refuse(!key.isEmpty(), "--key-field needs --event-format json, avro or protobuf, got key");
    } else if (format != KafkaOptions.EventFormat.JSON) {
      refuse(
          key.isEmpty(),
          "--event-format " + format.name().toLowerCase(Locale.ROOT) + " needs --key-field");
    }
    refuse(key.isEmpty() && time != null, "--time-field needs --key-field");
    refuse(key.isEmpty() && operation != null, "--operation-field needs --key-field");
    refuse(key.isEmpty() && scope != null, "--scope-field needs --key-field");
    refuse(
        time == null && timeUnit != null,
        "--time-unit needs --time-field, got "
            + String.valueOf(timeUnit).toLowerCase(Locale.ROOT)
            + " alone");
    refuse(
        operation == null && !deleteValues.isEmpty(),
        "--delete-values needs --operation-field, got " + String.join(",", deleteValues));
    refuse(
        operation != null && deleteValues.isEmpty(),
        "--operation-field needs --delete-values, such as d: without them nothing is deleted");
  }

  private static void refuse(boolean wrong, String sentence) {
    if (wrong) {
      throw new UserErrorException(sentence);
    }
  }
}
