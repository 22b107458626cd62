/** Events from Kafka, outcomes and snapshots to Kafka. */
package io.firstseen.jobs.kafka;
