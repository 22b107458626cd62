package io.firstseen.operators.dedup;

import io.firstseen.serializers.Change;
import java.util.Arrays;
import java.util.function.ObjIntConsumer;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.tasks.ProcessingTimeService;
import org.apache.flink.util.function.ThrowingConsumer;

/**
 * Collects a few events and decides on them together. Most of the time of an event is waiting for
 * memory; if the processor prefetches the pages of all events at once, these waits overlap.
 *
 * <p>Events keep their order. They wait for at most {@value #MAX_MILLIS} milliseconds, and must be
 * decided on before a watermark, a barrier or the end of input passes. Flink may reuse the record
 * object for the next event. It must not reuse the event object, which it never does after a
 * network exchange.
 *
 * @param <T> type of the events
 */
final class EventBatch<T> {
  /** The number of events in a batch. Larger batches are not faster. */
  static final int EVENTS = 16;

  /**
   * Much shorter than the timeout of network buffers, and much longer than a batch takes to fill at
   * full load.
   */
  static final long MAX_MILLIS = 5;

  private final ProcessingTimeService time;
  private final Runnable begin;
  private final ObjIntConsumer<long[]> prefetcher;
  private final ThrowingConsumer<StreamRecord<Change<T>>, Exception> decider;

  @SuppressWarnings({"unchecked", "rawtypes"}) // An array of a generic type.
  private final StreamRecord<Change<T>>[] events = new StreamRecord[EVENTS];

  private final long[] hashes = new long[EVENTS];
  private int size;
  private boolean timerRuns;

  /**
   * @param begin called before the waiting events are decided on
   * @param prefetcher prefetches the memory that events with some hashes need
   * @param decider decides on an event
   */
  EventBatch(
      ProcessingTimeService time,
      Runnable begin,
      ObjIntConsumer<long[]> prefetcher,
      ThrowingConsumer<StreamRecord<Change<T>>, Exception> decider) {
    this.time = time;
    this.begin = begin;
    this.prefetcher = prefetcher;
    this.decider = decider;
    Arrays.setAll(events, i -> new StreamRecord<Change<T>>(null));
  }

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
      // The future is not needed: an exception in the timer fails the task.
      var unused =
          time.registerTimer(
              time.getCurrentProcessingTime() + MAX_MILLIS,
              timestamp -> {
                timerRuns = false;
                decideAll();
              });
    }
  }

  /** Decides on all waiting events. */
  void decideAll() throws Exception {
    int count = size;
    size = 0;
    if (count > 0) {
      begin.run();
    }
    prefetcher.accept(hashes, count);
    for (int i = 0; i < count; i++) {
      decider.accept(events[i]);
    }
  }
}
