package io.firstseen.benchmarks.near;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstseen.benchmarks.FiguresProgram;
import io.firstseen.filters.near.NearRule;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
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
    try (NearTask task = new NearTask(rule, texts)) {
      for (String text : live.subList(0, texts / 2)) {
        task.add(text);
      }
      double start = NearTask.cpuSeconds();
      for (String text : live.subList(texts / 2, texts)) {
        task.add(text);
      }
      double accepted = task.accepted().size();
      double seconds = NearTask.cpuSeconds() - start;
      figures.atLeast(
          name + ": texts per second of CPU time", (texts - texts / 2) / seconds, rate, "1/s");
      figures.plain(name + ": first texts accepted", accepted / texts, "");
      figures.atMost(name + ": state per text", task.stateBytes() / accepted, bytes, "B");
      int similar = 0;
      int found = 0;
      for (int i = 0; i < TRIALS; i++) {
        byte[] text = NearTask.form(live.get(random.nextInt(texts)));
        byte[] changed =
            NearTask.form(
                changed(new String(text, UTF_8), rule.equals(NearRule.SHORT) ? 0.12 : 0.03));
        if (rule.equals(NearRule.SHORT) || task.signature().similarity(text, changed) >= 0.8) {
          similar++;
          found += task.resembles(changed) ? 1 : 0;
        }
      }
      figures.atLeast(name + ": recall", (double) found / similar, recall, "");
      int dropped = 0;
      for (int i = 0; i < TRIALS; i++) {
        dropped += task.resembles(NearTask.form(text(length))) ? 1 : 0;
      }
      figures.atMost(name + ": unrelated texts dropped", (double) dropped / TRIALS, drops, "");
    }
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
