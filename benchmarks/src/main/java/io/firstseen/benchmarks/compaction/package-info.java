/**
 * The compaction of accepted operations into snapshots: the time of a window and the size of the
 * state.
 */
package io.firstseen.benchmarks.compaction;
