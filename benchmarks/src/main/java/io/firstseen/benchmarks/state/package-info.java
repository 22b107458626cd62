/** What pages cost in a state backend, for one task, without a pipeline around it. */
package io.firstseen.benchmarks.state;
