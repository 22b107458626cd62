/**
 * Snapshots: immutable files of the accepted keys of one shard, the manifests that name them, and
 * where both live in a directory or on a topic. Whatever a publisher and a reader must agree on
 * stands here. The bytes are specified in {@code docs/format/snapshot-v1.md} and {@code
 * docs/format/manifest-v1.md}.
 */
package io.firstseen.filters.snapshot;
