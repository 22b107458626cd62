package io.firstseen.jobs.options;

import static io.firstseen.jobs.options.OptionValues.reject;

import io.firstseen.events.EventFields;
import io.firstseen.events.FieldPointer;
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
    MILLIS(TimeUnit.MILLISECONDS),
    SECONDS(TimeUnit.SECONDS),
    MICROS(TimeUnit.MICROSECONDS),
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
          "Field of the value that is the key, as a JSON pointer (RFC 6901) such as /id or"
              + " /order/id. If it is repeated, the key is the JSON array of these fields"
              + " (default: the format of docs/format/records-v1.md).")
  @Bound(Bound.By.IDENTITY)
  private List<FieldPointer> key = new ArrayList<>();

  @Option(
      names = "--time-field",
      paramLabel = "POINTER",
      converter = OptionValues.Pointer.class,
      description =
          "Field of the event time, a whole number or an ISO 8601 date-time with an offset. "
              + "Needs --key-field (default: the header firstseen.timestamp, else the record's "
              + "timestamp).")
  @Bound(Bound.By.IDENTITY)
  private @Nullable FieldPointer time;

  @Option(
      names = "--time-unit",
      paramLabel = "UNIT",
      converter = Unit.Converter.class,
      description =
          "Unit of whole numbers in --time-field, since 1970: millis, seconds, micros or nanos "
              + "(default: millis).")
  @Bound(value = Bound.By.IDENTITY, unset = "millis")
  private @Nullable Unit timeUnit;

  @Option(
      names = "--operation-field",
      paramLabel = "POINTER",
      converter = OptionValues.Pointer.class,
      description =
          "Field that selects the operation, see --delete-values. If values lack the field, the "
              + "job only logs a warning. Needs --key-field (default: all events add keys).")
  @Bound(Bound.By.IDENTITY)
  private @Nullable FieldPointer operation;

  @Option(
      names = "--delete-values",
      paramLabel = "VALUE,...",
      split = ",",
      description =
          "Values of --operation-field that delete the key, such as d. All other values, null "
              + "and a missing field add the key. A misspelt value is not detected.")
  @Bound(Bound.By.IDENTITY)
  private Set<String> deleteValues = new LinkedHashSet<>();

  @Option(
      names = "--scope-field",
      paramLabel = "POINTER",
      converter = OptionValues.Pointer.class,
      description =
          "Field of the scope; no scope if it is null, missing or empty. If values lack the "
              + "field, the job only logs a warning. Needs --key-field (default: no scope).")
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

  void check(KafkaOptions.EventFormat format) {
    if (format == KafkaOptions.EventFormat.KEY) {
      reject(!key.isEmpty(), "--key-field needs --event-format json, avro or protobuf, got key");
    } else if (format != KafkaOptions.EventFormat.JSON) {
      reject(
          key.isEmpty(),
          "--event-format " + format.name().toLowerCase(Locale.ROOT) + " needs --key-field");
    }
    reject(key.isEmpty() && time != null, "--time-field needs --key-field");
    reject(key.isEmpty() && operation != null, "--operation-field needs --key-field");
    reject(key.isEmpty() && scope != null, "--scope-field needs --key-field");
    reject(
        time == null && timeUnit != null,
        "--time-unit needs --time-field, got "
            + String.valueOf(timeUnit).toLowerCase(Locale.ROOT)
            + " alone");
    reject(
        operation == null && !deleteValues.isEmpty(),
        "--delete-values needs --operation-field, got " + String.join(",", deleteValues));
    reject(
        operation != null && deleteValues.isEmpty(),
        "--operation-field needs --delete-values, such as d: without them, no key is deleted");
  }
}
