/** The compaction of accepted operations into snapshots: time of a window, size of its state. */
package io.firstseen.benchmarks.compaction;
