/**
 * The snapshot client: follows a set on a Kafka topic or in a directory, verifies its snapshots,
 * and checks whether keys are in it. Does not depend on Flink.
 */
package io.firstseen.consumer;
