/**
 * The windowed compaction of accepted operations into immutable snapshots. The entry point is
 * {@link io.firstseen.operators.compaction.Snapshots}.
 */
package io.firstseen.operators.compaction;
