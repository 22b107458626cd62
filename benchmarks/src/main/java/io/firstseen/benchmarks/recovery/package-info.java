/** How long a dedup takes from its start on known keys, or from a failure, to its full rate. */
package io.firstseen.benchmarks.recovery;
