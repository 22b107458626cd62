package io.firstseen.consumer.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/**
 * The follower with a simulated broker and clock; other tests use the embedded broker. The follower
 * runs on the test's thread.
 */
class TopicFollowerTest {
  private static final String NO_ANSWER =
      "unreachable: no answer about topic 'topic' from localhost:9092 within 5 s";

  private final SimulatedTopic simulation = new SimulatedTopic(1, 0);
  private final List<String> events = new ArrayList<>();
  private final List<Long> tickMillis = new ArrayList<>();
  private Runnable atStart = () -> {};
  private OptionalLong resumeAt = OptionalLong.empty();
  private boolean needsBases;
  private boolean wantsReread;
  private int rewinds;

  private final class Remembering implements TopicFollower.Reader {
    @Override
    public void start() {
      events.add("start");
      atStart.run();
    }

    @Override
    public void end() {
      events.add("end");
    }

    @Override
    public OptionalLong open(String topicId) {
      events.add("open " + topicId);
      return resumeAt;
    }

    @Override
    public void rewind() {
      rewinds++;
    }

    @Override
    public void accept(long offset, String key, byte[] value) {
      events.add(offset == OTHER_PARTITION ? key : "record " + offset);
    }

    @Override
    public void progress(long recordsLeft) {}

    @Override
    public boolean settle() {
      boolean reread = wantsReread;
      wantsReread = false;
      return reread;
    }

    @Override
    public boolean needsBases() {
      return needsBases;
    }

    @Override
    public void tick() {
      tickMillis.add(simulation.millis());
    }

    @Override
    public void unreachable(String reason) {
      events.add("unreachable: " + reason);
    }

    @Override
    public void reachable() {
      events.add("reachable");
    }
  }

  private void followFor(long seconds) {
    simulation.follow(new Remembering(), seconds * 1_000);
  }

  private void setRecords(int count) {
    simulation.setLength(0, count, "key");
  }

  private void setBases(int count) {
    int last = simulation.lastPartition();
    for (int base = simulation.length(last); base < count; base++) {
      simulation.setLength(last, base + 1, "base " + base);
    }
  }

  @Test
  void aReaderThatFailsAtItsStartIsReportedAndFollowedAllTheSame() {
    atStart =
        () -> {
          throw new StackOverflowError("on purpose");
        };
    followFor(5);
    assertThat(events)
        .containsExactly(
            "start",
            "unreachable: topic 'topic' cannot be read: java.lang.StackOverflowError: on purpose",
            "open first",
            "reachable",
            "end");
  }

  @Test
  void anOutageOfAMinuteIsToldOnceAndItsEndToo() {
    setRecords(1);
    simulation.at(5, () -> simulation.isUp = false);
    simulation.at(
        65,
        () -> {
          simulation.isUp = true;
          setRecords(2);
        });
    followFor(75);
    assertThat(events)
        .containsExactly(
            "start", "open first", "record 0", NO_ANSWER, "record 1", "reachable", "end");
    assertThat(simulation.consumers).as("of one connection").isEqualTo(1);
    ticksComeEvery(8);
  }

  @Test
  void aBrokerThatIsNotThereForAMinuteIsToldOnce() {
    simulation.isUp = false;
    simulation.at(60, () -> simulation.isUp = true);
    followFor(70);
    assertThat(events).containsExactly("start", NO_ANSWER, "open first", "reachable", "end");
    ticksComeEvery(8);
  }

  private void ticksComeEvery(long seconds) {
    for (int i = 1; i < tickMillis.size(); i++) {
      assertThat(tickMillis.get(i) - tickMillis.get(i - 1)).isLessThanOrEqualTo(seconds * 1_000);
    }
  }

  @Test
  void whatFailsAtOnceIsTriedAgainEveryHalfMinuteInTheEnd() {
    simulation.isKnown = false;
    followFor(600);
    assertThat(events)
        .containsExactly("start", "unreachable: topic 'topic' cannot be read: no such host", "end");
    // After 1, 3, 7, 15, 31, 61, 91, ... seconds.
    assertThat(simulation.consumers).isEqualTo(24);
  }

