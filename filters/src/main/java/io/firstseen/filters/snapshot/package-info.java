/**
 * Manifests, which describe a set at the end of a window; the blobs from which a set is loaded; the
 * snapshots of its shards, in which keys are looked up; and their layout in a directory or on a
 * topic. This package defines everything that a publisher and a reader must agree on. The bytes are
 * specified in {@code docs/format/manifest-v1.md}, {@code docs/format/blob-v1.md} and {@code
 * docs/format/snapshot-v1.md}.
 */
package io.firstseen.filters.snapshot;
