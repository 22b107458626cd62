package io.firstseen.faults;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.firstseen.consumer.SnapshotClient;
import io.firstseen.consumer.SnapshotListener;
import io.firstseen.filters.key.InvalidKeyException;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.Manifest;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

/**
 * A consumer as a process: queries every active snapshot for all keys of the model, and writes a
 * line about each.
 */
public final class ConsumerMain implements SnapshotListener {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final ExactModel model;
  private final Path answers;
  private final CompletableFuture<SnapshotClient> client = new CompletableFuture<>();

  /**
   * A snapshot that has answered.
   *
   * @param sequence of its manifest
   * @param end the number of the first event after its window
   * @param live keys that are live there by the model
   * @param absent how many of these were answered 'absent'
   * @param others keys that are not live there by the model
   * @param present how many of these were answered 'present'
   */
  record Answer(long sequence, long end, int live, int absent, int others, int present) {}

  private ConsumerMain(ExactModel model, Path answers) {
    this.model = model;
    this.answers = answers;
  }

  /** The process; its argument is a {@link ConsumerSpec} in JSON. */
  public static void main(String[] arguments) throws Exception {
    ConsumerSpec<StreamSettings> spec = ConsumerSpec.read(arguments[0], StreamSettings.class);
    ConsumerMain consumer =
        new ConsumerMain(
            new ExactModel(spec.stream(), KeyHash.fromFile(spec.hashKeyFile())), spec.answers());
    // The process before may have been killed within a line.
    consumer.write("");
    consumer.client.complete(spec.start(consumer));
    new CountDownLatch(1).await();
  }

  @Override
  public void onSnapshot(Manifest manifest) {
    try {
      write(JSON.writeValueAsString(ask(manifest)));
    } catch (IOException | InvalidKeyException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void onRefused(String reason) {
    try {
      write(JSON.writeValueAsString(Map.of("refused", reason)));
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private Answer ask(Manifest manifest) throws InvalidKeyException {
    int end = (int) (manifest.windowEndMillis() - model.settings().baseMillis());
    int liveKeys = 0;
    int absent = 0;
    int others = 0;
    int present = 0;
    List<byte[]> keys = new ArrayList<>();
    model.isLive(0, end);
    int last = model.keys();
    for (int key = 0; key < last; key++) {
      keys.add(ExactModel.key(key).getBytes(StandardCharsets.US_ASCII));
    }
    // No other snapshot answers before this method returns.
    boolean[] found = client.join().mightContainEach(null, keys);
    for (int key = 0; key < last; key++) {
      if (model.isLive(key, end)) {
        liveKeys++;
        absent += found[key] ? 0 : 1;
      } else {
        others++;
        present += found[key] ? 1 : 0;
      }
    }
    return new Answer(manifest.sequence(), end, liveKeys, absent, others, present);
  }

  private synchronized void write(String line) throws IOException {
    Files.writeString(answers, line + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
  }
}
