package io.firstseen.cli.size;

import io.firstseen.filters.key.Canonicaliser;
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
record SizedJob(Sizing sizing, SizeCommand request) {
  private static final String JAR = "jobs/target/jobs-0.2.0-job.jar";

  /** Slots per TaskManager. */
  int slots() {
    return Math.min(request.slots, sizing.division.tasks());
  }

  /** One line per job. */
  List<String> commands() {
    // At the first start, Flink also fixes the maximum parallelism of source and sinks.
    int shards = sizing.division.shards();
    String settings =
        shards > Firstseen.DEFAULT_SHARDS
            ? "-D %s=%d ".formatted(PipelineOptions.MAX_PARALLELISM.key(), shards)
            : "";
    List<String> lines = new ArrayList<>(List.of(line(settings, DedupJob.class, dedupOptions())));
    SnapshotSizing snapshots = sizing.snapshots;
    if (snapshots != null) {
      Map<String, String> options = commonOptions(snapshots.tasks);
      options.put("--ttl", ttl());
      options.put("--window", duration(request.windowSeconds()));
      options.put("--snapshot-shards", "" + snapshots.shards);
      options.put("--snapshot-fpr", number(request.snapshotFalsePositiveRate()));
      lines.add(line("", SnapshotJob.class, options));
    }
    return List.copyOf(lines);
  }

  private static String line(String settings, Class<?> job, Map<String, String> options) {
    StringBuilder line =
        new StringBuilder("flink run %s-c %s %s".formatted(settings, job.getName(), JAR));
    options.forEach(
        (option, value) -> {
          if (value != null) {
            line.append(' ').append(option).append(value.isEmpty() ? "" : " ").append(value);
          }
        });
    return line.toString();
  }

  /** The values of options, null for an option that is not set, and empty for a flag. */
  private Map<String, String> commonOptions(int parallelism) {
    Map<String, String> options = new LinkedHashMap<>();
    options.put("--bootstrap-servers", "HOST:9092");
    options.put("--hash-key-file", "hash.key");
    options.put("--hash-key-on-workers", "");
    options.put("--checkpoint-dir", "s3://BUCKET/checkpoints");
    options.put("--checkpoint-interval", duration(request.checkpointSeconds()));
    options.put("--parallelism", "" + parallelism);
    options.put("--state-backend", request.backend.name().toLowerCase(Locale.ROOT));
    Canonicaliser canonicaliser = request.near == null ? request.canonicaliser : Canonicaliser.TEXT;
    options.put("--canonicaliser", canonicaliser.id());
    return options;
  }

  private Map<String, String> dedupOptions() {
    Map<String, String> options = commonOptions(sizing.division.tasks());
    options.put("--event-format", request.eventFormat.name().toLowerCase(Locale.ROOT));
    options.put("--capacity", "" + request.keys);
    options.put("--fpr", number(request.falsePositiveRate));
    options.put("--dedup-shards", "" + sizing.division.shards());
    options.put("--mode", request.mode.id());
    if (request.near != null) {
      options.put("--near", request.near.equals(NearRule.SHORT) ? "short" : "long");
    }
    options.put("--ttl", ttl());
    if (request.isOnRocksDb()) {
      options.put("--page-cache", Amounts.mebibytes(sizing.pageCacheBytes(sizing.division)));
    }
    return options;
  }

  private @Nullable String ttl() {
    return request.ttl == null ? null : OptionValues.write(request.ttl);
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
        Amounts.mebibytes(slots() * sizing.managedBytes()));
    settings.put(CheckpointingOptions.LOCAL_BACKUP_ENABLED.key(), "true");
    settings.put(StateRecoveryOptions.LOCAL_RECOVERY.key(), "true");
    return settings;
  }

  /** Memory of a TaskManager whose slots may run tasks of either job. */
  private double heapBytes() {
    double ofTask = sizing.heapBytesOfTask(sizing.division);
    double ofDedup = slots() * ofTask;
    SnapshotSizing snapshots = sizing.snapshots;
    if (snapshots == null) {
      return ofDedup;
    }
    int ofSnapshots = Math.min(slots(), snapshots.tasks);
    double mixed =
        ofSnapshots * snapshots.heapBytesOfTask(snapshots.tasks) + ofTask * (slots() - ofSnapshots);
    return Math.max(ofDedup, mixed);
  }
}
