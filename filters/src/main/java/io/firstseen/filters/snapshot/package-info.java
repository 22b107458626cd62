/**
 * Manifests, which say what a set is at the end of a window; the blobs that lead to it; the
 * snapshots of its shards, in which keys are looked up; and their form in a directory or on a
 * topic. This package defines everything that a publisher and a reader must agree on. The bytes are
 * specified in {@code docs/format/manifest-v1.md}, {@code docs/format/blob-v1.md} and {@code
 * docs/format/snapshot-v1.md}.
 */
package io.firstseen.filters.snapshot;
