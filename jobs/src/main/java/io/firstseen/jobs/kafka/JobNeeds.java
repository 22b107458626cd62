package io.firstseen.jobs.kafka;

import io.firstseen.jobs.options.JobOptions;
import io.firstseen.jobs.options.KafkaOptions;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A job with checked options, for a {@link Preflight}.
 *
 * @param options null for {@link Job#NONE}
 */
public record JobNeeds(Job job, KafkaOptions kafka, @Nullable JobOptions options) {

  public enum Job {
    DEDUP,
    SNAPSHOTS,
    PIPELINE,
    /** A client that only reads snapshots. */
    NONE;

    /** Whether the job dedups. */
    public boolean dedups() {
      return this == DEDUP || this == PIPELINE;
    }

    /** Whether the job publishes a set. */
    public boolean publishes() {
      return this == SNAPSHOTS || this == PIPELINE;
    }
  }

  /** The file of the key that signs manifests; empty if the job does not sign manifests. */
  public Optional<Path> signingKey() {
    return job.publishes() ? options.snapshots().signingKey() : Optional.empty();
  }
}
