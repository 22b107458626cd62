package io.firstseen.faults;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.firstseen.consumer.SnapshotClient;
import io.firstseen.consumer.SnapshotClientOptions;
import io.firstseen.consumer.SnapshotListener;
import io.firstseen.filters.key.InvalidKeyException;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.Manifest;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A consumer as a process: queries every active snapshot for all keys of the model, and writes a
 * line about each.
 */
public final class ConsumerMain implements SnapshotListener {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final ExactModel model;
  private final BufferedWriter answers;
  private final AtomicReference<SnapshotClient> client = new AtomicReference<>();
  private final CountDownLatch started = new CountDownLatch(1);

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

  private ConsumerMain(ExactModel model, BufferedWriter answers) {
    this.model = model;
    this.answers = answers;
  }

  /** The process; its argument is a {@link ConsumerSpec} in JSON. */
  public static void main(String[] arguments) throws Exception {
    ConsumerSpec<StreamSettings> spec = ConsumerSpec.read(arguments[0], StreamSettings.class);
    KeyHash hash = KeyHash.fromFile(Path.of(spec.hashKeyFile()));
    ConsumerMain consumer =
        new ConsumerMain(
            new ExactModel(spec.stream(), hash),
            Files.newBufferedWriter(
                Path.of(spec.answers()),
                StandardCharsets.UTF_8,
                StandardOpenOption.CREATE,
                StandardOpenOption.APPEND));
    // The process before may have been killed within a line.
    consumer.write("\n");
    consumer.client.set(
        SnapshotClient.start(
            SnapshotClientOptions.builder(spec.brokers(), Pipeline.SET)
                .keyHash(hash)
                .cacheDirectory(Path.of(spec.cacheDirectory()))
                .listener(consumer)
                .build()));
    consumer.started.countDown();
    new CountDownLatch(1).await();
  }

  @Override
  public void onSnapshot(Manifest manifest) {
    try {
      started.await();
      write(JSON.writeValueAsString(ask(manifest)) + "\n");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (IOException | InvalidKeyException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void onRefused(String reason) {
    try {
      write(JSON.writeValueAsString(Map.of("refused", reason)) + "\n");
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
    boolean[] found = client.get().mightContainEach(null, keys);
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

  private void write(String text) throws IOException {
    synchronized (answers) {
      answers.write(text);
      answers.flush();
    }
  }
}
