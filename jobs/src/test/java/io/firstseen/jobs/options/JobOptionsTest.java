package io.firstseen.jobs.options;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.jobs.shared.UserErrorException;
import io.firstseen.operators.compaction.Publication;
import io.firstseen.operators.dedup.Firstseen;
import io.firstseen.types.DedupMode;
import io.firstseen.types.TimeToLive;
import io.firstseen.types.TimeToLive.Clock;
import io.firstseen.types.TimeToLive.Since;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

class JobOptionsTest {

  private static final String KEY = "000102030405060708090a0b0c0d0e0f";

  @Test
  void defaultsAreThoseOfTheDesign() {
    JobOptions options = JobOptions.parse();
    assertThat(options.keys().canonicaliser()).isEqualTo(Canonicaliser.NONE);
    assertThat(options.dedup().falsePositiveRate()).isEqualTo(0.001);
    assertThat(options.dedup().capacity()).isEqualTo(1_000_000);
    assertThat(options.dedup().shards()).isEqualTo(128);
    assertThat(options.dedup().mode()).isEqualTo(DedupMode.APPROXIMATE);
    assertThat(options.dedup().auditSlices()).isZero();
    assertThat(JobOptions.parse("--audit-slice").dedup().auditSlices()).isEqualTo(1024);
    assertThat(JobOptions.parse("--audit-slice=16").dedup().auditSlices()).isEqualTo(16);
    assertThat(options.dedup().pageCacheBytes()).isEqualTo(Firstseen.DEFAULT_PAGE_CACHE_BYTES);
    assertThat(options.stream().parallelism()).isEqualTo(1);
    assertThat(options.stream().stateBackend()).isEqualTo(StreamOptions.StateBackend.HEAP);
    assertThat(options.snapshots().window()).isEqualTo(Duration.ofHours(1));
    assertThat(options.snapshots().shards()).isEqualTo(16);
    KafkaOptions kafka = kafka();
    assertThat(kafka.eventsTopic()).isEqualTo("firstseen.events");
    assertThat(kafka.acceptedTopic()).isEqualTo("firstseen.accepted");
    assertThat(kafka.duplicatesTopic()).isEqualTo("firstseen.duplicates");
    assertThat(kafka.deadLettersTopic()).isEqualTo("firstseen.dead-letters");
    assertThat(kafka.snapshotsTopic()).isEqualTo("firstseen.snapshots");
    assertThat(kafka.transactionTimeout()).isEqualTo(Duration.ofMinutes(15));
    kafka.check();
  }

  @Test
  void snapshotsTakeTheRateOfDedupUnlessTheyHaveTheirOwn() {
    assertThat(JobOptions.parse().snapshotFalsePositiveRate()).isEqualTo(0.001);
    assertThat(JobOptions.parse("--fpr", "0.02").snapshotFalsePositiveRate()).isEqualTo(0.02);
    assertThat(JobOptions.parse("--fpr=0.02", "--snapshot-fpr=0.03").snapshotFalsePositiveRate())
        .isEqualTo(0.03);
    JobOptions all = JobOptions.parse();
    assertThat(
            JobOptions.forSnapshots(
                    all.keys(), all.stream(), new ChangelogOptions(), all.snapshots())
                .snapshotFalsePositiveRate())
        .isEqualTo(0.001);
  }

  @Test
  void manifestsExpireLaterThanTheNextWindowAndBeforeTheEndOfTime() {
    assertThat(JobOptions.parse().snapshots().publication().expiryMillis())
        .isEqualTo(Publication.NO_EXPIRY);
    assertThat(JobOptions.parse("--expire-after=2h").snapshots().publication().expiryMillis())
        .isEqualTo(7_200_000);
    SnapshotOptions soon = JobOptions.parse("--window=1h", "--expire-after=1h").snapshots();
    assertThatThrownBy(soon::publication)
        .isInstanceOf(UserErrorException.class)
        .hasMessage(
            "--expire-after must be more than --window, 3600000 ms, as a set is published once a"
                + " window; got 3600000 ms");
    SnapshotOptions late = JobOptions.parse("--expire-after=36501d").snapshots();
    assertThatThrownBy(late::publication)
        .isInstanceOf(UserErrorException.class)
        .hasMessage("--expire-after must be at most 36500d, got 36501d");
  }

