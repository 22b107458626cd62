/**
 * Snapshots, which are immutable files of the accepted keys of one shard; the manifests that name
 * them; and their form in a directory or on a topic. This package defines everything that a
 * publisher and a reader must agree on. The bytes are specified in {@code
 * docs/format/snapshot-v1.md}, {@code docs/format/delta-v1.md} and {@code
 * docs/format/manifest-v1.md}.
 */
package io.firstseen.filters.snapshot;
