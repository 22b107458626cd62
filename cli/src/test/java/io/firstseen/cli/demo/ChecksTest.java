package io.firstseen.cli.demo;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.serializers.Outcome;
import io.firstseen.types.Operation;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A pipeline without errors passes; one with a single kind of error fails just that check. */
class ChecksTest {
  private static final double RATE = 0.001;
  private static final byte[] NO_VALUE = null;
  private static List<DemoEvent> stream;

  private final ObservedOutcomes observed = new ObservedOutcomes();
  private final Set<String> filter = new HashSet<>();
  private List<DemoEvent> events = stream;
  private ExactModel model;

  /** Chooses the outcome of an event; null leaves it to the exact pipeline. */
  private interface Fault {
    Outcome.Kind instead(DemoEvent event, Outcome.Kind right);
  }

  @BeforeAll
  static void makeStream() throws Exception {
    stream = SampleStream.events(4, 20_000);
  }

  @BeforeEach
  void makeModel() {
    model = new ExactModel(events, keys -> RATE / 10);
  }

  /** An exact pipeline with given faults. */
  private void run(Fault fault) {
    for (DemoEvent event : events) {
      Outcome.Kind right = right(event);
      Outcome.Kind kind = fault.instead(event, right);
      if (kind == null) {
        continue;
      }
      switch (kind) {
        case ACCEPTED -> {
          filter.add(event.url());
          observed.changelog(event.recordKey(), event.recordValue(0));
        }
        case REMOVED -> {
          filter.remove(event.url());
          observed.changelog(event.recordKey(), NO_VALUE);
        }
        case DUPLICATE, FALSE_DUPLICATE -> observed.add(Outcome.Kind.DUPLICATE);
        case UNKNOWN_DELETE -> observed.add(Outcome.Kind.UNKNOWN_DELETE);
        case DEAD_LETTER -> observed.add(Outcome.Kind.DEAD_LETTER);
      }
    }
  }

  private Outcome.Kind right(DemoEvent event) {
    if (event.isMalformed()) {
      return Outcome.Kind.DEAD_LETTER;
    }
    boolean isThere = filter.contains(event.url());
    if (event.operation() == Operation.ADD) {
      return isThere ? Outcome.Kind.DUPLICATE : Outcome.Kind.ACCEPTED;
    }
    return isThere ? Outcome.Kind.REMOVED : Outcome.Kind.UNKNOWN_DELETE;
  }

  private List<String> failing(Checks.Membership snapshot) throws Exception {
    return new Checks(model, observed, snapshot, RATE)
        .all().stream().filter(check -> !check.holds()).map(Check::name).toList();
  }

  private List<String> failing() throws Exception {
    return failing(observed.live::contains);
  }

  /** True for the first {@code count} events of a kind that satisfy a condition. */
  private static Predicate<DemoEvent> first(int count, Predicate<DemoEvent> condition) {
    int[] left = {count};
    return event -> condition.test(event) && left[0]-- > 0;
  }

  private static Fault none() {
    return (event, right) -> right;
  }

  @Test
  void anExactPipelinePasses() throws Exception {
    run(none());
    assertThat(failing()).isEmpty();
    assertThat(observed.count(Outcome.Kind.ACCEPTED)).isEqualTo(model.count(Outcome.Kind.ACCEPTED));
    assertThat(observed.live).isEqualTo(model.live);
  }

  @Test
  void aLostOutcomeIsFound() throws Exception {
    Predicate<DemoEvent> lost = first(1, event -> true);
    run((event, right) -> right == Outcome.Kind.DUPLICATE && lost.test(event) ? null : right);
    assertThat(failing()).containsExactly("events without exactly one outcome");
  }

  @Test
  void aDeadLetterThatWentElsewhereIsFound() throws Exception {
    Predicate<DemoEvent> astray = first(1, DemoEvent::isMalformed);
    run((event, right) -> astray.test(event) ? Outcome.Kind.DUPLICATE : right);
    assertThat(failing()).containsExactly("malformed events not in dead letters");
  }

  @Test
  void aRepeatThatWasAcceptedIsFound() throws Exception {
    Predicate<DemoEvent> repeated = first(1, event -> true);
    run(
        (event, right) ->
            right == Outcome.Kind.DUPLICATE && repeated.test(event)
                ? Outcome.Kind.ACCEPTED
                : right);
    assertThat(failing()).containsExactly("duplicates of live keys accepted");
  }

