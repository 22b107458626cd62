/** Near-duplicates of texts: recall, false drops, bytes and rates. */
package io.firstseen.benchmarks.near;
