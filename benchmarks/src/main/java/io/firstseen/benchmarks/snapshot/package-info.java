/** Sizes of snapshots and of the deltas between them. */
package io.firstseen.benchmarks.snapshot;
