package io.firstseen.jobs.kafka;

import io.firstseen.operators.UserErrorException;
import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import org.apache.flink.api.connector.sink2.Committer;
import org.apache.flink.api.connector.sink2.CommitterInitContext;
import org.apache.flink.api.connector.sink2.InitContext;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.api.connector.sink2.StatefulSinkWriter;
import org.apache.flink.api.connector.sink2.SupportsCommitter;
import org.apache.flink.api.connector.sink2.SupportsWriterState;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.sink.KafkaCommittable;
import org.apache.flink.connector.kafka.sink.KafkaRecordSerializationSchema;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.connector.kafka.sink.KafkaWriterState;
import org.apache.flink.connector.kafka.sink.TwoPhaseCommittingStatefulSink.PrecommittingStatefulSinkWriter;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.streaming.api.connector.sink2.CommittableMessage;
import org.apache.flink.streaming.api.connector.sink2.SupportsPostCommitTopology;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.util.ExceptionUtils;
import org.apache.flink.util.IOUtils;
import org.apache.flink.util.function.SerializableFunction;
import org.apache.kafka.common.errors.InvalidPidMappingException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A Kafka sink that does not disturb other jobs. A new Kafka writer aborts open transactions with
 * its transactional ids and with the ids in its state. Each job therefore has its own transactional
 * ids, and the writer is created only at the first record or checkpoint barrier: by then, upstream
 * operators have started, or have failed the job. All other calls are delegated to the Kafka sink,
 * which cannot be extended.
 *
 * @param parts splits an element into the parts that become records
 * @param prefix the prefix of transactional ids, to which the job's id is appended
 * @param claim the output that the job must have claimed to commit; null for no check
 */
