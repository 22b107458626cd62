/**
 * A Kafka broker and a Flink cluster in this JVM, for tests of jobs: {@link
 * io.firstseen.embedded.EmbeddedBroker}, {@link io.firstseen.embedded.EmbeddedCluster}. Two
 * extensions of JUnit (5.13 or newer) start one of them for all tests of a JVM: {@link
 * io.firstseen.embedded.SharedBroker}, {@link io.firstseen.embedded.SharedCluster}.
 */
package io.firstseen.embedded;
