package io.firstseen.cli.size;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.near.NearRule;
import io.firstseen.jobs.DedupJob;
import io.firstseen.jobs.SnapshotJob;
import io.firstseen.jobs.options.OptionValues;
import io.firstseen.operators.dedup.Firstseen;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.configuration.TaskManagerOptions;

/** The command lines and the cluster settings for a dedup job of this size. */
record SizedJob(Sizing sizing, SizeCommand request) {
  private static final String COMMON =
      "-c %s jobs/target/jobs-0.2.0-job.jar --bootstrap-servers HOST:9092 --hash-key-file hash.key"
          + " --hash-key-on-workers --checkpoint-dir s3://BUCKET/checkpoints"
          + " --checkpoint-interval %s --parallelism %d --state-backend %s --canonicaliser %s";

  /** Slots per TaskManager. */
  int slots() {
    return Math.min(request.slots, sizing.division.tasks());
  }

  /** One line per job. */
  List<String> commands() {
    int shards = sizing.division.shards();
    StringBuilder dedup = new StringBuilder("flink run ");
    // At the first start, Flink also fixes the maximum parallelism of source and sinks.
    if (shards > Firstseen.DEFAULT_SHARDS) {
      dedup.append("-D %s=%d ".formatted(PipelineOptions.MAX_PARALLELISM.key(), shards));
    }
    dedup
        .append(common(DedupJob.class, sizing.division.tasks()))
        .append(" --event-format ")
        .append(request.eventFormat.name().toLowerCase(Locale.ROOT))
        .append(
            " --capacity %d --fpr %s".formatted(request.keys, number(request.falsePositiveRate)))
        .append(" --dedup-shards %d --mode %s".formatted(shards, request.mode.id()))
        .append(
            request.near == null
                ? ""
                : " --near " + (request.near.equals(NearRule.SHORT) ? "short" : "long"))
        .append(ttl());
    if (request.isOnRocksDb()) {
      dedup.append(" --page-cache " + Amounts.mebibytes(sizing.pageCacheBytes(sizing.division)));
    }
    SnapshotSizing snapshots = sizing.snapshots;
    return snapshots == null
        ? List.of(dedup.toString())
        : List.of(
            dedup.toString(),
            "flink run %s%s --window %s --snapshot-shards %d --snapshot-fpr %s"
                .formatted(
                    common(SnapshotJob.class, snapshots.tasks),
                    ttl(),
                    duration(request.windowSeconds()),
                    snapshots.shards,
                    number(request.snapshotFalsePositiveRate())));
  }

  private String common(Class<?> job, int parallelism) {
    return COMMON.formatted(
        job.getName(),
        duration(request.checkpointSeconds()),
        parallelism,
        request.backend.name().toLowerCase(Locale.ROOT),
        (request.near == null ? request.canonicaliser : Canonicaliser.TEXT).id());
  }

  private String ttl() {
    return request.ttl == null ? "" : " --ttl " + OptionValues.write(request.ttl);
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
