package io.firstseen.operators.restores;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.operators.restores.DedupTrial.Settings;
import io.firstseen.types.DedupMode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.util.ExceptionUtils;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Restores with parameters that the state does not allow. The restart strategy would restart the
 * jobs forever; each job fails at its first attempt.
 */
class RefusalsTest {
  private static final String STATE_DIFFERS =
      "The dedup state cannot be restored by this job, they differ in: ";
  private static final KeyHash OTHER_KEY = KeyHash.parse("000102030405060708090a0b0c0d0e0f");
  private static final KeyHash OTHER_ALGORITHM = KeyHash.xxh3(7);

  @RegisterExtension private static final TestCluster CLUSTER = new TestCluster();
  private static DedupTrial trial;
  private static Path savepoint;

  @BeforeAll
  static void takeSavepoint() throws Exception {
    EventScript script = new EventScript();
    List<String> keys = EventScript.keysOfShards("key", DedupTrial.SHARDS, 20);
    script.addAll(keys, 1).probe(keys, 0);
    trial = new DedupTrial(script);
    JobClient job = trial.start(CLUSTER, Settings.of(Backend.HEAP, 2));
    trial.play(keys.size());
    savepoint = CLUSTER.stop(job, SavepointFormatType.CANONICAL, false);
  }

  static Stream<Arguments> contradictions() {
    String keyChecks = "check of the hash key (state: " + check(KeyHash.fixed()) + ", job: %s)";
    return Stream.of(
        Arguments.of(
            settings(dedup -> dedup.hash(OTHER_KEY)), keyChecks.formatted(check(OTHER_KEY))),
        Arguments.of(
            settings(dedup -> dedup.hash(OTHER_ALGORITHM)),
            "hash algorithm (state: siphash-2-4, job: xxh3-64), "
                + keyChecks.formatted(check(OTHER_ALGORITHM))),
        Arguments.of(
            settings(dedup -> dedup.canonicaliser(Canonicaliser.TEXT)),
            "canonicaliser (state: none, job: text)"),
        Arguments.of(
            settings(dedup -> dedup.mode(DedupMode.EXACT)),
            "mode (state: approximate, job: exact)"),
        Arguments.of(
            settings(dedup -> dedup.shards(4)).maxParallelism(DedupTrial.SHARDS),
            "shards (state: 8, job: 4)"),
        Arguments.of(
            settings(
                    dedup ->
                        dedup.shards(16).canonicaliser(Canonicaliser.URL).hash(OTHER_ALGORITHM))
                .maxParallelism(DedupTrial.SHARDS),
            "shards (state: 8, job: 16), hash algorithm (state: siphash-2-4, job: xxh3-64), "
                + keyChecks.formatted(check(OTHER_ALGORITHM))
                + ", canonicaliser (state: none, job: url), canonicaliser version (state: 1, job: 3)"),
        Arguments.of(
            settings(dedup -> dedup.canonicaliser(Canonicaliser.URL.stripping("utm_*,gclid"))),
            "canonicaliser (state: none, job: url), canonicaliser version (state: 1, job: 3),"
                + " stripped parameters (state: none, job: gclid,utm_*)"));
  }

  @ParameterizedTest(name = "{1}")
  @MethodSource("contradictions")
  void oneSentenceNamesAllThatDiffers(Settings settings, String differences) throws Exception {
    assertRefused(settings.from(savepoint), STATE_DIFFERS + differences);
  }

  /** Writes another version into the state, as another release would have. */
  @Test
  void stateOfAnotherVersionOfTheCanonicaliserIsNamed() throws Exception {
    Path other = CLUSTER.directory().resolve("other-canonicaliser");
    assertThat(copyWith(other, "\4none\0\0\0\1", "\4none\0\0\0\2")).isEqualTo(2);
    assertRefused(
        Settings.of(Backend.HEAP, 2).from(other),
        STATE_DIFFERS + "canonicaliser version (state: 2, job: 1)");
  }

