package io.firstseen.jobs.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.jobs.options.JobIdentity;
import io.firstseen.jobs.shared.BlobsInPlace;
import io.firstseen.operators.UserErrorException;
import io.firstseen.serializers.SnapshotRecord;
import java.io.IOException;
import java.io.Serializable;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import org.apache.flink.api.common.functions.RichFlatMapFunction;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.util.Collector;
import org.apache.flink.util.IOUtils;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * Ensures that only one job publishes a set to a topic. At its start and before each manifest, the
 * function reads the committed records of the topic. The job fails immediately if the set belongs
 * to another job by the rules of {@link PublisherLine}, or if the topic lacks a blob in use at the
 * first manifest after a start from state.
 *
 * <p>If the job signs manifests, it only considers manifests signed by a trusted key. It ignores
 * claims, because any client with write access can write them; a second job is then detected only
 * by its manifests.
 */
final class PublisherFunction extends RichFlatMapFunction<SnapshotRecord, SnapshotRecord>
    implements CheckpointedFunction {
  private static final long serialVersionUID = 1;

  // A transaction of another job stays open for about its checkpoint interval.
  private static final Duration COMMIT_TIMEOUT = Duration.ofSeconds(30);
  private static final ListStateDescriptor<Tuple2<List<String>, Long>> LINE =
      new ListStateDescriptor<>("line", Types.TUPLE(Types.LIST(Types.STRING), Types.LONG));

  private static final ListStateDescriptor<String> SET =
      new ListStateDescriptor<>("set", Types.STRING);

  /**
   * The set that a job publishes, and the dedup job whose changelog it reads.
   *
   * @param dedupClaims the claims topic of the dedup job whose changelog the job reads
   * @param identity the options that must equal the dedup job's options; null if the job itself
   *     dedups
   * @param acceptedChanges the options that may differ, {@code set} if the state may lack the keys
   *     of the set
   * @param isOnlyManifests whether the topic contains only manifests, and no blobs
   * @param takenOver the line that this job continues in addition to the line of its state
   * @param restoredFrom the savepoint or checkpoint that the job starts from; null without state
   */
  record Settings(
      Properties clientProperties,
      String topic,
      String setName,
      PublisherKeys keys,
      String dedupClaims,
      String changelog,
      @Nullable JobIdentity identity,
      Set<String> acceptedChanges,
      boolean isOnlyManifests,
      PublisherLine takenOver,
      @Nullable String restoredFrom)
      implements Serializable {}

  private final Settings settings;

  private transient @Nullable ClaimsTail dedupTail;
  private transient ListState<String> setState;
  private transient ListState<Tuple2<List<String>, Long>> state;
  private transient PublisherLine line;
  private transient PublishedTail tail;
  // The records on the topic when this job started, including open transactions.
  private transient @Nullable Map<TopicPartition, Long> written;
  // Null after the claim was sent.
  private transient @Nullable String claim;

  PublisherFunction(Settings settings) {
    this.settings = settings;
  }

  @Override
  public void initializeState(FunctionInitializationContext context) throws Exception {
    String job = getRuntimeContext().getJobInfo().getJobId().toHexString();
    claim = PublisherLine.claim(job, UUID.randomUUID().toString());
    state = context.getOperatorStateStore().getListState(LINE);
    line = settings.takenOver();
    boolean hasState = false;
    for (Tuple2<List<String>, Long> restored : state.get()) {
      line = line.then(new PublisherLine(restored.f0, restored.f1));
      hasState = true;
    }
    setState = context.getOperatorStateStore().getListState(SET);
    requireStateOfSet(hasState);
    requireOptionsOfDedup();
    tail =
        new PublishedTail(
            reader(IsolationLevel.READ_COMMITTED),
            settings.topic(),
            settings.setName(),
            settings.keys().read(),
            getRuntimeContext().getMetricGroup().counter("passedOver"));
    if (!settings.isOnlyManifests() && context.isRestored()) {
      // The job that wrote the state may have published elsewhere, or the blobs that it sent may
      // never have been committed.
      tail.keepBlobs();
      // Read before this job writes, because its own transaction is open until the next checkpoint.
      written = written();
    }
    tail.readToEnd();
    Optional<String> refusal =
        line.refusalToBegin(tail.signedOnly(), tail.newestClaim(), tail.newestSequence());
    if (refusal.isPresent()) {
      throw notOwned(
          refusal.get()
              + " (publish under another --set, start from the newest savepoint, or stop the other job and start this job with --take-over)");
    }
  }

  /** Without the keys of the set, the set would start empty in the middle of the input. */
  private void requireStateOfSet(boolean hasState) throws Exception {
    if (settings.acceptedChanges().contains("set")) {
      return;
    }
    String advice =
        " (start a SnapshotJob without state, which reads all keys of the accepted topic, or "
            + "start with --accept-changes set, so that the set contains only keys that are "
            + "accepted from now on)";
    if (settings.restoredFrom() != null && !hasState) {
      throw new UserErrorException(
          "the state %s does not contain set %s, so the set would lack all earlier keys%s"
              .formatted(settings.restoredFrom(), settings.setName(), advice));
    }
    for (String restored : setState.get()) {
      if (!restored.equals(settings.setName())) {
        throw new UserErrorException(
            "--set is %s, but the state is of set %s, so the set would lack all earlier keys%s"
                .formatted(settings.setName(), restored, advice));
      }
    }
  }

  private void requireOptionsOfDedup() {
    if (settings.identity() == null) {
      return;
    }
    if (dedupTail == null) {
      dedupTail =
          new ClaimsTail(settings.clientProperties(), settings.dedupClaims(), settings.changelog());
    }
    if (dedupTail.exists()) {
      dedupTail.readToEnd();
      dedupTail
          .identity
          .flatMap(
              dedup ->
                  settings.identity().difference(dedup.ofChangelog(), settings.acceptedChanges()))
          .ifPresent(
              difference -> {
                throw differs(settings.changelog(), difference);
              });
    }
  }

  static UserErrorException differs(String changelog, String difference) {
    return new UserErrorException(
        "the options differ from the options of the dedup job that writes topic %s, so the set would not contain the keys of the topic: %s"
            .formatted(changelog, difference));
  }

  private UserErrorException notOwned(String reason) {
    return new UserErrorException(
        "set %s on topic %s is not this job's: %s"
            .formatted(settings.setName(), settings.topic(), reason));
  }

  @Override
  public void flatMap(SnapshotRecord record, Collector<SnapshotRecord> out) throws Exception {
    if (record.kind() == SnapshotRecord.Kind.MANIFEST) {
      Manifest manifest = Manifest.read(record.value());
      requireOptionsOfDedup();
      tail.readToEnd();
      Optional<String> refusal = refusalToSend(manifest.sequence());
      if (refusal.isPresent()) {
        throw notOwned(refusal.get());
      }
      line = line.since(tail.newestClaim());
      if (claim != null) {
        out.collect(
            new SnapshotRecord(
                SnapshotRecord.Kind.MANIFEST,
                PublishedTail.claimKey(settings.setName()),
                claim.getBytes(UTF_8)));
        line = line.claimedBy(claim);
        claim = null;
      }
      line = line.after(manifest.sequence());
      tail.sent(manifest);
    } else if (record.kind() == SnapshotRecord.Kind.BLOB && tail.blobs != null) {
      tail.blobs.add(record.key());
    } else if (record.kind() == SnapshotRecord.Kind.IN_USE) {
      requireBlobs(record);
      return;
    }
    out.collect(record);
  }

  private Optional<String> refusalToSend(long next) {
    return tail.contradicted.isPresent()
        ? Optional.of(
            "its manifest %d differs from the manifest that this job sent: another job signs with a trusted key (stop that job, and start this job again with --take-over)"
                .formatted(tail.contradicted.getAsLong()))
        : line.refusalToSend(next, tail.signedOnly(), tail.newestClaim(), tail.newestSequence());
  }

  private void requireBlobs(SnapshotRecord inUse) throws IOException {
    if (tail.blobs != null) {
      tail.readToEnd();
      BooleanSupplier areAll = () -> tail.blobs.containsAll(inUse.digestsInUse());
      if (!tail.awaitCommitted(areAll, written, COMMIT_TIMEOUT)) {
        throw new IOException(
            "transactions on topic %s stayed open, so the job cannot check the blobs of set %s yet: it tries again"
                .formatted(settings.topic(), settings.setName()));
      }
      BlobsInPlace.require(inUse, tail.blobs, "on topic " + settings.topic());
      tail.forgetBlobs();
      written = null;
    }
  }

  private Map<TopicPartition, Long> written() {
    try (TailReader reader = reader(IsolationLevel.READ_UNCOMMITTED)) {
      return reader.ends(tail.partitions());
    }
  }

  private TailReader reader(IsolationLevel isolation) {
    return new TailReader(settings.clientProperties(), isolation, settings.topic());
  }

  @Override
  public void snapshotState(FunctionSnapshotContext context) throws Exception {
    state.update(List.of(Tuple2.of(line.claims(), line.sequence())));
    setState.update(List.of(settings.setName()));
  }

  @Override
  public void close() throws Exception {
    IOUtils.closeAll(tail, dedupTail);
  }
}
