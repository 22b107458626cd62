/**
 * The parts of the snapshot client: {@link io.firstseen.consumer.internal.SnapshotAssembler} judges
 * records and {@link io.firstseen.consumer.internal.TopicFollower} fetches them. Nothing here is
 * for users.
 */
package io.firstseen.consumer.internal;
