package io.firstseen.jobs.options;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.joining;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.near.NearRule;
import java.io.Serializable;
import java.lang.reflect.AnnotatedElement;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/**
 * The options of a dedup job that must be the same at a later start and in a job that reads its
 * changelog: each option with {@link Bound.By#IDENTITY} or {@link Bound.By#CHANGELOG}, by its name
 * without dashes.
 *
 * @param values the text of each value, with {@code \n} for a line feed
 */
public record JobIdentity(NavigableMap<String, String> values) implements Serializable {
  private static final String TTL = "ttl";
  private static final String NEAR = "near";
  private static final String NONE = "none";
  private static final Set<Bound.By> RECORDED = Set.of(Bound.By.IDENTITY, Bound.By.CHANGELOG);
  private static final Set<Bound.By> ACCEPTABLE =
      Set.of(Bound.By.IDENTITY, Bound.By.CHANGELOG, Bound.By.PUBLISHER);

  /** The identity with these values. */
  public static JobIdentity of(Map<String, String> values) {
    return new JobIdentity(new TreeMap<>(values));
  }

  /** The identity of a dedup job. */
  public static JobIdentity ofDedup(KafkaOptions kafka, JobOptions options) {
    return new JobIdentity(collect(RECORDED, options.keys(), options.dedup(), kafka));
  }

  /** The options that a snapshot job shares with the dedup job that writes its changelog. */
  public static JobIdentity ofChangelogReader(JobOptions options) {
    NavigableMap<String, String> values = collect(RECORDED, options.keys());
    values.put(NEAR, options.near().map(NearRule::toString).orElse(NONE));
    long ttlMillis = options.snapshotTtlMillis();
    values.put(TTL, ttlMillis == 0 ? NONE : OptionValues.write(Duration.ofMillis(ttlMillis)));
    return new JobIdentity(values);
  }

  /** Parses the output of {@link #toBytes}. Ignores lines in other formats. */
  public static JobIdentity parse(byte[] utf8) {
    NavigableMap<String, String> values = new TreeMap<>();
    new String(utf8, UTF_8)
        .lines()
        .map(line -> line.split("=", 2))
        .filter(parts -> parts.length == 2)
        .forEach(parts -> values.put(parts[0], parts[1]));
    return new JobIdentity(values);
  }

  /** One line {@code name=value} per option, sorted by name. */
  public byte[] toBytes() {
    return values.entrySet().stream()
        .map(each -> each.getKey() + "=" + each.getValue())
        .collect(joining("\n"))
        .getBytes(UTF_8);
  }

  /** The valid names for {@code --accept-changes}. */
  static Set<String> names() {
    return collect(
            ACCEPTABLE,
            new KeyOptions(),
            new DedupOptions(),
            new SnapshotOptions(),
            new KafkaOptions())
        .keySet();
  }

  private static NavigableMap<String, String> collect(Set<Bound.By> kinds, Object... holders) {
    NavigableMap<String, String> values = new TreeMap<>();
    for (Object holder : holders) {
      for (OptionSpec option : new CommandLine(holder).getCommandSpec().options()) {
        Bound bound = ((AnnotatedElement) option.userObject()).getAnnotation(Bound.class);
        if (kinds.contains(bound.value())) {
          String text = text(option.getValue());
          values.put(option.longestName().substring(2), text.isEmpty() ? bound.unset() : text);
        }
      }
    }
    return values;
  }

  private static String text(@Nullable Object value) {
    if (value == null) {
      return "";
    } else if (value instanceof Canonicaliser canonicaliser) {
      return canonicaliser.versionedName();
    } else if (value instanceof Duration duration) {
      return OptionValues.write(duration);
    } else if (value instanceof Enum<?> constant) {
      return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
    } else if (value instanceof Collection<?> many) {
      Stream<String> texts = many.stream().map(JobIdentity::text);
      return (many instanceof Set ? texts.sorted() : texts).collect(joining(","));
    }
    return value.toString().replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r");
  }

  /**
   * The identity that a reader of the changelog shares. The reader only knows a TTL that is
   * measured from accepted events.
   */
  public JobIdentity ofChangelog() {
    NavigableMap<String, String> shared = new TreeMap<>(values);
    if (!"event".equals(values.get("ttl-clock")) || !"first-seen".equals(values.get("ttl-since"))) {
      shared.replace(TTL, NONE);
    }
    return new JobIdentity(shared);
  }

  /** This identity without the values that may change at a restart. */
  public JobIdentity ofState() {
    NavigableMap<String, String> fixed = new TreeMap<>(values);
    fixed.remove(TTL);
    return new JobIdentity(fixed);
  }

  /**
   * Compares the options that both identities have.
   *
   * @param before the recorded identity
   * @param accepted the names of options that may differ
   * @return the error with both values of each option that differs, and the fix; empty if none
   *     differs
   */
  public Optional<String> difference(JobIdentity before, Set<String> accepted) {
    List<String> names =
        values.keySet().stream()
            .filter(name -> !accepted.contains(name))
            .filter(before.values::containsKey)
            .filter(name -> !before.values.get(name).equals(values.get(name)))
            .toList();
    if (names.isEmpty()) {
      return Optional.empty();
    }
    String format = "--%s is %s, recorded as %s";
    return Optional.of(
        names.stream()
                .map(name -> format.formatted(name, values.get(name), before.values.get(name)))
                .collect(joining("; "))
            + " (start with the recorded values, or accept the change with --accept-changes "
            + String.join(",", names)
            + "; with 'firstseen up', use another --data directory)");
  }
}
