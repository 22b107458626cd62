package io.firstseen.benchmarks.near;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstseen.benchmarks.FiguresProgram;
import io.firstseen.benchmarks.operator.SwallowingOutput;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.InvalidKeyException;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.near.NearRule;
import io.firstseen.filters.near.TextSignature;
import io.firstseen.operators.dedup.Firstseen;
import io.firstseen.serializers.Change;
import io.firstseen.types.Operation;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.runtime.state.storage.JobManagerCheckpointStorage;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.transformations.OneInputTransformation;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.KeyedOneInputStreamOperatorTestHarness;
import picocli.CommandLine.Option;

/**
 * Prints recall, false drops, bytes of state and rates of the rules {@code short} and {@code long}.
 * The texts are generated: words of a vocabulary whose frequencies follow Zipf's law, and changed
 * copies in which a share of the words is replaced, inserted or removed. One task of the operator
 * runs in Flink's harness, on the heap.
 */
// Closing Flink's harness may throw InterruptedException.
@SuppressWarnings("try")
public final class NearFigures extends FiguresProgram {
  private static final int VOCABULARY = 20_000;
  private static final int TRIALS = 20_000;
  private static final KeyHash HASH = KeyHash.fixed();

  @Option(
      names = "--texts",
      defaultValue = "100000",
      description = "live texts (default: ${DEFAULT-VALUE})")
  private int texts;

  private final SplittableRandom random = new SplittableRandom(20261127);
  private final String[] words = new String[VOCABULARY];
  private final double[] frequencies = new double[VOCABULARY];

  public static void main(String[] arguments) {
    exit(new NearFigures(), arguments);
  }

  @Override
  protected void measure(Path work) throws Exception {
    double sum = 0;
    for (int i = 0; i < VOCABULARY; i++) {
      words[i] = Long.toString(random.nextLong(36L * 36, 1L << (12 + random.nextInt(24))), 36);
      sum += 1.0 / (i + 10);
      frequencies[i] = sum;
    }
    measure("short", NearRule.SHORT, 24, 0.95, 0.01, 110, 60_000);
    measure("long", NearRule.LONG, 480, 0.99, 0.001, 48, 8_000);
  }

  private void measure(
      String name,
      NearRule rule,
      int length,
      double recall,
      double drops,
      double bytes,
      double rate)
      throws Exception {
    List<String> live = new ArrayList<>();
    for (int i = 0; i < texts; i++) {
      live.add(text(length));
    }
    figures.title("%s: %,d texts of %d words".formatted(name, texts, length));
    try (KeyedOneInputStreamOperatorTestHarness<Object, Change<String>, Change<String>> harness =
        harness(rule)) {
      SwallowingOutput<Change<String>> output = new SwallowingOutput<>();
      harness.setOutputCreator(serializer -> output);
      harness.setCheckpointStorage(new JobManagerCheckpointStorage(Integer.MAX_VALUE));
      harness.getExecutionConfig().enableObjectReuse();
      harness.open();
      TextSignature signature = new TextSignature(rule, HASH);
      long start = System.nanoTime();
      for (String text : live) {
        harness.processElement(record(signature, text));
      }
      double seconds = (System.nanoTime() - start) / 1e9;
      figures.atLeast(name + ": texts per second", texts / seconds, rate, "1/s");
      double accepted = output.main();
      figures.plain(name + ": first texts accepted", accepted / texts, "");
      output.clear();
      harness.prepareSnapshotPreBarrier(1);
      figures.atMost(
          name + ": state per text", harness.snapshot(1, 0).getStateSize() / accepted, bytes, "B");
      output.clear();
      int similar = 0;
      for (int i = 0; i < TRIALS; i++) {
        String text = live.get(random.nextInt(texts));
        String changed = changed(text, rule.equals(NearRule.SHORT) ? 0.12 : 0.03);
        if (rule.equals(NearRule.SHORT) || signature.similarity(form(text), form(changed)) >= 0.8) {
          similar++;
          harness.processElement(record(signature, changed));
        }
      }
      harness.prepareSnapshotPreBarrier(2);
      figures.atLeast(name + ": recall", 1 - output.main() / (double) similar, recall, "");
      output.clear();
      for (int i = 0; i < TRIALS; i++) {
        harness.processElement(record(signature, text(length)));
      }
      harness.prepareSnapshotPreBarrier(3);
      figures.atMost(
          name + ": unrelated texts dropped", 1 - output.main() / (double) TRIALS, drops, "");
    }
  }

  @SuppressWarnings(
      "unchecked") // Arrays of a generic type; the operator is what apply() put there.
  private KeyedOneInputStreamOperatorTestHarness<Object, Change<String>, Change<String>> harness(
      NearRule rule) throws Exception {
    StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
    OneInputTransformation<Change<String>, Change<String>> dedup =
        (OneInputTransformation<Change<String>, Change<String>>)
            Firstseen.nearDuplicates(env.fromData("text"), rule)
                .keyText(text -> text)
                .capacity(texts)
                .apply()
                .accepted()
                .getTransformation();
    return new KeyedOneInputStreamOperatorTestHarness<>(
        dedup.getOperatorFactory(),
        (KeySelector<Change<String>, Object>) (KeySelector<?, ?>) dedup.getStateKeySelector(),
        (TypeInformation<Object>) dedup.getStateKeyType(),
        dedup.getMaxParallelism(),
        1,
        0);
  }

  private static StreamRecord<Change<String>> record(TextSignature signature, String text)
      throws InvalidKeyException {
    byte[] form = form(text);
    long[] bands = signature.hashes(form, 0, HASH.hash(form));
    return new StreamRecord<>(new Change<>(Operation.ADD, form, 0, bands, text), 0);
  }

  private static byte[] form(String text) throws InvalidKeyException {
    return Canonicaliser.TEXT.canonicalise(text.getBytes(UTF_8));
  }

  private String text(int length) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < length; i++) {
      text.append(i == 0 ? "" : " ").append(word());
    }
    return text.toString();
  }

  private String word() {
    double place = random.nextDouble() * frequencies[VOCABULARY - 1];
    int low = 0;
    int high = VOCABULARY - 1;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (frequencies[middle] < place) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return words[low];
  }

  /** Replaces, inserts or removes a share of the words, on average. */
  private String changed(String text, double share) {
    StringBuilder changed = new StringBuilder();
    for (String word : text.split(" ", -1)) {
      boolean changes = random.nextDouble() < share;
      int kind = changes ? random.nextInt(3) : 3;
      if (kind != 2) {
        changed.append(kind == 0 ? word() : word).append(' ');
      }
      if (kind == 1) {
        changed.append(word()).append(' ');
      }
    }
    return changed.length() == 0 ? text : changed.toString();
  }
}
