/** Golomb-coded sets: sizes and times against peers, and what the codec is promised to reach. */
package io.firstseen.benchmarks.gcs;
