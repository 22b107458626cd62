package io.firstseen.jobs.kafka;

import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;

/** Asks the brokers where partitions end. */
class PartitionEnds {
  private final Properties clientProperties;

  PartitionEnds(Properties clientProperties) {
    this.clientProperties = clientProperties;
  }

  /**
   * The offset after the last record of a partition.
   *
   * @throws KafkaException if no broker answers
   */
  long of(TopicPartition partition) {
    try (Admin admin = Admin.create(clientProperties)) {
      return admin
          .listOffsets(Map.of(partition, OffsetSpec.latest()))
          .partitionResult(partition)
          .get()
          .offset();
    } catch (InterruptedException e) {
      throw new InterruptException(e);
    } catch (ExecutionException e) {
      throw new KafkaException("cannot read where " + partition + " ends", e.getCause());
    }
  }
}
