package io.firstseen.cli.size;

import io.firstseen.filters.near.NearRule;
import io.firstseen.jobs.DedupJob;
import io.firstseen.jobs.SnapshotJob;
import io.firstseen.jobs.options.OptionValues;
import io.firstseen.operators.dedup.Firstseen;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.jspecify.annotations.Nullable;

/** The command lines and the cluster settings for a dedup job of this size. */
record SizedJob(
    SizingRequest request,
    int shards,
    int parallelism,
    double heapBytesOfTask,
    double pageCacheBytesOfTask,
    double managedBytesOfTask,
    @Nullable SnapshotSizing snapshots) {
  private static final String JAR = "jobs/target/jobs-0.2.0-job.jar";

  /** Slots per TaskManager. */
  int slots() {
    return Math.min(request.slots, parallelism);
  }

  /** One line per job. */
  List<String> commands() {
    List<String> lines = new ArrayList<>();
    lines.add(line(settingsOfDedup(), DedupJob.class, dedupWords()));
    if (snapshots != null) {
      List<String> words = commonWords(snapshots.tasks());
      add(words, "--ttl", ttl());
      words.addAll(snapshotWords());
      lines.add(line("", SnapshotJob.class, words));
    }
    return List.copyOf(lines);
  }

  /** At the first start, Flink also fixes the maximum parallelism of source and sinks. */
  private String settingsOfDedup() {
    return shards > Firstseen.DEFAULT_SHARDS
        ? "-D %s=%d ".formatted(PipelineOptions.MAX_PARALLELISM.key(), shards)
        : "";
  }

  private static String line(String settings, Class<?> job, List<String> words) {
    return "flink run "
        + settings
        + "-c "
        + job.getName()
        + " "
        + JAR
        + " "
        + String.join(" ", words);
  }

  private List<String> commonWords(int parallelism) {
    List<String> words = new ArrayList<>();
    add(words, "--bootstrap-servers", "HOST:9092");
    add(words, "--hash-key-file", "hash.key");
    words.add("--hash-key-on-workers");
    add(words, "--checkpoint-dir", "s3://BUCKET/checkpoints");
    add(words, "--checkpoint-interval", duration(request.checkpointSeconds()));
    add(words, "--parallelism", Integer.toString(parallelism));
    add(words, "--state-backend", request.backend.name().toLowerCase(Locale.ROOT));
    add(words, "--canonicaliser", request.canonicaliserId());
    return words;
  }

  private List<String> dedupWords() {
    List<String> words = commonWords(parallelism);
    add(words, "--event-format", request.eventFormat.name().toLowerCase(Locale.ROOT));
    add(words, "--capacity", Long.toString(request.keys));
    add(words, "--fpr", number(request.falsePositiveRate));
    add(words, "--dedup-shards", Integer.toString(shards));
    add(words, "--mode", request.mode.id());
    if (request.near != null) {
      add(words, "--near", request.near.equals(NearRule.SHORT) ? "short" : "long");
    }
    add(words, "--ttl", ttl());
    if (request.isOnRocksDb()) {
      add(words, "--page-cache", Amounts.mebibytes(pageCacheBytesOfTask));
    }
    return words;
  }

  private List<String> snapshotWords() {
    List<String> words = new ArrayList<>();
    add(words, "--window", duration(request.windowSeconds()));
    add(words, "--snapshot-shards", Integer.toString(snapshots.shards()));
    add(words, "--snapshot-fpr", number(request.snapshotFalsePositiveRate()));
    return words;
  }

  private @Nullable String ttl() {
    return request.ttlSeconds() > 0 ? duration(request.ttlSeconds()) : null;
  }

  private static void add(List<String> words, String option, @Nullable String value) {
    if (value != null) {
      words.add(option);
      words.add(value);
    }
  }

  private static String duration(double seconds) {
    return OptionValues.write(Duration.ofMillis(Math.round(1000 * seconds)));
  }

  private static String number(double number) {
    return BigDecimal.valueOf(number).stripTrailingZeros().toPlainString();
  }

  /** Flink's settings that the sizes assume. */
  Map<String, String> flinkConfiguration() {
    Map<String, String> settings = new LinkedHashMap<>();
    settings.put(TaskManagerOptions.NUM_TASK_SLOTS.key(), Integer.toString(slots()));
    settings.put(TaskManagerOptions.TASK_HEAP_MEMORY.key(), Amounts.mebibytes(heapBytes()));
    settings.put(
        TaskManagerOptions.MANAGED_MEMORY_SIZE.key(),
        Amounts.mebibytes(slots() * managedBytesOfTask));
    settings.put(CheckpointingOptions.LOCAL_BACKUP_ENABLED.key(), "true");
    settings.put(StateRecoveryOptions.LOCAL_RECOVERY.key(), "true");
    return settings;
  }

  /** Memory of a TaskManager whose slots may run tasks of either job. */
  private double heapBytes() {
    double ofDedup = slots() * heapBytesOfTask;
    if (snapshots == null) {
      return ofDedup;
    }
    int ofSnapshots = Math.min(slots(), snapshots.tasks());
    double mixed =
        ofSnapshots * snapshots.heapBytesOfTask() + heapBytesOfTask * (slots() - ofSnapshots);
    return Math.max(ofDedup, mixed);
  }
}
