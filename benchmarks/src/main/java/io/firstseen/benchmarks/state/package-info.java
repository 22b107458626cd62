/** The cost of pages in a state backend, for one task outside of a pipeline. */
package io.firstseen.benchmarks.state;
