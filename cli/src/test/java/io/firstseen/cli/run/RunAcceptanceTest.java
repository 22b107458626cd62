package io.firstseen.cli.run;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.firstseen.cli.Invocation;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.SnapshotSet;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code firstseen run} on the sample, against an exact model, on both state backends and at two
 * parallelisms.
 */
class RunAcceptanceTest {
  private static final Path SAMPLE = Path.of("..", "examples", "phishing-domains-small.tsv.gz");
  private static final double RATE = 0.001;
  private static final long CAPACITY = 50_000;
  private static final int ABSENT_KEYS = 100_000;

  @TempDir private Path directory;

  /** An event of the stream. */
  private record Event(String line, boolean add, String key) {
    static Event of(String line) {
      String[] fields = line.split("\t", 3);
      return new Event(line, fields[1].equals("add"), fields[2]);
    }
  }

  /** The files of a run. */
  private record Run(List<Event> accepted, List<Event> duplicates, Path snapshots) {}

  @Tag("slow")
  @Test
  void theSampleOnBothBackendsAndAtTwoParallelismsAgreesWithTheExactModel() throws Exception {
    List<Event> events = events();
    Set<String> acceptedLines = null;
    for (String backend : List.of("heap", "rocksdb")) {
      for (int parallelism : new int[] {1, 2}) {
        Run run = run(backend, parallelism);
        checkOutcomes(events, run);
        checkLastSnapshot(events, run);
        List<String> lines = run.accepted.stream().map(Event::line).toList();
        Set<String> set = Set.copyOf(lines);
        assertThat(set).as("no line twice").hasSameSizeAs(lines);
        if (acceptedLines == null) {
          acceptedLines = set;
        }
        assertThat(set.equals(acceptedLines)).as("the same accepted set").isTrue();
      }
    }
  }

  /**
   * The sample is a changelog: each add is of a key that is not live, each delete of one that is.
   */
  private static List<Event> events() throws IOException {
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(new GZIPInputStream(Files.newInputStream(SAMPLE)), UTF_8))) {
      List<Event> events = lines.lines().map(Event::of).toList();
      Set<String> live = new HashSet<>();
      for (Event event : events) {
        assertThat(event.add ? live.add(event.key) : live.remove(event.key)).isTrue();
      }
      assertThat(events).hasSize(24_828);
      return events;
    }
  }

  private Run run(String backend, int parallelism) throws IOException {
    Path results = Files.createDirectory(directory.resolve(backend + parallelism));
    Path accepted = results.resolve("A");
    Path duplicates = results.resolve("D");
    Path snapshots = results.resolve("S");
    Invocation call =
        Invocation.of(
            "run",
            "--input=" + SAMPLE,
            "--format=tsv",
            "--fpr=" + RATE,
            "--capacity=" + CAPACITY,
            "--window=1d",
            "--accepted=" + accepted,
            "--duplicates=" + duplicates,
            "--snapshots=" + snapshots,
            "--state-backend=" + backend,
            "--parallelism=" + parallelism,
            "--json");
    assertThat(call.status()).as("%s", call).isZero();
    Run run = new Run(read(accepted), read(duplicates), snapshots);
    JsonNode summary = new ObjectMapper().readTree(call.out().get(0));
    assertThat(summary.get("events").intValue()).isEqualTo(24_828);
    assertThat(summary.get("deadLetters").intValue()).isZero();
    assertThat(summary.get("accepted").intValue() + summary.get("removed").intValue())
        .isEqualTo(run.accepted.size());
    assertThat(summary.get("duplicates").intValue() + summary.get("unknownDeletes").intValue())
        .isEqualTo(run.duplicates.size());
    return run;
  }

  private static List<Event> read(Path file) throws IOException {
    return Files.readAllLines(file).stream().map(Event::of).toList();
  }

  private static void checkOutcomes(List<Event> events, Run run) {
    // Every event is in one of the files, unchanged.
    List<String> seen = new ArrayList<>();
    run.accepted.forEach(event -> seen.add(event.line));
    run.duplicates.forEach(event -> seen.add(event.line));
    assertThat(seen.stream().sorted().toList())
        .isEqualTo(events.stream().map(Event::line).sorted().toList());

    // No key is accepted twice while it is live, and each removed key was live.
    Set<String> live = new HashSet<>();
    for (Event event : run.accepted) {
      assertThat(event.add ? live.add(event.key) : live.remove(event.key)).as(event.line).isTrue();
    }

    // At most three times the expected false drops: an add to n keys is dropped with 2 n / 2^P.
    Set<String> exact = new HashSet<>();
    double expectedDrops = 0;
    double identities = Math.pow(2, Math.ceil(Math.log(2 * CAPACITY / RATE) / Math.log(2)));
    for (Event event : events) {
      if (event.add) {
        expectedDrops += 2 * exact.size() / identities;
        exact.add(event.key);
      } else {
        exact.remove(event.key);
      }
    }
    long drops = run.duplicates.stream().filter(Event::add).count();
    assertThat((double) drops).isLessThanOrEqualTo(3 * expectedDrops);
    assertThat(expectedDrops).as("less than at full capacity").isLessThan(RATE * events.size());

    // Every delete takes effect, except deletes of dropped keys.
    Set<String> dropped =
        run.duplicates.stream().filter(Event::add).map(Event::key).collect(Collectors.toSet());
    for (Event event : run.duplicates) {
      assertThat(event.add || dropped.contains(event.key)).as(event.line).isTrue();
    }
    Set<String> missing = new HashSet<>(exact);
    missing.removeAll(live);
    // AssertJ's containsAll would compare each with each.
    assertThat(dropped.containsAll(missing)).isTrue();
    assertThat(exact.containsAll(live)).isTrue();
  }

  private static void checkLastSnapshot(List<Event> events, Run run) throws Exception {
    Set<String> live = new HashSet<>();
    run.accepted.forEach(
        event -> assertThat(event.add ? live.add(event.key) : live.remove(event.key)).isTrue());
    SnapshotSet last = SnapshotSet.openDirectory(run.snapshots, OptionalLong.empty());
    last.verify();
    assertThat(last.manifest().count()).isEqualTo(live.size());
    for (String key : live) {
      assertThat(contains(last, key)).as(key).isTrue();
    }
    List<String> absentKeys = new ArrayList<>();
    for (int i = 0; i < ABSENT_KEYS; i++) {
      absentKeys.add("absent-" + i + ".invalid");
    }
    assertThat(share(last, absentKeys)).isLessThanOrEqualTo(0.002);
    // Keys that stay deleted are also absent.
    Set<String> gone = new HashSet<>();
    events.forEach(event -> gone.add(event.key));
    gone.removeAll(live);
    assertThat(gone).hasSizeGreaterThan(1_000);
    assertThat(share(last, gone)).isLessThanOrEqualTo(0.01);
  }

  private static double share(SnapshotSet set, Iterable<String> keys) throws Exception {
    int asked = 0;
    int present = 0;
    for (String key : keys) {
      asked++;
      present += contains(set, key) ? 1 : 0;
    }
    return (double) present / asked;
  }

  private static boolean contains(SnapshotSet set, String key) throws Exception {
    return set.mightContainKey(key.getBytes(UTF_8), KeyHash.fixed());
  }
}