record DeferredKafkaSink<T, R>(
    SerializableFunction<T, Iterable<R>> parts,
    KafkaRecordSerializationSchema<R> records,
    Properties producer,
    String prefix,
    List<String> topics,
    @Nullable OutputClaim claim)
    implements Sink<T>,
        SupportsWriterState<T, KafkaWriterState>,
        SupportsCommitter<KafkaCommittable>,
        SupportsPostCommitTopology<KafkaCommittable> {
  private static final Logger LOG = LoggerFactory.getLogger(DeferredKafkaSink.class);

  private KafkaSink<R> ofJob(InitContext context) {
    return kafkaSink(prefix + "." + context.getJobInfo().getJobId().toHexString());
  }

  private KafkaSink<R> kafkaSink(String ids) {
    return KafkaSink.<R>builder()
        .setKafkaProducerConfig(producer)
        .setDeliveryGuarantee(DeliveryGuarantee.EXACTLY_ONCE)
        .setTransactionalIdPrefix(ids)
        .setRecordSerializer(records)
        .build();
  }

  @Override
  public SinkWriter<T> createWriter(WriterInitContext context) {
    return restoreWriter(context, List.of());
  }

  @Override
  public StatefulSinkWriter<T, KafkaWriterState> restoreWriter(
      WriterInitContext context, Collection<KafkaWriterState> recovered) {
    return new Writer(context, recovered);
  }

  @Override
  public Committer<KafkaCommittable> createCommitter(CommitterInitContext context)
      throws IOException {
    return new ForgottenIds(ofJob(context).createCommitter(context));
  }

  @Override
  public SimpleVersionedSerializer<KafkaWriterState> getWriterStateSerializer() {
    return kafkaSink(prefix).getWriterStateSerializer();
  }

  @Override
  public SimpleVersionedSerializer<KafkaCommittable> getCommittableSerializer() {
    return kafkaSink(prefix).getCommittableSerializer();
  }

  @Override
  public void addPostCommitTopology(DataStream<CommittableMessage<KafkaCommittable>> committables) {
    kafkaSink(prefix).addPostCommitTopology(committables);
  }

  private final class Writer
      implements PrecommittingStatefulSinkWriter<T, KafkaWriterState, KafkaCommittable> {
    private final WriterInitContext context;
    private final Collection<KafkaWriterState> recovered;
    // Null until the first commit of a claimed output.
    private @Nullable ClaimsTail tail;
    // Null until the first commit.
    private @Nullable PrecommittingStatefulSinkWriter<R, KafkaWriterState, KafkaCommittable> kafka;
    private boolean hasWritten;

    Writer(WriterInitContext context, Collection<KafkaWriterState> recovered) {
      this.context = PermanentFailures.reportedIn(context, topics);
      this.recovered = recovered;
    }

    private PrecommittingStatefulSinkWriter<R, KafkaWriterState, KafkaCommittable> kafka() {
      if (kafka == null) {
        try {
          kafka = ofJob(context).restoreWriter(context, recovered);
        } catch (RuntimeException e) {
          throwPermanent(e);
          // Kafka reports the cause only in the message.
          throw ExceptionUtils.findThrowableWithMessage(e, "transaction.max.timeout.ms")
              .<RuntimeException>map(
                  tooLong ->
                      new UserErrorException(
                          "--transaction-timeout exceeds the limit of the brokers "
                              + "(transaction.max.timeout.ms)"))
              .orElse(e);
        }
      }
      return kafka;
    }

    @Override
    public void write(T element, Context elementContext) throws IOException, InterruptedException {
      hasWritten = true;
      try {
        for (R part : parts.apply(element)) {
          kafka().write(part, elementContext);
        }
      } catch (IOException | RuntimeException e) {
        throwPermanent(e);
        throw e;
      }
    }

    @Override
    public void flush(boolean endOfInput) throws IOException, InterruptedException {
      try {
        kafka().flush(endOfInput);
      } catch (IOException | RuntimeException e) {
        throwPermanent(e);
        throw e;
      }
      if (claim != null) {
        requireClaim();
      }
    }

    /**
     * Fails the commit if another job has claimed the output. The check runs when all records of a
     * transaction are at the broker, so that a job that claims the output later sees the
     * transaction and can abort it.
     */
    private void requireClaim() {
      if (tail == null) {
        tail = claim.tail();
      }
      tail.readToEnd();
      Optional<String> newest = tail.newest;
      // Without records there is nothing to commit yet.
      boolean isUnclaimed = newest.isEmpty() && !hasWritten;
      if (!isUnclaimed && !newest.equals(Optional.of(claim.of(context.getJobInfo().getJobId())))) {
        throw claim.notOwned(
            newest
                .map(other -> PublisherLine.job(other) + " has taken it over")
                .orElse("its claim was deleted from topic " + claim.topic()));
      }
    }

    private void throwPermanent(Exception e) {
      PermanentFailures.of(e, topics)
          .ifPresent(
              error -> {
                throw error;
              });
    }

    @Override
    public Collection<KafkaCommittable> prepareCommit() throws IOException, InterruptedException {
      return kafka().prepareCommit();
    }

    @Override
    public List<KafkaWriterState> snapshotState(long checkpointId) throws IOException {
      return kafka().snapshotState(checkpointId);
    }

    /**
     * Logs failures instead of throwing them: uncommitted records may be lost, but a task that
     * fails in close stops its TaskManager. Close fails if another job resumes from the state of
     * this job while it is running.
     */
    @Override
    public void close() {
      try {
        IOUtils.closeAll(tail, kafka);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      } catch (Exception e) {
        LOG.warn("a Kafka writer could not be closed cleanly", e);
      }
    }
  }

  /**
   * Commits transactions, including transactions whose ids have expired. A broker expires a
   * transactional id {@code transactional.id.expiration.ms} after its transaction has ended. A job
   * that starts from an older savepoint commits such transactions again, and the Kafka sink's
   * committer would then fail after every restart.
   */
  // The connector's close may be interrupted.
  @SuppressWarnings("try")
  private record ForgottenIds(Committer<KafkaCommittable> kafka)
      implements Committer<KafkaCommittable> {
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
}
