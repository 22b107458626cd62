package io.firstseen.jobs;

import io.firstseen.jobs.options.JobIdentity;
import io.firstseen.jobs.options.KafkaOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/**
 * The options of a job that its brokers are still to be checked for.
 *
 * @param ttl for how long keys on the accepted topic live; empty if they are kept until they are
 *     deleted
 * @param signingKey the file of the key that signs manifests; empty if the job signs none
 * @param identity the options to compare with the claims topic; empty if no job is checked
 */
public record CheckedOptions(
    KafkaOptions kafka,
    Optional<Duration> ttl,
    Optional<Path> signingKey,
    Optional<JobIdentity> identity) {}
