/** Placeholder. */
package io.firstseen.benchmarks;
