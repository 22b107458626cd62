package io.firstseen.consumer;

import io.firstseen.consumer.internal.FollowerTime;
import io.firstseen.consumer.internal.TopicFollower;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * One thread that reads a topic for one or more clients. It ends when the last client is removed.
 */
final class SharedFollower {
  private final TopicFollower follower;
  private final FollowerThread thread;
  private final AtomicInteger users;

  SharedFollower(
      String name,
      String topic,
      Map<String, Object> consumerProperties,
      List<AssemblingReader> readers,
      FollowerTime time) {
    this.follower = new TopicFollower(topic, consumerProperties, new Readers(readers), time);
    this.thread = new FollowerThread("follower-" + name, follower);
    this.users = new AtomicInteger(readers.size());
  }

  void start() {
    thread.start();
  }

  /** Removes a client. If it was the last client, waits for the thread to end. */
  void leave() {
    if (users.decrementAndGet() > 0) {
      return;
    }
    follower.close();
    thread.awaitEnd();
  }

  /** Forwards every call to the readers of all open clients. */
  private static final class Readers implements TopicFollower.Reader {
    private final List<AssemblingReader> readers;

    Readers(List<AssemblingReader> readers) {
      this.readers = new CopyOnWriteArrayList<>(readers);
    }

    @Override
    public void start() {
      readers.forEach(AssemblingReader::start);
    }

    @Override
    public void end() {
      readers.forEach(AssemblingReader::end);
    }

    @Override
    public OptionalLong open(String topicId) {
      long first = Long.MAX_VALUE;
      boolean fromBeginning = false;
      for (AssemblingReader reader : readers) {
        OptionalLong from = reader.open(topicId);
        fromBeginning |= from.isEmpty();
        first = Math.min(first, from.orElse(first));
      }
      return fromBeginning || readers.isEmpty() ? OptionalLong.empty() : OptionalLong.of(first);
    }

    @Override
    public void rewind() {
      readers.forEach(AssemblingReader::rewind);
    }

    @Override
    public void accept(long offset, String key, byte[] value) {
      for (AssemblingReader reader : readers) {
        reader.accept(offset, key, value);
      }
    }

    @Override
    public void progress(long recordsLeft) {
      readers.forEach(reader -> reader.progress(recordsLeft));
    }

    @Override
    public boolean settle() {
      boolean reread = false;
      for (AssemblingReader reader : readers) {
        reread |= reader.settle();
      }
      return reread;
    }

    @Override
    public boolean needsBases() {
      return readers.stream().anyMatch(AssemblingReader::needsBases);
    }

    @Override
    public void tick() {
      List<AssemblingReader> closed = readers.stream().filter(AssemblingReader::isClosed).toList();
      closed.forEach(AssemblingReader::end);
      readers.removeAll(closed);
      readers.forEach(AssemblingReader::tick);
    }

    @Override
    public void unreachable(String reason) {
      readers.forEach(reader -> reader.unreachable(reason));
    }

    @Override
    public void reachable() {
      readers.forEach(AssemblingReader::reachable);
    }
  }
}
