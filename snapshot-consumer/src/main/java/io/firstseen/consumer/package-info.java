/**
 * The client of snapshots: follows a set on a Kafka topic or in a directory, verifies what comes,
 * and answers whether a key is in it. Needs no Flink.
 */
package io.firstseen.consumer;
