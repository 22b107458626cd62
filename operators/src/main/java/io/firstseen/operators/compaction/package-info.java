/**
 * The windowed compaction of accepted operations into immutable snapshots; {@link
 * io.firstseen.operators.compaction.Snapshots} is the way in.
 */
package io.firstseen.operators.compaction;