  @Test
  void aRecordMayBeFurtherAheadOnTheAcceptedTopicThanInTheInput() {
    JobOptions all = JobOptions.parse();
    assertThat(all.maxAhead()).isEqualTo(Duration.ofHours(1));
    ChangelogOptions changelog = new ChangelogOptions();
    JobOptions ofChangelog =
        JobOptions.forSnapshots(all.keys(), all.stream(), changelog, all.snapshots());
    new CommandLine(changelog).parseArgs();
    assertThat(ofChangelog.maxAhead()).isEqualTo(Duration.ofDays(1));
    new CommandLine(changelog).parseArgs("--max-ahead=2h");
    assertThat(ofChangelog.maxAhead()).isEqualTo(Duration.ofHours(2));
  }

  @Test
  void snapshotsHaveTheTtlOfTheDedup() {
    assertThat(JobOptions.parse().snapshotTtlMillis()).isZero();
    assertThat(JobOptions.parse("--ttl=2d").snapshotTtlMillis()).isEqualTo(172_800_000);
    JobOptions all = JobOptions.parse("--ttl=2d");
    ChangelogOptions changelog = new ChangelogOptions();
    JobOptions ofChangelog =
        JobOptions.forSnapshots(all.keys(), all.stream(), changelog, all.snapshots());
    assertThat(ofChangelog.snapshotTtlMillis()).isZero();
    new CommandLine(changelog).parseArgs("--ttl", "3h");
    assertThat(ofChangelog.snapshotTtlMillis()).isEqualTo(10_800_000);
  }

  @ParameterizedTest
  @CsvSource({
    "--ttl-clock=processing, their windows are of event time",
    "--ttl-since=last-seen, they do not see repeats"
  })
  void snapshotsRefuseATtlThatTheyCannotFollow(String option, String sentence) {
    JobOptions options = JobOptions.parse("--ttl=1h", option);
    assertThatThrownBy(options::snapshotTtlMillis)
        .isInstanceOf(UserErrorException.class)
        .hasMessageContaining(option.replace('=', ' ') + " needs a job without snapshots")
        .hasMessageContaining(sentence);
  }

  @ParameterizedTest
  @CsvSource({"500ms,500", "30s,30000", "5m,300000", "1h,3600000", "1d,86400000"})
  void durationsHaveAUnitAndAreWrittenAsTheyAreRead(String written, long millis) {
    Duration duration = JobOptions.parse("--window", written).snapshots().window();
    assertThat(duration).isEqualTo(Duration.ofMillis(millis));
    assertThat(OptionValues.write(duration)).isEqualTo(written);
  }

