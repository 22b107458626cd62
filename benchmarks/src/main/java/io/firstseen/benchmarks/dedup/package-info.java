/**
 * The dedup operator in whole jobs, against the same job with an empty function and against exact
 * dedup: {@link io.firstseen.benchmarks.dedup.DedupFigures} is the command.
 */
package io.firstseen.benchmarks.dedup;
