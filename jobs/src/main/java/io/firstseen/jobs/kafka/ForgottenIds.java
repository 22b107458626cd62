package io.firstseen.jobs.kafka;

import java.io.IOException;
import java.util.Collection;
import org.apache.flink.api.connector.sink2.Committer;
import org.apache.flink.connector.kafka.sink.KafkaCommittable;
import org.apache.kafka.common.errors.InvalidPidMappingException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Commits transactions, including transactions whose ids have expired. A broker expires a
 * transactional id {@code transactional.id.expiration.ms} after its transaction has ended. A job
 * that starts from an older savepoint commits such transactions again, and the Kafka sink's
 * committer would then fail after every restart.
 */
// The connector's close may be interrupted.
@SuppressWarnings("try")
record ForgottenIds(Committer<KafkaCommittable> kafka) implements Committer<KafkaCommittable> {
  private static final Logger LOG = LoggerFactory.getLogger(ForgottenIds.class);

  @Override
  public void commit(Collection<CommitRequest<KafkaCommittable>> requests)
      throws IOException, InterruptedException {
    kafka.commit(requests.stream().<CommitRequest<KafkaCommittable>>map(Request::new).toList());
  }

  @Override
  public void close() throws Exception {
    kafka.close();
  }

  private record Request(CommitRequest<KafkaCommittable> request)
      implements CommitRequest<KafkaCommittable> {

    @Override
    public void signalFailedWithUnknownReason(Throwable reason) {
      if (reason instanceof InvalidPidMappingException) {
        LOG.warn(
            "transactional id {} has expired at the brokers: its transaction ended more than "
                + "transactional.id.expiration.ms ago",
            request.getCommittable());
        request.signalFailedWithKnownReason(reason);
      } else {
        request.signalFailedWithUnknownReason(reason);
      }
    }

    @Override
    public KafkaCommittable getCommittable() {
      return request.getCommittable();
    }

    @Override
    public int getNumberOfRetries() {
      return request.getNumberOfRetries();
    }

    @Override
    public void signalFailedWithKnownReason(Throwable reason) {
      request.signalFailedWithKnownReason(reason);
    }

    @Override
    public void retryLater() {
      request.retryLater();
    }

    @Override
    public void updateAndRetryLater(KafkaCommittable committable) {
      request.updateAndRetryLater(committable);
    }

    @Override
    public void signalAlreadyCommitted() {
      request.signalAlreadyCommitted();
    }
  }
}
