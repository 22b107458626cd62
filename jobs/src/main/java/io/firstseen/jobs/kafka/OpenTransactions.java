package io.firstseen.jobs.kafka;

import java.util.List;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListTransactionsOptions;
import org.apache.kafka.clients.admin.TransactionListing;
import org.apache.kafka.clients.admin.TransactionState;

/** The open transactions of a Kafka cluster, which hide later records from committed readers. */
public final class OpenTransactions {

  private OpenTransactions() {}

  /**
   * Returns the transactional ids of all open transactions.
   *
   * @throws ExecutionException if the brokers do not list them
   */
  public static List<String> ids(Admin admin) throws ExecutionException, InterruptedException {
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
