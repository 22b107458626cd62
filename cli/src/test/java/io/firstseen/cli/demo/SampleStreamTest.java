package io.firstseen.cli.demo;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.events.EventParser;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.InvalidKeyException;
import io.firstseen.serializers.Outcome;
import io.firstseen.serializers.Place;
import io.firstseen.serializers.SourceEvent;
import io.firstseen.types.Operation;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;

class SampleStreamTest {
  private static final int PARTITIONS = 4;
  private static final Path FILE = Path.of("..", "examples", "phishing-domains-small.tsv.gz");

  private final EventParser parser = new EventParser(Duration.ofHours(1), Clock.systemUTC());

  private static List<DemoEvent> all() throws IOException {
    return SampleStream.events(PARTITIONS, Integer.MAX_VALUE);
  }

  @Test
  void itIsTheSameEachTimeAndItsBeginningIsThatOfTheWhole() throws Exception {
    List<DemoEvent> all = all();
    List<DemoEvent> beginning = SampleStream.events(PARTITIONS, 5_000);
    assertThat(beginning).hasSize(5_000);
    for (int i = 0; i < beginning.size(); i++) {
      DemoEvent event = beginning.get(i);
      assertThat(event.number()).isEqualTo(i);
      assertThat(event.partition()).isEqualTo(all.get(i).partition());
      assertThat(event.recordValue(7)).isEqualTo(all.get(i).recordValue(7));
    }
  }

  @Test
  void theEventsOfTheFileComeInItsOrderForEachDomain() throws Exception {
    Map<String, Deque<Operation>> ofFile = new HashMap<>();
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(new GZIPInputStream(Files.newInputStream(FILE)), UTF_8))) {
      lines
          .lines()
          .map(line -> line.split("\t", 3))
          .forEach(
              fields ->
                  ofFile
                      .computeIfAbsent(SampleStream.url(fields[2]), url -> new ArrayDeque<>())
                      .add(fields[1].equals("add") ? Operation.ADD : Operation.DELETE));
    }
    // With repeats in between: each operation is the file's next one, or repeats an earlier one.
    Map<String, Operation> last = new HashMap<>();
    for (DemoEvent event : all()) {
      if (!event.isMalformed()) {
        Deque<Operation> rest = ofFile.get(event.url());
        if (event.operation().equals(rest.peek())) {
          rest.remove();
        } else {
          assertThat(last.containsKey(event.url())).isTrue();
        }
        last.put(event.url(), event.operation());
      }
    }
    ofFile.values().removeIf(Deque::isEmpty);
    assertThat(ofFile).hasSizeLessThanOrEqualTo(2);
  }

  @Test
  void allSpellingsOfAKeyMeetAndLieInOnePartition() throws Exception {
    Map<String, Integer> partitions = new HashMap<>();
    Map<String, Set<String>> spellings = new HashMap<>();
    for (DemoEvent event : all()) {
      if (!event.isMalformed()) {
        byte[] canonical = Canonicaliser.URL.canonicalise(event.spelling().getBytes(UTF_8));
        assertThat(new String(canonical, UTF_8)).isEqualTo(event.url());
        assertThat(partitions.merge(event.url(), event.partition(), Math::max))
            .isEqualTo(event.partition());
        spellings.computeIfAbsent(event.url(), url -> new HashSet<>()).add(event.spelling());
      }
    }
    assertThat(new HashSet<>(partitions.values())).containsExactlyInAnyOrder(0, 1, 2, 3);
    assertThat(spellings.values()).anyMatch(ofOneKey -> ofOneKey.size() >= 4);
  }

  @Test
  void aThirdIsRepeatsAndOneEventIn250IsMalformed() throws Exception {
    List<DemoEvent> all = all();
    ExactModel model = new ExactModel(all, keys -> 0);
    assertThat(all).hasSizeBetween(37_000, 38_000);
    assertThat(model.count(Outcome.Kind.DUPLICATE)).isBetween(11_000L, 13_000L);
    assertThat(model.count(Outcome.Kind.REMOVED)).isGreaterThan(1_500);
    assertThat(model.count(Outcome.Kind.UNKNOWN_DELETE)).isGreaterThan(100);
    assertThat(model.count(Outcome.Kind.DEAD_LETTER)).isEqualTo(all.size() / 250);
  }

  @Test
  void whatIsMalformedCannotBeUsedAndEverythingElseCan() throws Exception {
    Set<String> reasons = new HashSet<>();
    for (DemoEvent event : all()) {
      SourceEvent parsed =
          parser.parseJson(event.recordValue(1_775_403_029_000L), Place.of("here"));
      String problem = parsed.problem();
      if (problem == null) {
        try {
          Canonicaliser.URL.canonicalise(parsed.key());
        } catch (InvalidKeyException e) {
          problem = e.getMessage();
        }
      }
      assertThat(problem != null).as("%s", problem).isEqualTo(event.isMalformed());
      if (problem != null) {
        // The message says how far ahead the time is, which changes with the clock.
        reasons.add(problem.replaceAll("[0-9]+", "N"));
      }
    }
    assertThat(reasons).hasSize(SampleStream.MALFORMED.size());
  }

  @Test
  void theNumberTravelsInTheEvent() throws Exception {
    DemoEvent event = SampleStream.events(PARTITIONS, 12).get(11);
    assertThat(DemoEvent.numberIn(event.recordValue(1))).isEqualTo(11);
  }
}
