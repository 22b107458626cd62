package io.firstseen.jobs.options;

import static io.firstseen.jobs.options.OptionValues.reject;

import io.firstseen.events.EventFields;
import io.firstseen.events.FieldPointer;
import io.firstseen.events.ValueSchema;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.operators.UserErrorException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The topics of events, the format of events, and the position where a job starts to read them. */
public final class EventOptions {
  private static final String TOPIC = "firstseen.events";

  @Option(
      names = "--events-topic",
      paramLabel = "TOPIC,...",
      split = ",",
      converter = OptionValues.KafkaName.class,
      description = "Topics of the events (default: firstseen.events).")
  // The source compares the topics of its state.
  @Bound(Bound.By.NOTHING)
  private List<String> topics = new ArrayList<>();

  @Option(
      names = "--events-topic-pattern",
      paramLabel = "REGEX",
      converter = OptionValues.TopicPattern.class,
      description =
          "Java regular expression for the names of the topics of the events, instead of"
              + " --events-topic. It must match the whole name. Topics that are created later are"
              + " also read.")
  @Bound(Bound.By.NOTHING)
  private @Nullable Pattern topicPattern;

  @Option(
      names = "--scope-from-topic",
      description =
          "Use the name of the events topic as the scope of a key, so that equal keys of "
              + "different topics are different keys. Replaces a scope in the event.")
  @Bound(Bound.By.IDENTITY)
  private boolean scopeFromTopic;

  @Option(
      names = "--event-format",
      paramLabel = "FORMAT",
      defaultValue = "json",
      converter = KafkaOptions.EventFormat.Converter.class,
      description =
          "json: the value is an object with ts, op, key and an optional scope, or has a different"
              + " structure with --key-field; key: the record's key is the key, and a null value"
              + " deletes it; avro, protobuf: the value is in Avro or Protocol Buffers, and"
              + " --key-field is required (default: ${DEFAULT-VALUE}).")
  @Bound(Bound.By.IDENTITY)
  private KafkaOptions.EventFormat format;

  @Mixin private FieldOptions fields;

  @Mixin private SchemaOptions schema;

  @Option(
      names = "--start",
      paramLabel = "WHERE",
      defaultValue = "earliest",
      converter = KafkaOptions.Start.Converter.class,
      description =
          "Start position of a job without a checkpoint: earliest, latest or committed (default: "
              + "${DEFAULT-VALUE}).")
  @Bound(Bound.By.NOTHING)
  private KafkaOptions.Start start;

  EventOptions() {}

  /** The topics of events, unless there is a pattern. */
  public List<String> topics() {
    return topics.isEmpty() ? List.of(TOPIC) : List.copyOf(topics);
  }

  /** The pattern of the names of topics of events; empty if they are listed. */
  public Optional<Pattern> topicPattern() {
    return Optional.ofNullable(topicPattern);
  }

  /**
   * The topic of events.
   *
   * @throws IllegalStateException if there are several
   */
  public String topic() {
    if (topicPattern != null || topics().size() > 1) {
      throw new IllegalStateException("the job reads several topics of events");
    }
    return topics().get(0);
  }

  /** Whether the scope of a key is the name of its topic. */
  public boolean isScopeFromTopic() {
    return scopeFromTopic;
  }

  /** The format of an event in a record. */
  public KafkaOptions.EventFormat format() {
    return format;
  }

  /** The fields of the value that make it an event; empty for the format of the jobs. */
  public Optional<EventFields> fields() {
    return fields.fields();
  }

  /**
   * The schema of values, from its file or from the schema registry.
   *
   * @throws UserErrorException if its file cannot be read
   */
  public ValueSchema schema() {
    return schema.schema();
  }

  /** The start position of a job without a checkpoint. */
  public KafkaOptions.Start start() {
    return start;
  }

  void check() {
    reject(
        topicPattern != null && !topics.isEmpty(),
        "--events-topic and --events-topic-pattern exclude each other, got %s and %s"
            .formatted(String.join(",", topics), topicPattern));
    fields.check(format);
    schema.check(format);
    FieldPointer scope = fields.fields().map(EventFields::scope).orElse(null);
    reject(
        scopeFromTopic && scope != null,
        "--scope-from-topic and --scope-field exclude each other, got " + scope);
  }

  /**
   * Rejects a canonicaliser that cannot process the keys of these events.
   *
   * @throws UserErrorException if the keys have several fields, and it is not {@code none}
   */
  public void checkCanonicaliser(Canonicaliser canonicaliser) {
    boolean isComposite = fields.fields().map(all -> all.key().size() > 1).orElse(false);
    reject(
        isComposite && !canonicaliser.equals(Canonicaliser.NONE),
        "a key of several --key-field needs --canonicaliser none, got " + canonicaliser.id());
  }

  /** Rejects a pattern that matches an output; the map has the options by topic. */
  void rejectOutputsAsInput(Map<String, String> outputs) {
    outputs.forEach(
        (topic, option) ->
            reject(
                topicPattern != null && topicPattern.matcher(topic).matches(),
                "--events-topic-pattern must not match a topic that the job writes, got %s, which matches %s of %s"
                    .formatted(topicPattern, topic, option)));
  }
}
