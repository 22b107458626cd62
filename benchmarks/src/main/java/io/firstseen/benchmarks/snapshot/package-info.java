/** What snapshots and the deltas between them take. */
package io.firstseen.benchmarks.snapshot;