  @ParameterizedTest
  @CsvSource({"0,0", "4096,4096", "512k,524288", "64m,67108864", "64mb,67108864", "3g,3221225472"})
  void sizesHaveAUnitOrAreBytes(String written, long bytes) {
    assertThat(JobOptions.parse("--page-cache", written).dedup().pageCacheBytes()).isEqualTo(bytes);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--fpr | 0 | must be in (0, 0.1], got '0'",
        "--fpr | 0.1000001 | must be in (0, 0.1], got '0.1000001'",
        "--fpr | NaN | must be in (0, 0.1], got 'NaN'",
        "--fpr | x | must be in (0, 0.1], got 'x'",
        "--snapshot-fpr | 0.5 | must be in (0, 0.1], got '0.5'",
        "--capacity | 0 | must be a whole number in [1, 9223372036854775807], got '0'",
        "--capacity | 1e6 | must be a whole number in [1, 9223372036854775807], got '1e6'",
        "--dedup-shards | 3 | must be a power of two in [1, 32768], got '3'",
        "--dedup-shards | 65536 | must be a whole number in [1, 32768], got '65536'",
        "--page-cache | -1 | must be a whole number with a unit (0, 512k, 64m, 1g), got '-1'",
        "--page-cache | 1.5g | must be a whole number with a unit (0, 512k, 64m, 1g), got '1.5g'",
        "--page-cache | 64 parsecs | must be a whole number with a unit (0, 512k, 64m, 1g), got '64"
            + " parsecs'",
        "--page-cache | much | must be a whole number with a unit (0, 512k, 64m, 1g), got 'much'",
        "--page-cache | 99999999999g | must be a whole number with a unit (0, 512k, 64m, 1g), got"
            + " '99999999999g'",
        "--snapshot-shards | -1 | must be a whole number in [1, 65536], got '-1'",
        "--parallelism | 0 | must be a whole number in [1, 32768], got '0'",
        "--canonicaliser | URL | canonicaliser must be one of none, url, text, got 'URL'",
        "--state-backend | disk | must be one of heap, rocksdb, got 'disk'",
        "--window | 0s | must be longer than zero, got '0s'",
        "--window | 1 | must be a whole number with a unit (500ms, 30s, 5m, 1h, 1d), got '1'",
        "--idle-timeout | 0ms | must be longer than zero, got '0ms'",
        "--max-ahead | -1s | must be a whole number with a unit (500ms, 30s, 5m, 1h, 1d), got"
            + " '-1s'",
        "--ttl | 999ms | must be at least 1s, got '999ms'",
        "--ttl | 999999999d | ttl must be in [1000, 70368744177664] ms, got 86399999913600000",
        "--ttl | never | must be a whole number with a unit (500ms, 30s, 5m, 1h, 1d), got 'never'",
        "--ttl-clock | wall | ttl clock must be one of event, processing, got 'wall'",
        "--ttl-since | birth | ttl since must be one of first-seen, last-seen, got 'birth'",
        "--mode | strict | mode must be one of approximate, exact, exact-keys, got 'strict'",
        "--audit-slice | -1 | must be a whole number in [0, 1048576], got '-1'",
        "--set | a/b | must be 1 to 100 letters, digits, '.', '_' or '-', got 'a/b'",
      })
  void aValueOutOfBoundsIsRefusedWithASentence(String option, String value, String sentence) {
    assertThatThrownBy(() -> JobOptions.parse(option, value))
        .isInstanceOf(ParameterException.class)
        .hasMessageContaining(option)
        .hasMessageEndingWith(sentence);
  }

  @Test
  void aTtlIsOfEventTimeSinceFirstSeenUnlessOptionsSayOtherwise() {
    assertThat(JobOptions.parse().dedup().ttl()).isEmpty();
    assertThat(JobOptions.parse("--ttl=2d").dedup().ttl())
        .contains(new TimeToLive(172_800_000, Clock.EVENT, Since.FIRST_SEEN));
    assertThat(
            JobOptions.parse("--ttl=1s", "--ttl-clock=processing", "--ttl-since=last-seen")
                .dedup()
                .ttl())
        .contains(new TimeToLive(1_000, Clock.PROCESSING, Since.LAST_SEEN));
  }

  @ParameterizedTest
  @CsvSource({
    "--ttl-clock=event, --fpr=0.01, --ttl-clock needs --ttl",
    "--ttl-since=last-seen, --fpr=0.01, --ttl-since needs --ttl"
  })
  void ttlOptionsThatContradictOthersAreRefused(String one, String other, String sentence) {
    DedupOptions options = JobOptions.parse(one, other).dedup();
    assertThatThrownBy(options::ttl).isInstanceOf(UserErrorException.class).hasMessage(sentence);
  }

  @Test
  void anUnknownOptionIsRefused() {
    assertThatThrownBy(() -> JobOptions.parse("--colour", "red"))
        .isInstanceOf(ParameterException.class)
        .hasMessageContaining("--colour");
  }

  @Test
  void kafkaOptionsThatContradictEachOtherAreRefused() {
    assertThatThrownBy(() -> kafka("--accepted-topic", "firstseen.events").check())
        .isInstanceOf(UserErrorException.class)
        .hasMessage(
            "--events-topic and --accepted-topic must be different topics, got firstseen.events for"
                + " both");
    assertThatThrownBy(
            () -> kafka("--checkpoint-interval=5m", "--transaction-timeout=300s").check())
        .isInstanceOf(UserErrorException.class)
        .hasMessage(
            "--transaction-timeout must be longer than --checkpoint-interval, got 5m and 5m");
    String replicas = "--topic-replication-factor=2";
    assertThatThrownBy(() -> kafka(replicas, "--topic-min-insync-replicas=3").check())
        .isInstanceOf(UserErrorException.class)
        .hasMessage(
            "--topic-min-insync-replicas must be at most --topic-replication-factor, got 3 and 2");
    assertThatThrownBy(() -> kafka("--topic-min-insync-replicas=1").check())
        .isInstanceOf(UserErrorException.class)
        .hasMessage(
            "--topic-min-insync-replicas needs --topic-replication-factor, of which it is a part");
    assertThatThrownBy(() -> kafka("--topic-replication-factor=0"))
        .isInstanceOf(ParameterException.class)
        .hasMessageContaining("must be a whole number in [1, 32767], got '0'");
    kafka(replicas, "--topic-min-insync-replicas=2").check();
    assertThatThrownBy(KafkaOptions::parse)
        .isInstanceOf(ParameterException.class)
        .hasMessageContaining("--bootstrap-servers");
  }

  @Test
  void clientPropertiesReachEveryClient() {
    assertThat(kafka("--kafka-property", "security.protocol=SSL").clientProperties())
        .containsEntry("security.protocol", "SSL")
        .containsEntry("bootstrap.servers", "localhost:9092");
  }

  @Test
  void theHashKeyComesFromTheFileElseFromTheEnvironmentElseIsTheFixedOne(@TempDir Path directory)
      throws IOException {
    Path file = Files.writeString(directory.resolve("key"), KEY + "\n");
    KeyOptions withFile = JobOptions.parse("--hash-key-file", file.toString()).keys();
    KeyOptions without = JobOptions.parse().keys();
    long check = KeyHash.parse(KEY).keyCheck();
    String other = "ff".repeat(16);
    assertThat(withFile.keyHash(other).keyCheck()).isEqualTo(check);
    assertThat(without.keyHash(KEY).keyCheck()).isEqualTo(check);
    assertThat(without.keyHash(null).isFixedKey()).isTrue();
    assertThat(without.keyHash("").isFixedKey()).isTrue();
    assertThat(JobOptions.parse("--hash-key-on-workers").keyHashSource().open().isFixedKey())
        .isTrue();
  }

  @Test
  void anUnreadableHashKeyIsRefusedWithoutRepeatingIt(@TempDir Path directory) throws IOException {
    Path missing = directory.resolve("missing");
    KeyOptions noFile = JobOptions.parse("--hash-key-file", missing.toString()).keys();
    assertThatThrownBy(() -> noFile.keyHash(null))
        .isInstanceOf(UserErrorException.class)
        .hasMessage("--hash-key-file: " + missing + " does not exist");
    Path wrong = Files.writeString(directory.resolve("wrong"), "secret");
    KeyOptions wrongFile = JobOptions.parse("--hash-key-file", wrong.toString()).keys();
    assertThatThrownBy(() -> wrongFile.keyHash(null))
        .isInstanceOf(UserErrorException.class)
        .hasMessageContaining("32 hexadecimal digits")
        .hasMessageNotContaining("secret");
    assertThatThrownBy(() -> JobOptions.parse().keys().keyHash("secret"))
        .isInstanceOf(UserErrorException.class)
        .hasMessageContaining("FIRSTSEEN_HASH_KEY")
        .hasMessageNotContaining("secret");
  }

  @ParameterizedTest
  @CsvSource({
    "fetch.min.bytes=many, Invalid value many for configuration fetch.min.bytes",
    "acks=perhaps, Invalid value perhaps for configuration acks",
    "retries=-5, Invalid value -5 for configuration retries",
  })
  void whatKafkasClientsWouldRefuseIsOneSentence(String property, String sentence) {
    assertThatThrownBy(() -> kafka("--kafka-property=" + property).check())
        .isInstanceOf(UserErrorException.class)
        .hasMessageStartingWith("--kafka-property or --kafka-properties: " + sentence);
    kafka("--kafka-property=fetch.min.bytes=7", "--kafka-property=my.setting=x").check();
  }

  private static KafkaOptions kafka(String... words) {
    String[] all = Arrays.copyOf(words, words.length + 1);
    all[words.length] = "--bootstrap-servers=localhost:9092";
    return KafkaOptions.parse(all);
  }
}