  @Test
  void aTopicThatWasCreatedAnewIsFoundOutWithinTenSeconds() {
    simulation.at(25, () -> simulation.topicId = "second");
    simulation.at(35, () -> events.add("10 s later"));
    followFor(60);
    assertThat(events).containsExactly("start", "open first", "open second", "10 s later", "end");
  }

  @Test
  void anIdThatWasNotToldIsAskedForAgain() {
    simulation.topicId = null;
    simulation.at(25, () -> simulation.topicId = "first");
    simulation.at(90, () -> events.add("a minute later"));
    followFor(200);
    assertThat(events).containsExactly("start", "open null", "open first", "a minute later", "end");
  }

  @Test
  void aTopicThatIsShorterThanItWasIsReadAgain() {
    setRecords(3);
    simulation.at(5, () -> setRecords(1));
    followFor(20);
    assertThat(events)
        .containsExactly(
            "start",
            "open first",
            "record 0",
            "record 1",
            "record 2",
            "unreachable: topic 'topic' cannot be read: the last records that were read no longer exist",
            "open first",
            "record 0",
            "reachable",
            "end");
  }

  @Test
  void afterTheStartNothingOfTheBasesIsReadUntilAReread() {
    simulation.resize(2);
    setRecords(2);
    setBases(2);
    simulation.at(
        5,
        () -> {
          setRecords(4);
          setBases(4);
        });
    simulation.at(15, () -> wantsReread = true);
    simulation.at(25, () -> setBases(5));
    followFor(30);
    assertThat(events)
        .filteredOn(event -> event.startsWith("record") || event.startsWith("base"))
        .containsSubsequence("record 0", "record 1", "record 2", "record 3", "record 0", "record 3")
        .containsSubsequence("base 0", "base 1", "base 0", "base 1", "base 2", "base 3")
        .doesNotContain("base 4")
        .hasSize(14);
    assertThat(events.indexOf("base 2")).isGreaterThan(events.indexOf("record 3"));
    assertThat(rewinds).isEqualTo(2);
  }

  @Test
  void basesAreReadAsLongAsTheReaderNeedsThem() {
    simulation.resize(2);
    needsBases = true;
    simulation.at(5, () -> setBases(1));
    simulation.at(10, () -> needsBases = false);
    simulation.at(15, () -> setBases(2));
    followFor(20);
    assertThat(events).contains("base 0").doesNotContain("base 1");
    assertThat(rewinds).isEqualTo(1);
  }

  @Test
  void goesOnFromAnOffsetOfTheFirstPartitionOnly() {
    simulation.resize(2);
    setRecords(3);
    setBases(3);
    resumeAt = OptionalLong.of(2);
    followFor(5);
    assertThat(events).containsExactly("start", "open first", "record 2", "end");
    assertThat(rewinds).isZero();
  }

  @Test
  void anOffsetBehindTheEndMakesAllBeReadFromTheBeginning() {
    simulation.resize(2);
    setRecords(1);
    setBases(1);
    resumeAt = OptionalLong.of(2);
    followFor(5);
    assertThat(events).contains("record 0", "base 0").hasSize(5);
    assertThat(rewinds).isEqualTo(1);
  }

  @Test
  void aTopicThatGetsAPartitionLaterIsFollowedAndItsBasesAreFound() {
    setRecords(1);
    simulation.at(
        5,
        () -> {
          simulation.resize(2);
          setBases(1);
          setRecords(2);
        });
    simulation.at(10, () -> wantsReread = true);
    followFor(15);
    assertThat(events)
        .filteredOn(event -> event.startsWith("record") || event.startsWith("base"))
        .startsWith("record 0", "record 1")
        .containsSubsequence("record 1", "base 0")
        .hasSize(5);
  }
}
