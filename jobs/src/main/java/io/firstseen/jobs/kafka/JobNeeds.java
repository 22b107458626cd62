package io.firstseen.jobs.kafka;

import io.firstseen.jobs.options.JobIdentity;
import io.firstseen.jobs.options.KafkaOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A job with checked options, for a {@link Preflight}.
 *
 * @param ttl for how long keys on the accepted topic live; empty if they are kept until they are
 *     deleted
 * @param identity the options to compare with the options of the dedup that writes the output;
 *     empty for none
 * @param signingKey the file of the key that signs manifests; empty if the job signs none
 */
public record JobNeeds(
    Job job,
    KafkaOptions kafka,
    Optional<Duration> ttl,
    Optional<JobIdentity> identity,
    Optional<Path> signingKey) {

  /** The jobs. */
  public enum Job {
    /** {@code DedupJob}. */
    DEDUP,
    /** {@code SnapshotJob}. */
    SNAPSHOTS,
    /** {@code PipelineJob}. */
    PIPELINE,
    /** Somebody who only reads snapshots. */
    NONE;

    boolean dedups() {
      return this == DEDUP || this == PIPELINE;
    }

    /** Whether the job publishes a set. */
    public boolean publishes() {
      return this == SNAPSHOTS || this == PIPELINE;
    }
  }

  /** Needs without an identity and a signing key. */
  public static JobNeeds of(Job job, KafkaOptions kafka, @Nullable Duration ttl) {
    return new JobNeeds(job, kafka, Optional.ofNullable(ttl), Optional.empty(), Optional.empty());
  }
}
