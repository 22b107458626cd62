package io.firstseen.jobs.options;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.partitioningBy;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.AnnotatedElement;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/** Every option is classified, and every recorded one is compared. */
class JobIdentityTest {
  // For each recorded option: a value that differs from the default.
  private static final Map<String, String> CHANGED =
      Map.ofEntries(
          Map.entry("canonicaliser", "url"),
          Map.entry("strip-parameters", "utm_*"),
          Map.entry("near", "words:3,20x9,1"),
          Map.entry("ttl", "1h"),
          Map.entry("ttl-clock", "processing"),
          Map.entry("ttl-since", "last-seen"),
          Map.entry("scope-from-topic", "true"),
          Map.entry("event-format", "key"),
          Map.entry("key-field", "/id"),
          Map.entry("time-field", "/at"),
          Map.entry("time-unit", "seconds"),
          Map.entry("operation-field", "/op"),
          Map.entry("delete-values", "d,gone"),
          Map.entry("scope-field", "/scope"),
          Map.entry("message", "shop.Order"),
          Map.entry("schema-header", "true"));

  static Stream<String> recorded() {
    return bounds().entrySet().stream()
        .filter(each -> Set.of(Bound.By.IDENTITY, Bound.By.CHANGELOG).contains(each.getValue()))
        .map(Map.Entry::getKey);
  }

  private static Map<String, Bound.By> bounds() {
    Map<String, Bound.By> bounds = new TreeMap<>();
    options().forEach(option -> bounds.put(name(option), bound(option).value()));
    return bounds;
  }

  private static Bound bound(OptionSpec option) {
    return ((AnnotatedElement) option.userObject()).getAnnotation(Bound.class);
  }

  private static Stream<OptionSpec> options() {
    return Stream.of(
            new KeyOptions(),
            new StreamOptions(),
            new DedupOptions(),
            new SnapshotOptions(),
            new ChangelogOptions(),
            new KafkaOptions())
        .flatMap(holder -> new CommandLine(holder).getCommandSpec().options().stream());
  }

  private static String name(OptionSpec option) {
    return option.longestName().substring(2);
  }

  @Test
  void everyOptionSaysWhetherItsValueMayChange() {
    assertThat(options().filter(option -> bound(option) == null)).isEmpty();
  }

  private static JobIdentity identity(String... words) {
    Map<Boolean, List<String>> byHolder =
        Arrays.stream(words)
            .collect(
                partitioningBy(
                    word ->
                        new CommandLine(new KafkaOptions())
                                .getCommandSpec()
                                .findOption(word.split("=", 2)[0])
                            != null));
    byHolder.get(true).add("--bootstrap-servers=localhost:1");
    return JobIdentity.ofDedup(
        KafkaOptions.parse(byHolder.get(true).toArray(String[]::new)),
        JobOptions.parse(byHolder.get(false).toArray(String[]::new)));
  }

  @ParameterizedTest
  @MethodSource("recorded")
  void aChangeOfARecordedOptionIsReportedWithBothValues(String name) {
    String value = CHANGED.get(name);
    assertThat(value).as("a value of --%s in CHANGED", name).isNotNull();
    JobIdentity before = JobIdentity.parse(identity().toBytes());
    JobIdentity after = identity("--" + name + "=" + value);
    String recorded = before.values().get(name);
    String now = after.values().get(name);
    assertThat(now).isNotEqualTo(recorded);
    assertThat(after.difference(before, Set.of()))
        .hasValue(
            "--%1$s is %2$s, recorded as %3$s (start with the recorded values, or accept the change with --accept-changes %1$s; with 'firstseen up', use another --data directory)"
                .formatted(name, now, recorded));
    assertThat(after.difference(before, Set.of(name))).isEmpty();
    assertThat(before.difference(after, Set.of())).isPresent();
    assertThat(JobIdentity.names()).contains(name);
  }

  @ParameterizedTest
  @CsvSource({
    "--time-unit=millis",
    "--ttl-clock=event",
    "--ttl-since=first-seen",
    "--canonicaliser=none",
    "--event-format=json"
  })
  void aDefaultThatIsGivenIsNoChange(String word) {
    assertThat(identity(word)).isEqualTo(identity());
  }

  @Test
  void theOrderOfValuesThatDeleteIsNoChangeAndTheOrderOfKeyFieldsIs() {
    assertThat(identity("--delete-values=a,b")).isEqualTo(identity("--delete-values=b,a"));
    assertThat(identity("--key-field=/a", "--key-field=/b"))
        .isNotEqualTo(identity("--key-field=/b", "--key-field=/a"));
  }

  @Test
  void anyTextIsReadAsItWasWritten() {
    JobIdentity identity = identity("--delete-values=a\nttl=1h\\n=\r", "--key-field=/ü=");
    assertThat(JobIdentity.parse(identity.toBytes())).isEqualTo(identity);
    assertThat(identity.values()).containsEntry("ttl", "none");
  }

  /** Options of later releases, and lines of another form. */
  @Test
  void whatOnlyOneOfTheTwoHasIsNotCompared() {
    JobIdentity other = JobIdentity.parse("later=1\n\nno value".getBytes(UTF_8));
    assertThat(identity().difference(other, Set.of())).isEmpty();
    assertThat(other.difference(identity(), Set.of())).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"event, first-seen, 1h", "processing, first-seen, none", "event, last-seen, none"})
  void aReaderOfTheChangelogSharesATtlOfAcceptedEvents(String clock, String since, String ttl) {
    assertThat(
            identity("--ttl=1h", "--ttl-clock=" + clock, "--ttl-since=" + since)
                .ofChangelog()
                .values())
        .containsEntry("ttl", ttl);
  }

  @Test
  void aTtlMayChangeAtARestart() {
    assertThat(identity("--ttl=2h").ofState().difference(identity("--ttl=1h"), Set.of())).isEmpty();
  }
}
