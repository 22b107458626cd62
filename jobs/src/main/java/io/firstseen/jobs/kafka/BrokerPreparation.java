package io.firstseen.jobs.kafka;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.ListTransactionsOptions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.TransactionListing;
import org.apache.kafka.clients.admin.TransactionState;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.errors.TopicExistsException;

/** Prepares the broker before the jobs start. */
public final class BrokerPreparation {

  private BrokerPreparation() {}

  /** Creates missing topics. */
  public static void makeTopics(Admin admin, Stream<String> topics, int partitions)
      throws ExecutionException, InterruptedException {
    List<NewTopic> wanted =
        topics.distinct().map(topic -> new NewTopic(topic, partitions, (short) 1)).toList();
    for (KafkaFuture<Void> created : admin.createTopics(wanted).values().values()) {
      try {
        created.get();
      } catch (ExecutionException e) {
        if (!(e.getCause() instanceof TopicExistsException)) {
          throw e;
        }
      }
    }
  }

  /**
   * Configures a topic to keep tombstones.
   *
   * @return false if the topic deletes by age, which is not changed; true for a missing topic
   */
  public static boolean keepRemovals(Admin admin, String topic, Duration time)
      throws ExecutionException, InterruptedException {
    if (!admin.listTopics().names().get().contains(topic)) {
      return true;
    }
    ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
    String cleanup =
        admin
            .describeConfigs(List.of(resource))
            .all()
            .get()
            .get(resource)
            .get(TopicConfig.CLEANUP_POLICY_CONFIG)
            .value();
    if (cleanup.contains(TopicConfig.CLEANUP_POLICY_DELETE)) {
      return false;
    }
    ConfigEntry retention =
        new ConfigEntry(TopicConfig.DELETE_RETENTION_MS_CONFIG, "" + time.toMillis());
    admin
        .incrementalAlterConfigs(
            Map.of(resource, List.of(new AlterConfigOp(retention, AlterConfigOp.OpType.SET))))
        .all()
        .get();
    return true;
  }

  /**
   * Aborts the open transactions of jobs that are not resumed, because they hide later records.
   *
   * @param ids the prefix of the transactional ids, before the id of the job
   * @param jobs the ids of the jobs
   */
  public static void abortTransactions(Admin admin, String ids, List<String> jobs)
      throws ExecutionException, InterruptedException {
    List<String> open =
        openTransactions(admin).stream()
            .filter(id -> jobs.stream().anyMatch(job -> id.startsWith(ids + job + "-")))
            .toList();
    if (!open.isEmpty()) {
      admin.fenceProducers(open).all().get();
    }
  }

  /**
   * Returns the transactional ids of all open transactions.
   *
   * @throws ExecutionException if the brokers do not list them
   */
  public static List<String> openTransactions(Admin admin)
      throws ExecutionException, InterruptedException {
    return admin
        .listTransactions(
            new ListTransactionsOptions().filterStates(List.of(TransactionState.ONGOING)))
        .all()
        .get()
        .stream()
        .map(TransactionListing::transactionalId)
        .toList();
  }
}
