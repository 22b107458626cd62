/**
 * The snapshot client: follows a set on a Kafka topic or in a directory, verifies its snapshots,
 * and answers whether a key is in it. Needs no Flink.
 */
package io.firstseen.consumer;
