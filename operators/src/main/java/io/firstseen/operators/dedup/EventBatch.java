package io.firstseen.operators.dedup;

import io.firstseen.serializers.Change;
import java.util.Arrays;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.tasks.ProcessingTimeService;

/**
 * The last few events, which wait for each other: for most of its time an event waits for memory,
 * and a processor that is asked for the pages of all of them at once waits for all of them once.
 *
 * <p>Events keep their order. They wait for no more than {@value #MAX_MILLIS} milliseconds, and
 * must be decided on before anything else passes: a watermark, a barrier, the end of input. A
 * record may be used again for the next event; the event itself may not, and never is behind a
 * network.
 *
 * @param <T> type of the events
 */
final class EventBatch<T> {
  /** More of them do not wait less. */
  static final int EVENTS = 16;

  /** Far less than network buffers wait; far more than full batches take. */
  static final long MAX_MILLIS = 5;

  private final ProcessingTimeService time;
  private final Runnable begin;
  private final Prefetcher prefetcher;
  private final Decider<T> decider;

  @SuppressWarnings({"unchecked", "rawtypes"}) // An array of a generic type.
  private final StreamRecord<Change<T>>[] events = new StreamRecord[EVENTS];

  private final long[] hashes = new long[EVENTS];
  private int size;
  private boolean timerRuns;

  /** Has the processor fetch what events with these hashes need, of which there are so many. */
  @FunctionalInterface
  interface Prefetcher {
    void prefetch(long[] hashes, int count);
  }

  /** Decides on an event. */
  @FunctionalInterface
  interface Decider<T> {
    void decide(StreamRecord<Change<T>> event) throws Exception;
  }

  /**
   * @param begin called before the events that wait are decided on
   */
  EventBatch(
      ProcessingTimeService time, Runnable begin, Prefetcher prefetcher, Decider<T> decider) {
    this.time = time;
    this.begin = begin;
    this.prefetcher = prefetcher;
    this.decider = decider;
    Arrays.setAll(events, i -> new StreamRecord<Change<T>>(null));
  }

  /** How many events wait. */
  int size() {
    return size;
  }

  void add(StreamRecord<Change<T>> event) throws Exception {
    StreamRecord<Change<T>> own = events[size];
    hashes[size++] = event.getValue().hash();
    own.replace(event.getValue());
    own.eraseTimestamp();
    if (event.hasTimestamp()) {
      own.setTimestamp(event.getTimestamp());
    }
    if (size == EVENTS) {
      decideAll();
    } else if (!timerRuns) {
      timerRuns = true;
      // Nobody waits for it: a call that fails fails the task.
      var unused =
          time.registerTimer(
              time.getCurrentProcessingTime() + MAX_MILLIS,
              timestamp -> {
                timerRuns = false;
                decideAll();
              });
    }
  }

  /** Decides on all events that wait. */
  void decideAll() throws Exception {
    int count = size;
    size = 0;
    if (count > 0) {
      begin.run();
    }
    prefetcher.prefetch(hashes, count);
    for (int i = 0; i < count; i++) {
      decider.decide(events[i]);
    }
  }
}
