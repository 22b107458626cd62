package io.firstseen.jobs.options;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.jobs.shared.Duplicates;
import io.firstseen.operators.UserErrorException;
import io.firstseen.operators.compaction.Publication;
import io.firstseen.operators.compaction.SnapshotSpec;
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
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

class JobOptionsTest {

  private static final String KEY = "000102030405060708090a0b0c0d0e0f";

  @ParameterizedTest
  @ValueSource(strings = {"file:/x", "file:///a b/ü", "s3://bucket/checkpoints", "hdfs:///x"})
  void checkpointsAreKeptWhereAUriSays(String uri) {
    assertThat(KafkaOptions.parse("--bootstrap-servers=h:1", "--checkpoint-dir=" + uri))
        .returns(Optional.of(uri), KafkaOptions::checkpointDirectory);
  }

  @ParameterizedTest
  @ValueSource(strings = {"/data/checkpoints", "checkpoints", "s3:bucket", "C:/data"})
  void checkpointsNeedAUri(String value) {
    assertThatThrownBy(
            () -> KafkaOptions.parse("--bootstrap-servers=h:1", "--checkpoint-dir=" + value))
        .isInstanceOf(ParameterException.class)
        .hasMessageContaining(
            "must be the URI of a directory, such as s3://bucket/path or file:///path, got '%s'",
            value);
  }

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
    assertThat(kafka.events().topic()).isEqualTo("firstseen.events");
    assertThat(kafka.topics().acceptedTopic()).isEqualTo("firstseen.accepted");
    assertThat(kafka.topics().duplicatesTopic()).isEqualTo("firstseen.duplicates");
    assertThat(kafka.topics().duplicates()).isEqualTo(Duplicates.TOPIC);
    assertThat(kafka.topics().deadLettersTopic()).isEqualTo("firstseen.dead-letters");
    assertThat(kafka.topics().snapshotsTopic()).isEqualTo("firstseen.snapshots");
    assertThat(kafka.transactionTimeout()).isEqualTo(Duration.ofMinutes(15));
    kafka.check();
  }

  @Test
  void parametersAreStrippedFromUrlsOnly() {
    assertThat(
            JobOptions.parse("--canonicaliser=url", "--strip-parameters=utm_*,gclid,utm_*")
                .keys()
                .canonicaliser())
        .isEqualTo(Canonicaliser.URL.stripping("gclid,utm_*"));
    assertThat(
            JobOptions.parse("--canonicaliser=url", "--strip-parameters=common,ref")
                .keys()
                .canonicaliser())
        .isEqualTo(Canonicaliser.URL.stripping("ref,common"));
    for (String other : List.of("none", "text", "url-expression")) {
      KeyOptions keys =
          JobOptions.parse("--canonicaliser=" + other, "--strip-parameters=gclid").keys();
      assertThatThrownBy(keys::canonicaliser)
          .isInstanceOf(UserErrorException.class)
          .hasMessageContainingAll("--strip-parameters", "--canonicaliser url", "got " + other);
    }
    assertThatThrownBy(() -> JobOptions.parse("--canonicaliser=url", "--strip-parameters=utm_*_id"))
        .isInstanceOf(ParameterException.class)
        .hasMessageContainingAll("'--strip-parameters'", "'-._~'", "'*'", "'utm_*_id'");
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
    assertThat(JobOptions.parse("--near=short", "--snapshot-fpr=0.01").snapshotFalsePositiveRate())
        .as("of an element of a text")
        .isEqualTo(0.02 / 4096);
  }

  @Test
  void theRateOfAUrlIsThatOfThirtyKeys() {
    String[] list = {"--canonicaliser=url-expression", "--snapshot-url-fpr=0.01", "--fpr=0.1"};
    double rate = JobOptions.parse(list).snapshotFalsePositiveRate();
    // 1 - 0.99^(1/30), by bc -l.
    assertThat(rate).isEqualTo(3.349550851322872e-4, within(1e-18));
    assertThat(1 - Math.pow(1 - rate, 30)).isEqualTo(0.01, within(1e-14));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "url-expression | --snapshot-fpr=0.01 | --snapshot-url-fpr=0.02"
            + " | --snapshot-fpr; --snapshot-url-fpr; exclude",
        "url | --fpr=0.01 | --snapshot-url-fpr=0.02"
            + " | --snapshot-url-fpr; --canonicaliser url-expression; got url",
        "url-expression | --snapshot-shards=16 | --snapshot-url-fpr=5.5e-8"
            + " | --snapshot-url-fpr; 30 * 2^-29; 16 shards; got 5.5E-8",
      })
  void aRateOfAUrlThatDoesNotFitIsRefused(
      String canonicaliser, String other, String rate, String facts) {
    JobOptions options = JobOptions.parse("--canonicaliser", canonicaliser, other, rate);
    assertThatThrownBy(options::snapshotFalsePositiveRate)
        .isInstanceOf(UserErrorException.class)
        .hasMessageContainingAll(facts.split("; "));
  }

  /** What the bound lets pass, the set takes. */
  @Test
  void theLeastRateOfAUrlIsOneThatASetCanHave() {
    double least = 30 * Math.scalb(1.0, -29);
    JobOptions options =
        JobOptions.parse("--canonicaliser=url-expression", "--snapshot-url-fpr=" + least);
    double rate = options.snapshotFalsePositiveRate();
    assertThat(
            SnapshotSpec.of("spam", 1, 16, rate, KeyHash.fixed(), Canonicaliser.URL_EXPRESSION)
                .setParameters()
                .falsePositiveRate())
        .isEqualTo(rate);
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
        .hasMessageContainingAll("--expire-after", "--window", "got 1h");
    SnapshotOptions late = JobOptions.parse("--expire-after=876001h").snapshots();
    assertThatThrownBy(late::publication)
        .isInstanceOf(UserErrorException.class)
        .hasMessageContainingAll("--expire-after", "36500d", "876001h");
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
    "--ttl-clock=processing, snapshot windows use event time",
    "--ttl-since=last-seen, a snapshot job does not see duplicates"
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
        "--snapshot-url-fpr | 0.5 | must be in (0, 0.1], got '0.5'",
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
        "--canonicaliser | URL | canonicaliser must be one of none, url, text, url-expression, "
            + "or an older version, url-2 or url-expression-1, got 'URL'",
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
  void whichRepeatsAreWrittenIsOneOfThreeWords() {
    assertThat(kafka("--duplicates=none").topics().duplicates()).isEqualTo(Duplicates.NONE);
    assertThat(kafka("--duplicates=sample").topics().duplicates()).isEqualTo(Duplicates.SAMPLE);
    assertThatThrownBy(() -> kafka("--duplicates=some"))
        .hasMessageEndingWith("must be one of none, sample, topic, got 'some'");
    kafka("--duplicates=none", "--duplicates-topic=firstseen.events").check();
  }

  @Test
  void kafkaOptionsThatContradictEachOtherAreRefused() {
    assertThatThrownBy(() -> kafka("--accepted-topic", "firstseen.events").check())
        .isInstanceOf(UserErrorException.class)
        .hasMessageContainingAll("--events-topic", "--accepted-topic", "got firstseen.events");
    assertThatThrownBy(
            () -> kafka("--checkpoint-interval=5m", "--transaction-timeout=300s").check())
        .isInstanceOf(UserErrorException.class)
        .hasMessageContainingAll("--transaction-timeout", "--checkpoint-interval", "5m and 5m");
    assertThatThrownBy(() -> kafka("--transaction-timeout=25d").check())
        .isInstanceOf(UserErrorException.class)
        .hasMessageContainingAll("--transaction-timeout", "at most 24d", "25d");
    assertThatThrownBy(() -> kafka("--checkpoint-interval=9ms").check())
        .isInstanceOf(UserErrorException.class)
        .hasMessageContainingAll("--checkpoint-interval", "at least 10ms", "got 9ms");
    kafka("--checkpoint-interval=10ms").check();
    String replicas = "--topic-replication-factor=2";
    assertThatThrownBy(() -> kafka(replicas, "--topic-min-insync-replicas=3").check())
        .isInstanceOf(UserErrorException.class)
        .hasMessageContainingAll(
            "--topic-min-insync-replicas", "--topic-replication-factor", "3 and 2");
    assertThatThrownBy(() -> kafka("--topic-min-insync-replicas=1").check())
        .isInstanceOf(UserErrorException.class)
        .hasMessageContainingAll("--topic-min-insync-replicas", "needs --topic-replication-factor");
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
    assertThat(withFile.named().read(other).keyCheck()).isEqualTo(check);
    assertThat(without.named().read(KEY).keyCheck()).isEqualTo(check);
    assertThat(without.named().read(null).isFixedKey()).isTrue();
    assertThat(without.named().read("").isFixedKey()).isTrue();
    assertThat(JobOptions.parse("--hash-key-on-workers").keyHashSource().open().isFixedKey())
        .isTrue();
  }

  @Test
  void publicIsThePublicKeyWhateverTheEnvironmentHolds(@TempDir Path directory) throws IOException {
    KeyOptions chosen = JobOptions.parse("--hash-key-file=public").keys();
    assertThat(chosen.named().read(KEY).isFixedKey()).isTrue();
    assertThatThrownBy(() -> JobOptions.parse("--hash-key-file=./public").keys().named().read(KEY))
        .isInstanceOf(UserErrorException.class)
        .hasMessageContainingAll("--hash-key-file", "./public", "not exist");
    Path file = Files.writeString(directory.resolve("public"), KEY);
    assertThat(JobOptions.parse("--hash-key-file=" + file).keys().named().read(null).isFixedKey())
        .isFalse();
  }

  @Test
  void snapshotsAreHashedUnderTheKeyOfTheDedupUnlessTheyHaveTheirOwn(@TempDir Path directory)
      throws IOException {
    String file = "--hash-key-file=" + Files.writeString(directory.resolve("dedup"), KEY);
    Path other = Files.writeString(directory.resolve("snapshots"), "ab".repeat(16));
    long ofDedup = KeyHash.parse(KEY).keyCheck();
    assertThat(JobOptions.parse(file).snapshotKeyHash().keyCheck()).isEqualTo(ofDedup);
    for (String onWorkers : List.of("--hash-key-on-workers", "--parallelism=1")) {
      JobOptions ownKey = JobOptions.parse(file, onWorkers, "--snapshot-hash-key-file=" + other);
      assertThat(ownKey.keyHashSource().open().keyCheck()).isEqualTo(ofDedup);
      assertThat(ownKey.snapshotKeyHashSource().open().keyCheck())
          .isEqualTo(ownKey.snapshotKeyHash().keyCheck())
          .isEqualTo(KeyHash.parse("ab".repeat(16)).keyCheck());
      JobOptions open = JobOptions.parse(file, onWorkers, "--snapshot-hash-key-file=public");
      assertThat(open.keyHashSource().open().keyCheck()).isEqualTo(ofDedup);
      assertThat(open.snapshotKeyHashSource().open().isFixedKey()).isTrue();
    }
    JobOptions missing = JobOptions.parse(file, "--snapshot-hash-key-file=" + directory + "/no");
    assertThatThrownBy(missing::snapshotKeyHash)
        .isInstanceOf(UserErrorException.class)
        .hasMessageContainingAll("--snapshot-hash-key-file", directory + "/no", "not exist");
  }

  @Test
  void aPublicKeyIsWarnedOfUnlessSnapshotsHaveItOnPurpose(@TempDir Path directory)
      throws IOException {
    String file = "--hash-key-file=" + Files.writeString(directory.resolve("dedup"), KEY);
    String own = "--snapshot-hash-key-file=public";
    String none = "no hash key is configured, so the public key is used: ";
    String chosen = "the hash key is the public key: ";
    String hurts = "anyone who knows it can construct colliding keys";
    String mend = " (set --hash-key-file or FIRSTSEEN_HASH_KEY)";
    JobOptions all = JobOptions.parse(own);
    assertThat(all.publicKeyWarning()).contains(none + hurts + mend);
    assertThat(all.hasSecretHashKey()).isFalse();
    assertThat(JobOptions.parse("--hash-key-file=public").publicKeyWarning())
        .contains(chosen + hurts);
    JobOptions secret = JobOptions.parse(file, own);
    assertThat(secret.publicKeyWarning()).isEmpty();
    assertThat(secret.hasSecretHashKey()).isTrue();
    assertThat(JobOptions.parse("--snapshot" + file.substring(1)).hasSecretHashKey()).isTrue();

    assertThat(ofSnapshots().publicKeyWarning()).contains(none + hurts + mend);
    assertThat(ofSnapshots(own).publicKeyWarning()).isEmpty();
    assertThat(ofSnapshots("--hash-key-file=public").publicKeyWarning()).isEmpty();
    // The key of the dedup plays no part in a job without one.
    assertThat(ofSnapshots(file, own).hasSecretHashKey()).isFalse();
    assertThat(ofSnapshots(file).hasSecretHashKey()).isTrue();
  }

  private static JobOptions ofSnapshots(String... words) {
    JobOptions all = JobOptions.parse(words);
    return JobOptions.forSnapshots(
        all.keys(), all.stream(), new ChangelogOptions(), all.snapshots());
  }

  @Test
  void anUnreadableHashKeyIsRefusedWithoutRepeatingIt(@TempDir Path directory) throws IOException {
    Path missing = directory.resolve("missing");
    KeyOptions noFile = JobOptions.parse("--hash-key-file", missing.toString()).keys();
    assertThatThrownBy(() -> noFile.named().read(null))
        .isInstanceOf(UserErrorException.class)
        .hasMessageContainingAll("--hash-key-file", missing.toString(), "not exist");
    Path wrong = Files.writeString(directory.resolve("wrong"), "secret");
    KeyOptions wrongFile = JobOptions.parse("--hash-key-file", wrong.toString()).keys();
    assertThatThrownBy(() -> wrongFile.named().read(null))
        .isInstanceOf(UserErrorException.class)
        .hasMessageContaining("32 hexadecimal digits")
        .hasMessageNotContaining("secret");
    assertThatThrownBy(() -> JobOptions.parse().keys().named().read("secret"))
        .isInstanceOf(UserErrorException.class)
        .hasMessageContaining("FIRSTSEEN_HASH_KEY")
        .hasMessageNotContaining("secret");
  }

  @ParameterizedTest
  @CsvSource({
    "fetch.min.bytes=many, Invalid value many for configuration fetch.min.bytes",
    "acks=perhaps, Invalid value perhaps for configuration acks",
    "acks=1, Must set acks to all",
    "retries=0, Must set retries to non-zero",
    "enable.idempotence=false, Cannot set a transactional.id without also enabling idempotence.",
    "retries=-5, Invalid value -5 for configuration retries",
    "request.timeout.ms=1, 'request.timeout.ms must be at least 1000, so that a broker can respond in time, got 1'",
    "max.block.ms=10, 'max.block.ms must be at least 1000, so that a broker can respond in time, got 10'",
    "default.api.timeout.ms=1, 'default.api.timeout.ms must be at least 1000, so that a broker can respond in time, got 1'",
    "connections.max.idle.ms=0, 'connections.max.idle.ms must be at least 1000, so that a broker can respond in time, got 0'",
    "delivery.timeout.ms=1000, 'delivery.timeout.ms must be at least linger.ms and request.timeout.ms together, 30005, got 1000'",
    "partitioner.ignore.keys=true, 'partitioner.ignore.keys must not be set, because the job sets it, got true'",
    "key.serializer=a.B, 'key.serializer must not be set, because the job sets it, got a.B'",
    "max.request.size=999999, 'max.request.size must be at least 1000000, got 999999'",
  })
  void whatKafkasClientsWouldRefuseIsOneSentence(String property, String sentence) {
    assertThatThrownBy(() -> kafka("--kafka-property=" + property).check())
        .isInstanceOf(UserErrorException.class)
        .hasMessageStartingWith("--kafka-property or --kafka-properties: " + sentence);
    kafka("--kafka-property=fetch.min.bytes=7", "--kafka-property=my.setting=x").check();
    kafka("--kafka-property=delivery.timeout.ms=30005").check();
  }

  private static KafkaOptions kafka(String... words) {
    String[] all = Arrays.copyOf(words, words.length + 1);
    all[words.length] = "--bootstrap-servers=localhost:9092";
    return KafkaOptions.parse(all);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--time-field=/ts | --time-field needs --key-field",
        "--operation-field=/op --delete-values=d | --operation-field needs --key-field",
        "--scope-field=/s | --scope-field needs --key-field",
        "--key-field=/id --time-unit=nanos | --time-unit needs --time-field; got nanos",
        "--key-field=/id --delete-values=d,e | --delete-values needs --operation-field; got d,e",
        "--key-field=/id --operation-field=/op | --operation-field needs --delete-values",
        "--event-format=avro | --event-format avro needs --key-field",
        "--event-format=avro --key-field=/id"
            + " | avro needs; --schema-registry or --schema; got neither",
        "--event-format=avro --key-field=/id --schema=f --schema-registry=http://r"
            + " | avro needs; --schema-registry or --schema; got both",
        "--key-field=/id --schema=f | --schema needs; avro or protobuf; got json",
        "--event-format=protobuf | --event-format protobuf needs --key-field",
        "--event-format=protobuf --key-field=/id --schema=f"
            + " | protobuf needs --schema and --message; got --schema",
        "--event-format=protobuf --key-field=/id"
            + " | protobuf needs --schema and --message; got neither",
        "--event-format=protobuf --key-field=/id --message=a.B"
            + " | protobuf needs --schema and --message; got --message",
        "--event-format=protobuf --key-field=/id --schema-registry=http://r"
            + " | --schema-registry needs; avro; got protobuf",
        "--event-format=avro --key-field=/id --schema=f --message=a.B"
            + " | --message needs; protobuf; got avro",
        "--schema-registry=http://r | --schema-registry needs; avro; got json",
        "--event-format=avro --key-field=/id --schema-registry=http://r --schema-header"
            + " | --schema-header needs --schema; got --schema-registry",
        "--key-field=/id --event-format=key | --key-field needs; json, avro or protobuf; got key",
      })
  void fieldsAreNamedAllTogether(String words, String facts) {
    assertThatThrownBy(kafka(words.split(" "))::check)
        .isInstanceOf(UserErrorException.class)
        .hasMessageContainingAll(facts.split("; "));
  }

  @Test
  void aKeyOfSeveralFieldsIsNotCanonicalised() {
    assertThat(kafka().events().fields()).isEmpty();
    KafkaOptions one = kafka("--key-field=/a~1b");
    one.check();
    one.events().checkCanonicaliser(Canonicaliser.URL);
    assertThat(one.events().fields().orElseThrow().key().get(0).tokens()).containsExactly("a/b");
    KafkaOptions two = kafka("--key-field=/a", "--key-field=/b");
    two.check();
    two.events().checkCanonicaliser(Canonicaliser.NONE);
    assertThatThrownBy(() -> two.events().checkCanonicaliser(Canonicaliser.URL))
        .isInstanceOf(UserErrorException.class)
        .hasMessageContainingAll("--key-field", "--canonicaliser none", "got url");
    assertThatThrownBy(() -> kafka("--key-field=id"))
        .isInstanceOf(ParameterException.class)
        .hasMessageContaining("must be a JSON pointer");
  }

  @Test
  void theAcceptedTopicIsNotLookedAtWithoutAChangelog() {
    kafka("--records-topic=firstseen.accepted").check();
    kafka("--output=record", "--records-topic=firstseen.accepted").check();
    assertThatThrownBy(kafka("--output=both", "--records-topic=firstseen.accepted")::check)
        .isInstanceOf(UserErrorException.class)
        .hasMessageContainingAll("--accepted-topic", "--records-topic", "got firstseen.accepted");
    kafka("--output=both").topics().requireChangelog();
    assertThatThrownBy(kafka("--output=record").topics()::requireChangelog)
        .isInstanceOf(UserErrorException.class)
        .hasMessageContainingAll("--output record", "snapshots", "--output both");
  }

  @Test
  void groupsAndIdsAreNamedAfterTheTopicThatIsWritten() {
    String[] topics = {"--accepted-topic=a", "--records-topic=r", "--output=changelog"};
    assertThat(kafka(topics).topics().outputTopic()).isEqualTo("a");
    topics[2] = "--output=both";
    assertThat(kafka(topics).topics().outputTopic()).isEqualTo("a");
    topics[2] = "--output=record";
    assertThat(kafka(topics).topics().outputTopic()).isEqualTo("r");
  }

  @Test
  void eventsComeFromAListOfTopicsOrFromAPattern() {
    assertThat(kafka("--events-topic=a,b", "--events-topic=c").events().topics())
        .containsExactly("a", "b", "c");
    KafkaOptions pattern = kafka("--events-topic-pattern=orders\\..*");
    pattern.check();
    assertThat(pattern.events().topicPattern().orElseThrow().pattern()).isEqualTo("orders\\..*");
    assertThatThrownBy(pattern.events()::topic).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> kafka("--events-topic-pattern=("))
        .isInstanceOf(ParameterException.class)
        .hasMessageEndingWith("must be a regular expression, got '(': Unclosed group");
    assertThatThrownBy(() -> kafka("--events-topic=a,,b"))
        .isInstanceOf(ParameterException.class)
        .hasMessageEndingWith("must be 1 to 200 letters, digits, '.', '_' or '-', got ''");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--events-topic=a,b --events-topic-pattern=a.*"
            + " | --events-topic; --events-topic-pattern; a,b and a.*",
        "--events-topic=a,b,a | --events-topic; once; got a twice",
        "--events-topic=a,firstseen.accepted"
            + " | --events-topic; --accepted-topic; got firstseen.accepted",
        "--events-topic-pattern=.*records --output=record"
            + " | --events-topic-pattern; .*records,; firstseen.records of --records-topic",
        "--scope-from-topic --key-field=/a --scope-field=/b"
            + " | --scope-from-topic; --scope-field; got /b",
      })
  void topicsOfEventsAreNamedOnceAndNotWritten(String words, String facts) {
    assertThatThrownBy(kafka(words.split(" "))::check)
        .isInstanceOf(UserErrorException.class)
        .hasMessageContainingAll(facts.split("; "));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "registry:8081",
        "ftp://registry/",
        "http:///path",
        "http://user:secret@registry/",
        "http://registry/?a=b",
        "http://registry/#a",
        "http://regi stry/"
      })
  void theAddressOfARegistryHasNoSecret(String address) {
    assertThatThrownBy(() -> kafka("--schema-registry=" + address))
        .isInstanceOf(ParameterException.class)
        .hasMessageContaining(
            "must be the http or https address of a schema registry, without user, query and"
                + " fragment")
        .hasMessageNotContaining("secret");
  }
}
