/**
 * A Kafka broker and a Flink cluster in this JVM, for tests of jobs: {@link
 * io.firstseen.testing.EmbeddedBroker}, {@link io.firstseen.testing.EmbeddedCluster}. Two
 * extensions of JUnit (5.13 or newer) start one of them for all tests of a JVM: {@link
 * io.firstseen.testing.SharedBroker}, {@link io.firstseen.testing.SharedCluster}.
 */
package io.firstseen.testing;
