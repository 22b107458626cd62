/**
 * Firstseen against what people would use in its place: exact keyed state, Flink SQL, and Redis.
 */
package io.firstseen.benchmarks.alternatives;
