/** What several benchmarks use: processes, a local Flink, made-up URLs, and exact dedup. */
@org.jspecify.annotations.NullMarked
package io.firstseen.benchmarks.shared;
