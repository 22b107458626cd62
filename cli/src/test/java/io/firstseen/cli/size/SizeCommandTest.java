package io.firstseen.cli.size;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.firstseen.cli.Invocation;
import io.firstseen.filters.cuckoo.CuckooShape;
import io.firstseen.jobs.options.JobOptions;
import io.firstseen.jobs.options.KafkaOptions;
import io.firstseen.jobs.options.StreamOptions.StateBackend;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.flink.configuration.GlobalConfiguration;
import org.apache.flink.configuration.MemorySize;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SizeCommandTest {
  private static JsonNode json(String... words) throws IOException {
    return Invocation.of(("size --json " + String.join(" ", words)).split(" ")).json();
  }

  @Test
  void theLawIsThatOfTheFilters() throws IOException {
    JsonNode sizing = json("--keys 1e9 --rate 1e5 --fpr 0.001");
    CuckooShape shape = CuckooShape.forCapacity(7_812_500, 0.001);
    assertThat(sizing.at("/tasks/shards").asInt()).isEqualTo(128);
    assertThat(sizing.at("/filter/identityBits").asInt()).isEqualTo(shape.identityBits());
    assertThat(sizing.at("/filter/predictedRate").asDouble())
        .isEqualTo(shape.predictedFalsePositiveRate(7_812_500));
    assertThat(sizing.at("/filter/bitsPerKey").asDouble()).isBetween(14.5, 15.5);
  }

  @Test
  void jsonHasAllParts() throws IOException {
    JsonNode sizing = json("--keys 1e9 --rate 1e6 --backend rocksdb --snapshots");
    assertThat(sizing.fieldNames())
        .toIterable()
        .containsExactly(
            "filter",
            "tasks",
            "memory",
            "checkpoints",
            "snapshots",
            "commands",
            "flinkConfiguration",
            "warnings");
    for (String part : List.of("filter", "tasks", "memory", "checkpoints", "snapshots")) {
      sizing
          .get(part)
          .forEach(value -> assertThat(value.asDouble()).as(part).isPositive().isFinite());
    }
    assertThat(json("--keys 1e6 --rate 1").has("snapshots")).isFalse();
  }

  @Test
  void tasksCarryRateAndMemory() throws IOException {
    JsonNode tasks = json("--keys 1e6 --rate 1e6").get("tasks");
    int parallelism = tasks.get("parallelism").asInt();
    double decided = tasks.get("eventsPerSecondOfTask").asDouble();
    assertThat(parallelism * decided * 0.7).isGreaterThanOrEqualTo(1e6);
    assertThat((parallelism - 1) * decided * 0.7).isLessThan(1.1e6);
    assertThat(tasks.get("busyShare").asDouble()).isBetween(0.5, 0.7);

    // Ten times the keys, and a tenth of the rate: now memory decides.
    JsonNode large = json("--keys 1e10 --rate 1e5 --memory-per-task 2g");
    assertThat(large.at("/memory/heapBytesOfTask").asDouble()).isBetween(1.5 * (1L << 30), 0x1p31);
    assertThat(large.at("/tasks/parallelism").asInt()).isBetween(28, 36);
    assertThat(large.get("warnings").toString()).doesNotContain("--memory-per-task");
  }

  @Test
  void coresOfTwiceTheSpeedHalveTheTasks() throws IOException {
    JsonNode slow = json("--keys 1e6 --rate 3e6").get("tasks");
    JsonNode fast = json("--keys 1e6 --rate 3e6 --core-speed 2").get("tasks");
    assertThat(fast.get("parallelism").asDouble())
        .isCloseTo(slow.get("parallelism").asDouble() / 2, Percentage.withPercentage(20));
    assertThat(fast.get("cores").asDouble())
        .isCloseTo(slow.get("cores").asDouble() / 2, Percentage.withPercentage(0.1));
  }

  /** P is at most 57, and P with the shard bits at most 64. */
  @ParameterizedTest
  @CsvSource({"1e12, 1e-4, 1", "1e12, 1.5e-7, 128"})
  void theLeastShardsAreThoseOfTheBitsOfAHash(String keys, String rate, int least)
      throws IOException {
    assertLeastShards(keys, rate, least);
  }

  @Tag("slow")
  @ParameterizedTest
  @CsvSource({"1e14, 1e-4, 16", "1e14, 2e-5, 128"})
  void alsoOfMoreKeys(String keys, String rate, int least) throws IOException {
    assertLeastShards(keys, rate, least);
  }

  private static void assertLeastShards(String keys, String rate, int least) throws IOException {
    JsonNode tasks = json("--keys", keys, "--rate", "1e6", "--fpr", rate).get("tasks");
    assertThat(tasks.get("leastShards").asInt()).isEqualTo(least);
    assertThat(tasks.get("shards").asInt()).isGreaterThanOrEqualTo(least);
    if (least > 1) {
      String words = "size --keys %s --rate 1e6 --fpr %s --dedup-shards %d";
      Invocation.of(words.formatted(keys, rate, least / 2).split(" "))
          .assertRefused("--dedup-shards must be at least " + least);
    }
  }

  /** Bytes per text as benchmarks/notes/near-duplicates.md measured them at 100,000 texts. */
  @ParameterizedTest
  @CsvSource({"short, 103, 0.005", "long, 56, 0.002"})
  void textsHaveTheBytesOfTheirBandsAndBothRates(String rule, double bytes, double signature)
      throws IOException {
    JsonNode oneScope =
        json("--keys", "1e5", "--rate", "5e3", "--near", rule, "--dedup-shards", "1");
    assertThat(oneScope.at("/filter/bitsPerKey").asDouble() / 8)
        .isCloseTo(bytes, Percentage.withPercentage(10));
    assertThat(oneScope.get("warnings").toString()).doesNotContain("of a scope");
    JsonNode sizing = json("--keys", "1e5", "--rate", "6e4", "--near", rule);
    assertThat(sizing.at("/filter/predictedRate").asDouble()).isBetween(1e-5, 1.01e-3);
    assertThat(sizing.at("/filter/signatureRate").asDouble())
        .isCloseTo(signature, Percentage.withPercentage(5));
    assertThat(sizing.at("/tasks/eventsPerSecondOfTask").asDouble())
        .isBetween(rule.equals("short") ? 36e3 : 17e3, rule.equals("short") ? 42.4e3 : 20.8e3);
    assertThat(sizing.at("/commands/0").asText())
        .contains("--canonicaliser text", "--capacity 100000 ", "--near " + rule);
    assertThat(sizing.get("warnings").toString())
        .contains("one task compares all texts of a scope: ");
  }

  @Test
  void aMeasuredRuleMayBeWrittenOut() throws IOException {
    assertThat(json("--keys 1e5 --rate 5e3 --near characters:4,32x5,2"))
        .isEqualTo(json("--keys 1e5 --rate 5e3 --near short"));
  }

  @Test
  void whatNoHashCarriesIsRefused() {
    Invocation.of("size", "--keys", "1e15", "--rate", "1", "--fpr", "1e-5")
        .assertRefused(
            "no number of shards up to 32768 carries 1,000,000,000,000,000 keys at a rate of "
                + "1.0E-5");
  }

  @ParameterizedTest
  @CsvSource({
    "--keys, 0, must be a whole number of at least 1",
    "--keys, many, must be a number such as",
    "--rate, 0, must be more than 0",
    "--fpr, 0.2, 'must be in (0, 0.1]'",
    "--repeats, 1, '--repeats must be in [0, 1)'",
    "--cached, 0, '--cached must be in (0, 1]'",
    "--near, 'words:3,18x8,1', 'must be short or long, got'",
    "--busy, 1, '--busy must be in (0, 1)'",
    "--dedup-shards, 100, must be a power of two",
    "--backend, disk, disk",
    "--keys, 1e30, 'must be a number up to 9223372036854775807, got \'\'1e30\'\''",
    "--memory-per-task, 512m, '--memory-per-task must be more than 512 MiB, which a task needs "
        + "in addition to its filters, got 512 MiB'",
    "--window, 1h, --snapshots"
  })
  void aMistakeIsOneSentence(String option, String value, String sentence) {
    List<String> words = new ArrayList<>(List.of("size", option, value));
    for (String other : List.of("--keys", "--rate")) {
      if (!option.equals(other)) {
        words.addAll(List.of(other, "1e6"));
      }
    }
    Invocation.of(words.toArray(String[]::new)).assertRefused(sentence);
  }

  @Test
  void tooManyTasksForTheShardsAreRefused() {
    Invocation.of(
            "size", "--keys", "1e6", "--rate", "1", "--dedup-shards", "8", "--parallelism", "9")
        .assertRefused("--parallelism must be at most --dedup-shards, got 9 and 8");
  }

  @Test
  void thereAreShardsForTheTasksThatAreAskedFor() throws IOException {
    JsonNode tasks = json("--keys 1e9 --rate 1e6 --parallelism 200").get("tasks");
    assertThat(tasks.get("parallelism").asInt()).isEqualTo(200);
    assertThat(tasks.get("shards").asInt()).isEqualTo(1024);
  }

  /** Only the pages are written again and again, not the entries of the exact set. */
  @Test
  void anIncrementHasTheNewEntriesOfTheExactSet() throws IOException {
    String words = "--keys 1e9 --rate 1e5 --backend rocksdb --mode";
    JsonNode plain = json(words, "approximate").get("checkpoints");
    JsonNode exact = json(words, "exact").get("checkpoints");
    // 10 s of half of the events, 25 bytes each.
    assertThat(exact.get("usualBytes").asDouble() - plain.get("usualBytes").asDouble())
        .isCloseTo(10 * 5e4 * 25, Percentage.withPercentage(1));
    assertThat(exact.get("fullBytes").asDouble() - plain.get("fullBytes").asDouble())
        .isCloseTo(25e9, Percentage.withPercentage(1));
  }

  /** Bytes as benchmarks/notes/checkpoints.md measured them with 1 % new keys. */
  @ParameterizedTest
  @CsvSource({"1e6, 1, 27.0", "1e7, 1, 17.2", "2e6, 0.125, 154"})
  void anIncrementHasTheMeasuredBytesPerNewKey(double keys, String cached, double bytes)
      throws IOException {
    double newKeys = keys / 100;
    // Half of the events of 10 s.
    String rate = Double.toString(newKeys / 5);
    JsonNode sizing =
        json("--backend=rocksdb", "--cached=" + cached, "--keys=" + (long) keys, "--rate=" + rate);
    assertThat(sizing.at("/checkpoints/usualBytes").asDouble() / newKeys)
        .isCloseTo(bytes, Percentage.withPercentage(10));
  }

  @ParameterizedTest
  @CsvSource({
    "'--parallelism 1', the fullest task would be busy for",
    "'--memory-per-task 600m --dedup-shards 8', 'more than --memory-per-task, 600 MiB'",
    "'--storage-rate 1m', 'longer than --checkpoint-interval, 10 s'",
    "'--storage-rate 100k --checkpoint-interval 1h', increase --transaction-timeout",
    "'--dedup-shards 8', cannot grow to four times as many tasks",
    "'--mode exact-keys', times and tasks refer to mode approximate",
    "'--mode exact --keys 1e11', mode exact compares 64-bit hashes",
    "'--ttl 1h', 10,125,000,000 new keys arrive within a TTL",
    "'--storage-rate 20m', --backend rocksdb writes new keys only",
    "'--backend rocksdb --cached 0.5', adds a random read",
    "'--snapshots --keys 1e11', of the 128 tasks of SnapshotJob takes",
    "'--snapshots --keys 1e11', all bases take 133 GiB",
    "'--snapshots --keys 1e10 --snapshot-shards 8', the values of a shard take",
    "'--snapshots --window 1s --keys 1e9 --memory-per-task 64g', closing a window takes"
  })
  void whatDoesNotFitIsAWarning(String words, String warning) throws IOException {
    List<String> given = List.of(words.split(" "));
    String keys = given.contains("--keys") ? "" : " --keys 1e9";
    JsonNode sizing = json(words + keys + " --rate 5e6");
    assertThat(sizing.get("warnings").toString()).contains(warning);
  }

  @Test
  void whatFitsHasNoWarning() throws IOException {
    JsonNode sizing = json("--keys 1e9 --rate 1e5 --ttl 1h");
    assertThat(sizing.get("warnings")).isEmpty();
  }

  @Test
  void thereIsEnoughOfEverythingInTheText() {
    Invocation call =
        Invocation.of("size", "--keys", "1e9", "--rate", "1e6", "--snapshots", "--ttl", "10m");
    assertThat(call.status()).isZero();
    assertThat(call.out())
        .contains("Filter", "Tasks", "Memory", "Checkpoints", "Snapshots", "Submit")
        .contains("keys                1,000,000,000");
    assertThat(call.err()).isEmpty();
  }

  @Test
  void theJobsAcceptTheCommandLines() throws IOException {
    JsonNode sizing =
        json(
            "--keys 1e12 --rate 5e6 --fpr 1e-4 --backend rocksdb --mode exact-keys --ttl 30d --canonicaliser url --event-format key --snapshots --window 1d");
    assertThat(sizing.get("commands")).hasSize(2);
    String dedup = sizing.at("/commands/0").asText();
    assertThat(dedup)
        .startsWith(
            "flink run -D pipeline.max-parallelism=%s -c io.firstseen.jobs.DedupJob "
                .formatted(sizing.at("/tasks/shards").asText()));
    assertThat(sizing.at("/commands/1").asText())
        .startsWith("flink run -c io.firstseen.jobs.SnapshotJob ")
        .contains("--snapshot-shards " + sizing.at("/snapshots/shards").asText());

    JobOptions options = JobOptions.parse(words(dedup, false));
    assertThat(options.dedup().capacity()).isEqualTo(1_000_000_000_000L);
    assertThat(options.dedup().falsePositiveRate()).isEqualTo(1e-4);
    assertThat(options.dedup().shards()).isEqualTo(sizing.at("/tasks/shards").asInt());
    assertThat(options.dedup().ttl().orElseThrow().millis()).isEqualTo(2_592_000_000L);
    assertThat(options.dedup().pageCacheBytes())
        .isCloseTo(
            sizing.at("/memory/pageCacheBytesOfTask").asLong(), Percentage.withPercentage(1));
    assertThat(options.stream().parallelism()).isEqualTo(sizing.at("/tasks/parallelism").asInt());
    assertThat(options.stream().stateBackend()).isEqualTo(StateBackend.ROCKSDB);
    KafkaOptions kafka = KafkaOptions.parse(words(dedup, true));
    assertThat(kafka.checkpointInterval()).isEqualTo(Duration.ofSeconds(10));
    assertThat(kafka.events().format()).isEqualTo(KafkaOptions.EventFormat.KEY);
  }

  @ParameterizedTest
  @CsvSource({"2e8, 1", "1e9, 4"})
  void aTaskManagerHasHeapForTasksOfEitherJob(String keys, String slots) throws IOException {
    JsonNode sizing = json("--keys", keys, "--rate", "5e6", "--slots", slots, "--snapshots");
    JsonNode flink = sizing.get("flinkConfiguration");
    long heap =
        MemorySize.parse(flink.get("taskmanager.memory.task.heap.size").asText()).getBytes();
    int most =
        Math.min(
            flink.get("taskmanager.numberOfTaskSlots").asInt(),
            sizing.at("/snapshots/parallelism").asInt());
    assertThat((double) heap)
        .isGreaterThanOrEqualTo(most * sizing.at("/snapshots/heapBytesOfTask").asDouble())
        .isGreaterThanOrEqualTo(sizing.at("/memory/heapBytesOfTaskManager").asDouble());
  }

  /** The words of a command line that are options of Kafka, or all others. */
  private static String[] words(String line, boolean ofKafka) {
    List<String> kafka =
        List.of(
            "--bootstrap-servers", "--checkpoint-dir", "--checkpoint-interval", "--event-format");
    List<String> all = List.of(line.substring(line.indexOf("--")).split(" "));
    Stream.Builder<String> chosen = Stream.builder();
    for (int i = 0; i < all.size(); i++) {
      boolean isOfKafka = kafka.contains(all.get(i));
      boolean hasValue = i + 1 < all.size() && !all.get(i + 1).startsWith("--");
      if (isOfKafka == ofKafka) {
        chosen.add(all.get(i));
        if (hasValue) {
          chosen.add(all.get(i + 1));
        }
      }
      i += hasValue ? 1 : 0;
    }
    return chosen.build().toArray(String[]::new);
  }

  /** Savepoints of known keys that the command {@code bootstrap} makes. */
  @ParameterizedTest
  @CsvSource({"50000, approximate, ", "20000, approximate, 1h", "10000, exact, "})
  void aCheckpointHasTheBytesThatWereSaid(
      int least, String mode, String ttl, @TempDir Path directory) throws IOException {
    int keys = least * Integer.getInteger("firstseen.scale", 1);
    Path input = directory.resolve("keys");
    StringBuilder lines = new StringBuilder();
    for (int i = 0; i < keys; i++) {
      lines.append("key-").append(i).append('\n');
    }
    Files.write(input, lines.toString().getBytes(US_ASCII));
    Path savepoint = directory.resolve("savepoint");
    String bootstrap =
        "bootstrap --json --input %s --savepoint %s --capacity %d --mode %s"
            .formatted(input, savepoint, keys, mode);
    String expiry = ttl == null ? "" : " --ttl " + ttl;
    String clock = ttl == null ? "" : " --ttl-clock processing";
    assertThat(Invocation.of((bootstrap + expiry + clock).split(" ")).status()).isZero();
    long stored = 0;
    try (Stream<Path> files = Files.walk(savepoint)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        stored += Files.size(file);
      }
    }
    JsonNode sizing = json("--keys %d --rate 1 --mode %s%s".formatted(keys, mode, expiry));
    assertThat(sizing.at("/checkpoints/fullBytes").asDouble())
        .isCloseTo((double) stored, Percentage.withPercentage(15));
  }

  @Test
  void settingsAreThoseOfFlink(@TempDir Path directory) throws IOException {
    JsonNode settings = json("--keys 1e9 --rate 3e6 --backend rocksdb").get("flinkConfiguration");
    StringBuilder yaml = new StringBuilder();
    for (Map.Entry<String, JsonNode> entry : settings.properties()) {
      yaml.append(entry.getKey() + ": " + entry.getValue().asText() + "\n");
    }
    Files.writeString(directory.resolve("config.yaml"), yaml);
    assertThat(GlobalConfiguration.loadConfiguration(directory.toString()).toMap())
        .containsEntry("taskmanager.numberOfTaskSlots", "4")
        .containsKey("taskmanager.memory.task.heap.size");
  }
}
