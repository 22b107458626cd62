/**
 * The parts of the snapshot client: {@link io.firstseen.consumer.internal.SnapshotAssembler}
 * evaluates records and {@link io.firstseen.consumer.internal.TopicFollower} fetches them. This
 * package is not part of the public API.
 */
package io.firstseen.consumer.internal;
