package io.firstseen.faults;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.firstseen.consumer.SnapshotClient;
import io.firstseen.consumer.SnapshotListener;
import io.firstseen.filters.snapshot.Manifest;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** A consumer as a process: queries live keys continuously, and reports how many were absent. */
public final class SoakConsumer implements SnapshotListener {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int BATCH = 1000;
  private static final int PAUSE_MILLIS = 100;

  private final AtomicLong snapshots = new AtomicLong();
  private final AtomicLong refused = new AtomicLong();

  /**
   * What was answered so far.
   *
   * @param snapshots that have answered
   * @param refused the number of rejected records
   * @param asked the number of queries for live keys
   * @param absent how many of these were absent
   * @param end the number of the first event behind the newest snapshot's window
   */
  record Answers(long snapshots, long refused, long asked, long absent, long end) {}

  private SoakConsumer() {}

  /** The process; its argument is a {@link ConsumerSpec} in JSON. */
  public static void main(String[] arguments) throws Exception {
    new SoakConsumer().run(ConsumerSpec.read(arguments[0], SoakStream.class));
  }

  @Override
  public void onSnapshot(Manifest manifest) {
    snapshots.incrementAndGet();
  }

  @Override
  public void onRefused(String reason) {
    refused.incrementAndGet();
    System.err.println("refused: " + reason);
  }

  private void run(ConsumerSpec<SoakStream> spec) throws Exception {
    SoakStream stream = spec.stream();
    SplittableRandom random = new SplittableRandom(stream.seed());
    Path next = spec.answers().resolveSibling("answers.new");
    long asked = 0;
    long absent = 0;
    long end = 0;
    try (SnapshotClient client = spec.start(this)) {
      while (true) {
        if (client.manifest().isPresent()) {
          end = stream.eventAt(client.manifest().get().windowEndMillis());
          // Of the younger half, as the next snapshot may come any time.
          long span = Math.min(end, stream.ttlMillis() / 2 * stream.eventsPerMilli());
          List<byte[]> keys = new ArrayList<>();
          while (keys.size() < BATCH && span > 0) {
            long key = stream.key(end - 1 - random.nextLong(span));
            if (!SoakStream.isDeleted(key) && SoakStream.firstEvent(key) >= end - span) {
              keys.add(SoakStream.text(key).getBytes(StandardCharsets.US_ASCII));
            }
          }
          for (boolean isFound : client.mightContainEach(null, keys)) {
            asked++;
            absent += isFound ? 0 : 1;
          }
        }
        Files.write(
            next,
            JSON.writeValueAsBytes(
                new Answers(snapshots.get(), refused.get(), asked, absent, end)));
        Files.move(next, spec.answers(), StandardCopyOption.ATOMIC_MOVE);
        TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
      }
    }
  }
}