  /** As a later release would have written it. */
  @ParameterizedTest
  @CsvSource({"CuckooPageSerializer, 1, 1", "DedupParametersSerializer, 5, 1 to 5"})
  void stateOfALaterFormatIsRefused(String serializer, int version, String readable)
      throws Exception {
    String snapshot = "io.firstseen.serializers." + serializer + "$Snapshot";
    String ofThisBuild = snapshot + "\0\0\0" + (char) version;
    String ofALater = snapshot + "\0\0\0\11";
    Path other = CLUSTER.directory().resolve("later-" + serializer);
    assertThat(copyWith(other, ofThisBuild, ofALater)).isPositive();
    assertThat(failure(Settings.of(Backend.HEAP, 2).from(other)))
        .hasStackTraceContaining(
            snapshot + ": state has format version 9, this build reads version " + readable);
  }

  @Test
  void keyGroupsOfAnotherNumberThanShardsAreRefused() throws Exception {
    assertThat(failure(Settings.of(Backend.HEAP, 2).maxParallelism(2 * DedupTrial.SHARDS)))
        .hasStackTraceContaining(
            "The dedup's maximum parallelism must be its number of shards, %d, got %d"
                .formatted(DedupTrial.SHARDS, 2 * DedupTrial.SHARDS));
  }

  /** Flink itself compares the key groups, of which there are as many as shards. */
  @Test
  void anotherNumberOfShardsIsAnotherMaximumParallelism() throws Exception {
    assertThat(failure(settings(dedup -> dedup.shards(4)).from(savepoint)))
        .hasStackTraceContaining("Max parallelism mismatch")
        .hasStackTraceContaining("max parallelism 8 to new program with max parallelism 4");
  }

  @Test
  void stateIsNotDroppedBecauseTheOperatorIsCalledOtherwise() throws Exception {
    assertThat(failure(settings(dedup -> dedup.uidPrefix("other")).from(savepoint)))
        .hasStackTraceContaining("the operator is not available in the new program");
  }

  /** The control: apart from this difference, the written state can be restored. */
  @Test
  void theSameParametersAreTaken() throws Exception {
    Path copy = CLUSTER.directory().resolve("copy");
    assertThat(copyWith(copy, "\4none\0\0\0\1", "\4none\0\0\0\1")).isEqualTo(2);
    JobClient job = trial.start(CLUSTER, Settings.of(Backend.ROCKSDB, 2).from(copy));
    trial.play(trial.script.size());
    CLUSTER.cancel(job);
    trial.script.assertExactly(trial.outcomes, trial.script.size());
  }

  private static Settings settings(
      UnaryOperator<io.firstseen.operators.dedup.Firstseen<KeyEvent>> dedup) {
    return Settings.of(Backend.HEAP, 2).dedup(dedup);
  }

  private static String check(KeyHash hash) {
    return "%016x".formatted(hash.keyCheck());
  }

  private static void assertRefused(Settings settings, String sentence) throws Exception {
    assertThat(ExceptionUtils.stringifyException(failure(settings)).lines())
        .anyMatch(line -> line.endsWith("IncompatibleStateException: " + sentence));
  }

  /** Starts a job, expects that it ends at its first attempt, and tells why it did. */
  private static Throwable failure(Settings settings) throws Exception {
    JobClient[] started = new JobClient[1];
    Throwable failure =
        catchThrowable(
            () -> {
              started[0] =
                  trial.start(
                      CLUSTER,
                      settings.with(
                          RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS,
                          Integer.MAX_VALUE));
              TestCluster.get(started[0].getJobExecutionResult());
            });
    if (started[0] != null) {
      assertThat(CLUSTER.attempts(started[0])).isZero();
    }
    return failure;
  }

  /** Copies the savepoint with other bytes in it and tells how often they were put in. */
  private static int copyWith(Path target, String bytes, String others) throws IOException {
    Files.createDirectories(target);
    int count = 0;
    try (Stream<Path> files = Files.list(savepoint)) {
      for (Path file : files.toList()) {
        String content = Files.readString(file, ISO_8859_1);
        count += content.split(java.util.regex.Pattern.quote(bytes), -1).length - 1;
        Files.writeString(
            target.resolve(file.getFileName()), content.replace(bytes, others), ISO_8859_1);
      }
    }
    return count;
  }
}
