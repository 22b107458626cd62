/** Golomb-coded sets: sizes and times against peers and against the promised bounds. */
package io.firstseen.benchmarks.gcs;
