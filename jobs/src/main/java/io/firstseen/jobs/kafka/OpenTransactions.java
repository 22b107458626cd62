package io.firstseen.jobs.kafka;

import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListTransactionsOptions;
import org.apache.kafka.clients.admin.TransactionListing;
import org.apache.kafka.clients.admin.TransactionState;
import org.apache.kafka.common.KafkaException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The open transactions of other jobs. Only this class depends on the format of the connector's
 * transactional ids: the prefix, which ends with the job's id, the number of the task, and the
 * number of the transaction's checkpoint.
 */
final class OpenTransactions {
  private static final Logger LOG = LoggerFactory.getLogger(OpenTransactions.class);

  private OpenTransactions() {}

  /**
   * Aborts the open transactions of another job, including transactions of its other sinks: an open
   * transaction hides the records after it on the claims topic.
   *
   * @param claim the other job's claim
   * @param committedUpTo the checkpoint up to which the committers of this job commit the
   *     transactions, because they are in its state; 0 for none
   * @throws KafkaException if the transactions cannot be aborted
   */
  static void abort(Properties clientProperties, String claim, long committedUpTo)
      throws InterruptedException {
    try (Admin admin = Admin.create(clientProperties)) {
      List<String> open = new ArrayList<>();
      for (TransactionListing each :
          admin
              .listTransactions(
                  new ListTransactionsOptions().filterStates(List.of(TransactionState.ONGOING)))
              .all()
              .get()) {
        String id = each.transactionalId();
        if (isOf(claim, id)
            && Long.parseLong(id.substring(id.lastIndexOf('-') + 1)) > committedUpTo) {
          open.add(id);
        }
      }
      if (!open.isEmpty()) {
        LOG.info("aborting {} open transactions of {}", open.size(), PublisherLine.job(claim));
        admin.fenceProducers(open).all().get();
      }
    } catch (ExecutionException e) {
      throw new KafkaException(
          "cannot abort the transactions of " + PublisherLine.job(claim), e.getCause());
    }
  }

  /** Whether a transactional id belongs to the job of a claim, for any of its sinks. */
  private static boolean isOf(String claim, String transactionalId) {
    String job = claim.substring(0, claim.indexOf('/'));
    String idsOfJob = claim.substring(claim.indexOf('/') + 1);
    return transactionalId.startsWith(idsOfJob) && transactionalId.contains("." + job + "-");
  }
}
