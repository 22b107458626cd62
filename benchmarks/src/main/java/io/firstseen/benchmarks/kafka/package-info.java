/** The job from Kafka to Kafka, against passing the same events on and against exact dedup. */
@org.jspecify.annotations.NullMarked
package io.firstseen.benchmarks.kafka;
