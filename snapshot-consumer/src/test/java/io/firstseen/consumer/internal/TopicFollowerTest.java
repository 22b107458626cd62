package io.firstseen.consumer.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The follower without a broker; with one it is tested beside the embedded one. */
class TopicFollowerTest {
  private final List<String> events = new CopyOnWriteArrayList<>();
  private final CountDownLatch ticks = new CountDownLatch(2);

  private final class FailingAtTheStart implements TopicFollower.Reader {
    @Override
    public void start() {
      events.add("start");
      throw new StackOverflowError("on purpose");
    }

    @Override
    public void end() {
      events.add("end");
    }

    @Override
    public OptionalLong open(String topicId) {
      return OptionalLong.empty();
    }

    @Override
    public void rewind() {}

    @Override
    public void accept(long offset, String key, byte[] value, long timestampMillis) {}

    @Override
    public void progress(long recordsLeft) {}

    @Override
    public boolean settle() {
      return false;
    }

    @Override
    public void tick() {
      ticks.countDown();
    }

    @Override
    public void unreachable(String reason) {
      events.add(reason);
    }

    @Override
    public void reachable() {
      events.add("reachable");
    }
  }

  @Test
  void aReaderThatFailsAtItsStartIsReportedAndFollowedAllTheSame() throws Exception {
    // Without servers to ask, every attempt fails at once.
    TopicFollower follower = new TopicFollower("topic", Map.of(), new FailingAtTheStart());
    Thread thread = new Thread(follower);
    thread.start();
    // The second tick is that of the next attempt.
    assertThat(ticks.await(1, TimeUnit.MINUTES)).isTrue();
    assertThat(events)
        .containsExactly(
            "start", "topic 'topic' cannot be read: java.lang.StackOverflowError: on purpose");
    follower.close();
    thread.join();
    assertThat(events).hasSize(3).endsWith("end");
  }
}
