package io.firstseen.benchmarks.recovery;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.benchmarks.dedup.KnownKeysRun;
import io.firstseen.benchmarks.recovery.RecoveryRun.Start;
import io.firstseen.benchmarks.shared.Backend;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class RecoveryRunTest {
  private static final int KEYS = 50_000;

  @TempDir Path directory;

  @Tag("slow")
  @ParameterizedTest
  @EnumSource
  void everyStartAndFailureIsMeasured(Backend backend) throws Exception {
    String savepoint =
        KnownKeysRun.run(new KnownKeysRun.Spec(KEYS, directory.resolve("known").toString(), false));
    RecoveryRun.Result result =
        RecoveryRun.run(
            new RecoveryRun.Spec(
                backend, KEYS, savepoint, 0.2, 64 << 20, 64, directory.toString()));

    assertThat(result.starts())
        .extracting(start -> start.what() + ", " + start.parallelism())
        .containsExactly(
            RecoveryRun.CANONICAL + ", 1",
            RecoveryRun.OF_ONE + ", 1",
            RecoveryRun.FAILURE + ", 1",
            RecoveryRun.OF_ONE + ", 2",
            RecoveryRun.FAILURE + ", 2",
            RecoveryRun.OF_TWO + ", 1");
    for (Start start : result.starts()) {
      assertThat(start.tasksRunSeconds()).as("%s", start).isPositive();
      assertThat(start.firstRecordSeconds()).as("%s", start).isPositive();
      assertThat(start.steadyRate()).as("%s", start).isPositive();
      // The known keys and the keys of the previous jobs.
      assertThat(start.restoredBytes()).as("%s", start).isGreaterThan(KEYS);
    }
    assertThat(result.checkpointBytes()).isBetween((long) KEYS, 10L * KEYS);
    assertThat(RecoveryFigures.table(List.of(result)))
        .contains("| savepoint of two tasks | 1 |")
        .contains("50,000 keys");
  }

  @Test
  void halfOfTheRecordsAreNewAndTheOthersRepeats() throws Exception {
    UrlNumbers urls = new UrlNumbers(100);
    Set<String> seen = new HashSet<>();
    int repeats = 0;
    for (long number = 100; number < 1100; number++) {
      repeats += seen.add(urls.map(number).toString()) ? 0 : 1;
    }
    assertThat(repeats).isEqualTo(500);
  }
}
