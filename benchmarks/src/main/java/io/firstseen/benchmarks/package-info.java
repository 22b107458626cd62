/** Measurements against peers, each with its command. */
package io.firstseen.benchmarks;