  @Test
  void aRepeatThatWasAcceptedBehindAMadeUpRemovalIsFound() throws Exception {
    Predicate<DemoEvent> repeated = first(1, event -> true);
    run(
        (event, right) -> {
          if (right == Outcome.Kind.DUPLICATE && repeated.test(event)) {
            observed.changelog(event.recordKey(), NO_VALUE);
            return Outcome.Kind.ACCEPTED;
          }
          return right;
        });
    assertThat(failing())
        .containsExactly("events without exactly one outcome", "duplicates of live keys accepted");
  }

  @Test
  void aFewDropsAreExpectedAndManyAreFound() throws Exception {
    // Expected are 20,000 * 2 / 3 * RATE / 10, about 1.3; allowed are 7.
    Set<String> dropped = new HashSet<>();
    Fault dropping =
        (event, right) -> {
          if (right == Outcome.Kind.ACCEPTED && event.number() % 1_000 == 3) {
            dropped.add(event.url());
          }
          return dropped.contains(event.url())
              ? event.operation() == Operation.ADD
                  ? Outcome.Kind.DUPLICATE
                  : Outcome.Kind.UNKNOWN_DELETE
              : right;
        };
    List<DemoEvent> all = events;
    events = all.subList(0, 5_000);
    model = new ExactModel(events, keys -> RATE / 10);
    run(dropping);
    assertThat(dropped).isNotEmpty();
    assertThat(failing()).isEmpty();

    events = all.subList(5_000, 20_000);
    run(dropping);
    events = all;
    model = new ExactModel(all, keys -> RATE / 10);
    assertThat(dropped).hasSizeGreaterThan(7);
    assertThat(failing()).containsExactly("new keys dropped");
  }

  @Test
  void aDeleteThatWasPassedOverIsFound() throws Exception {
    Predicate<DemoEvent> ignored = first(1, event -> model.removed.contains(event.url()));
    Set<String> keys = new HashSet<>();
    run(
        (event, right) -> {
          if (right == Outcome.Kind.REMOVED
              && (ignored.test(event) || keys.contains(event.url()))) {
            keys.add(event.url());
            return Outcome.Kind.UNKNOWN_DELETE;
          }
          return right;
        });
    assertThat(failing()).containsExactly("deleted keys still accepted");
  }

  @Test
  void aLiveKeyThatTheSnapshotMissesIsFound() throws Exception {
    run(none());
    String missed = model.live.iterator().next();
    assertThat(failing(key -> observed.live.contains(key) && !key.equals(missed)))
        .containsExactly("live keys absent from the snapshot");
  }

  @Test
  void aLiveKeyThatIsNotInTheChangelogIsFoundEvenIfTheSnapshotHasIt() throws Exception {
    run(none());
    String lost = model.live.iterator().next();
    observed.changelog(lost.getBytes(UTF_8), NO_VALUE);
    assertThat(failing(model.live::contains))
        .containsExactly(
            "events without exactly one outcome", "live keys absent from the snapshot");
  }

  @Test
  void aSnapshotThatKeepsDeletedKeysIsFound() throws Exception {
    run(none());
    assertThat(failing(key -> observed.live.contains(key) || model.removed.contains(key)))
        .containsExactly("deleted keys present in the snapshot");
  }

  @Test
  void aSnapshotThatHoldsTooManyAbsentKeysIsFound() throws Exception {
    run(none());
    Predicate<String> isSmallShare = key -> Math.floorMod(key.hashCode() * 0x9E3779B9, 1000) < 3;
    assertThat(
            failing(
                key ->
                    observed.live.contains(key)
                        || (isSmallShare.test(key) && !model.removed.contains(key))))
        .containsExactly("absent keys reported as present");
  }

  @Test
  void whatADeleteOfADroppedKeyMayCauseIsAllowed() throws Exception {
    // The key of event 0 is dropped, so its delete removes the fingerprint of another key, which
    // can then be accepted a second time.
    DemoEvent admitted = DemoEvent.of(0, 0, Operation.ADD, "http://a/", "http://a/");
    DemoEvent droppedKey = DemoEvent.of(1, 0, Operation.ADD, "http://b/", "http://b/");
    DemoEvent deleted = DemoEvent.of(2, 0, Operation.DELETE, "http://b/", "http://b/");
    DemoEvent repeated = DemoEvent.of(3, 0, Operation.ADD, "http://a/", "http://a/");
    model = new ExactModel(List.of(admitted, droppedKey, deleted, repeated), keys -> RATE);
    observed.changelog(admitted.recordKey(), admitted.recordValue(0));
    observed.add(Outcome.Kind.DUPLICATE);
    observed.changelog(deleted.recordKey(), NO_VALUE);
    observed.changelog(repeated.recordKey(), repeated.recordValue(0));
    assertThat(failing()).isEmpty();
  }
}
