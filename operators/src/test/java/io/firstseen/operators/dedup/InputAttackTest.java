package io.firstseen.operators.dedup;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.filters.key.KeyHash;
import io.firstseen.operators.dedup.DedupTasks.Backend;
import io.firstseen.operators.dedup.ModelFilters.Kind;
import io.firstseen.serializers.Change;
import io.firstseen.types.DedupMode;
import io.firstseen.types.DedupParameters;
import io.firstseen.types.Operation;
import io.firstseen.types.TimeToLive;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A dedup whose events are chosen by an attacker. */
@SuppressWarnings("try") // Closing a harness may throw InterruptedException.
class InputAttackTest {
  private static final KeyHash HASH = KeyHash.fixed();
  private static final long HOUR = Duration.ofHours(1).toMillis();
  private static final DedupParameters PARAMETERS =
      new DedupParameters(
          31, 4, HASH.algorithm().id(), HASH.keyCheck(), "none", 1, DedupMode.APPROXIMATE);

  private static Change<String> change(Operation operation, String key) {
    byte[] bytes = key.getBytes(StandardCharsets.UTF_8);
    return new Change<>(operation, bytes, HASH.hash(bytes), key);
  }

  /** A key that comes all the time is one key: nothing grows. */
  @ParameterizedTest
  @EnumSource
  void oneKeyAMillionTimesIsOneKey(Backend backend) throws Exception {
    int times = backend == Backend.HEAP ? 1_000_000 : 20_000;
    Change<String> add = change(Operation.ADD, "hot");
    Change<String> delete = change(Operation.DELETE, "hot");
    try (DedupTasks tasks = new DedupTasks(backend, PARAMETERS, 1, null)) {
      require(tasks.process(add), Kind.ACCEPTED);
      long bytes = tasks.sum("pageBytes");
      for (int i = 1; i < times; i++) {
        require(tasks.process(add), Kind.DUPLICATE);
      }
      require(tasks.process(delete), Kind.REMOVED);
      for (int i = 0; i < times / 4; i++) {
        require(tasks.process(delete), Kind.UNKNOWN_DELETE);
        require(tasks.process(add), Kind.ACCEPTED);
        require(tasks.process(delete), Kind.REMOVED);
      }
      assertThat(tasks.sum("keys")).isZero();
      assertThat(tasks.sum("pageBytes")).isLessThanOrEqualTo(bytes);
    }
  }

  /** An AssertJ call for each of millions is too slow. */
  private static void require(Kind found, Kind expected) {
    if (found != expected) {
      assertThat(found).isEqualTo(expected);
    }
  }

  /**
   * Times from anywhere: every event has an outcome, the key is kept, and others are forgotten no
   * earlier than they would be.
   */
  @ParameterizedTest
  @ValueSource(
      longs = {
        Long.MIN_VALUE,
        Long.MIN_VALUE + 1,
        -1,
        0,
        1L << 53,
        Long.MAX_VALUE - 1,
        Long.MAX_VALUE
      })
  void aTimeFromAnywhereLosesNoKey(long strange) throws Exception {
    DedupParameters parameters =
        PARAMETERS.withTtl(TimeToLive.of(Duration.ofHours(1)).by(TimeToLive.Clock.EVENT));
    try (DedupTasks tasks = new DedupTasks(Backend.HEAP, parameters, 1, null)) {
      long now = 1_000 * HOUR;
      tasks.watermark(now);
      assertThat(tasks.process(change(Operation.ADD, "usual"), now)).isEqualTo(Kind.ACCEPTED);
      assertThat(tasks.process(change(Operation.ADD, "strange"), strange)).isEqualTo(Kind.ACCEPTED);
      assertThat(tasks.process(change(Operation.ADD, "strange"), strange))
          .isEqualTo(Kind.DUPLICATE);
      for (int minute = 0; minute < 55; minute++) {
        tasks.watermark(now + minute * 60_000L);
        assertThat(tasks.process(change(Operation.ADD, "usual"), now)).isEqualTo(Kind.DUPLICATE);
        assertThat(tasks.process(change(Operation.ADD, "strange"), now)).isEqualTo(Kind.DUPLICATE);
      }
      assertThat(tasks.process(change(Operation.DELETE, "strange"), now)).isEqualTo(Kind.REMOVED);
      tasks.savepoint();
    }
  }

  /** Each of many events far ahead has another time: their epochs are no more than others'. */
  @Test
  void timesFarAheadTakeNoMemoryOfTheirOwn() throws Exception {
    DedupParameters parameters =
        PARAMETERS.withTtl(TimeToLive.of(Duration.ofHours(1)).by(TimeToLive.Clock.EVENT));
    try (DedupTasks attacked = new DedupTasks(Backend.HEAP, parameters, 1, null);
        DedupTasks usual = new DedupTasks(Backend.HEAP, parameters, 1, null)) {
      int acceptedOfAttacked = 0;
      int acceptedOfUsual = 0;
      for (int i = 0; i < 10_000; i++) {
        Change<String> add = change(Operation.ADD, "key-" + i);
        long strange = (i % 2 == 0 ? i : i * 10L) * HOUR;
        acceptedOfAttacked += attacked.process(add, strange) == Kind.ACCEPTED ? 1 : 0;
        acceptedOfUsual += usual.process(add, HOUR) == Kind.ACCEPTED ? 1 : 0;
      }
      assertThat(acceptedOfAttacked).isEqualTo(acceptedOfUsual).isGreaterThan(9_990);
      assertThat(attacked.sum("pageBytes")).isLessThanOrEqualTo(2 * usual.sum("pageBytes"));
      assertThat(attacked.timers()).isEqualTo(usual.timers());
    }
  }
}
