package io.firstseen.jobs.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.flink.api.common.TaskInfo;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The claim of a dedup's output, for one task of a sink: checks it, and makes it. */
final class ClaimedOutput implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ClaimedOutput.class);

  private final OutputClaim claims;
  private final String claim;
  private final TaskInfo task;
  private final State state;
  final ClaimsTail tail;
  private PublisherLine line;
  // The committed progress of the sink, and the keys of its records.
  private WrittenOffsets written;
  private Set<String> writtenKeys;

  /**
   * The state that the job was started from: its claims, the progress of all tasks, and its
   * checkpoint, which is 0 without state.
   */
  record State(boolean isThere, PublisherLine line, WrittenOffsets passed, long checkpoint) {}

  ClaimedOutput(OutputClaim claims, String claim, TaskInfo task, State state) {
    this.claims = claims;
    this.claim = claim;
    this.task = task;
    this.state = state;
    this.line = claims.takenOver().then(state.line);
    this.tail = claims.tail();
    try {
      tail.readToEnd();
      readWritten(0);
      requireMayBegin(false);
    } catch (RuntimeException e) {
      tail.close();
      throw e;
    }
  }

  boolean isClaimed() {
    tail.readToEnd();
    return tail.newest.isPresent();
  }

  /** The claims to store in the state, ending with this job's claim. */
  PublisherLine line() {
    return line.claimedBy(claim);
  }

  /** Requires ownership; {@code isClaimed} if another task of this start may have written. */
  private void requireMayBegin(boolean isClaimed) {
    Optional<String> newest = tail.newest;
    boolean isMine = newest.isEmpty() || newest.get().equals(claim) || line.holds(newest.get());
    if (!isMine && (line.holds(claim) || tail.all.contains(claim))) {
      throw claims.notOwned(PublisherLine.job(newest.get()) + " has taken it over");
    }
    Optional<String> ahead = isClaimed ? Optional.empty() : written.beyond(state.passed);
    if (!isMine || (ahead.isPresent() && !claims.isTakeOver())) {
      throw claims.notOwned(
          "it has %s, of %s, and this job %s (%s)"
              .formatted(
                  ahead
                      .map(place -> "outcomes of events up to " + place)
                      .orElse("a claim without outcomes since"),
                  newest.map(PublisherLine::job).orElse("an unknown job"),
                  position(),
                  "write to other topics, start from the newest state of that job, or start this "
                      + "job with --take-over"));
    }
  }

  private String position() {
    if (!state.isThere || line.claims().isEmpty()) {
      return "has no state of it";
    }
    String job = PublisherLine.job(lastClaim());
    return state.passed.isEmpty()
        ? "continues from the beginning, of  " + job
        : "continues after %s, of %s".formatted(state.passed.places(), job);
  }

  /**
   * Claims the output, aborts open transactions of other jobs, and returns the progress of the
   * output.
   *
   * @param topics the lines of topics to record, by record key
   */
  WrittenOffsets begin(Map<String, List<String>> topics) throws InterruptedException {
    tail.readToEnd();
    // Read the topic again before the claim: a job that may not start must not stop the other job.
    readWritten(0);
    // In a job with state, all tasks claim the output before the job can write.
    boolean isClaimed = !state.isThere && tail.newest.equals(Optional.of(claim));
    requireMayBegin(isClaimed);
    try (Producer<byte[], byte[]> producer =
        new KafkaProducer<>(
            claims.clientProperties(), new ByteArraySerializer(), new ByteArraySerializer())) {
      claim(producer, topics);
      // Another task of this job may have claimed the output and failed before this step.
      for (String other : tail.all) {
        if (!other.equals(claim)) {
          abortOpen(other);
        }
      }
      // A job of the same id may have written more since its claim.
      readWritten(tail.newestSince);
      // Another task of this job may have claimed the output at the same time and written outcomes
      // since.
      requireMayBegin(isClaimed || (!state.isThere && tail.all.equals(Set.of(claim))));
      if (!state.isThere) {
        forgetWritten(producer);
      } else if (written.beyond(state.passed).isPresent()) {
        LOG.warn(
            "the output on topic {} has outcomes of events up to {}: this job continues after "
                + "{}, and skips the outcomes between",
            claims.output(),
            written.beyond(state.passed).get(),
            state.passed.places());
      }
    }
    line = line().since(Optional.of(claim));
    return written;
  }

  private void claim(Producer<byte[], byte[]> producer, Map<String, List<String>> topics)
      throws InterruptedException {
    if (!tail.newest.equals(Optional.of(claim))) {
      sendClaim(producer, claim, tail.newest.orElse(""));
      tail.readToEnd();
      String first = tail.newest.orElseThrow();
      if (!first.equals(claim)) {
        // Compaction keeps only the last claim, which must be the valid claim.
        sendClaim(producer, first, claim);
        throw claims.notOwned(PublisherLine.job(first) + " has claimed it at the same time");
      }
      LOG.info("{} has claimed the output on topic {}", claim, claims.output());
    }
    if (!tail.identity.equals(Optional.of(claims.identity()))) {
      send(producer, OutputClaim.identityKey(claims.output()), claims.identity().toBytes());
    }
    for (Map.Entry<String, List<String>> each : topics.entrySet()) {
      if (!each.getValue().equals(tail.topics.get(each.getKey()))) {
        send(producer, each.getKey(), String.join("\n", each.getValue()).getBytes(UTF_8));
      }
    }
  }

  /**
   * Aborts the open transactions of another job, including transactions of its other sinks: an open
   * transaction hides the records after it on the claims topic. If the job starts from the state of
   * the other job, its committers commit the transactions up to the checkpoint of the state.
   */
  private void abortOpen(String other) throws InterruptedException {
    long committedUpTo = state.isThere && lastClaim().equals(other) ? state.checkpoint : 0;
    try (Admin admin = Admin.create(claims.clientProperties())) {
      List<String> open =
          BrokerPreparation.openTransactions(admin).stream()
              .filter(id -> isOf(other, id))
              .filter(id -> Long.parseLong(id.substring(id.lastIndexOf('-') + 1)) > committedUpTo)
              .toList();
      if (!open.isEmpty()) {
        LOG.info("aborting {} open transactions of {}", open.size(), PublisherLine.job(other));
        admin.fenceProducers(open).all().get();
      }
    } catch (ExecutionException e) {
      throw new KafkaException(
          "cannot abort the transactions of " + PublisherLine.job(other), e.getCause());
    }
  }

  /**
   * Whether a transactional id belongs to the job of a claim, for any of its sinks. The connector
   * appends the number of the task and the number of the checkpoint to the prefix, which ends with
   * the job's id.
   */
  private static boolean isOf(String claim, String transactionalId) {
    String job = claim.substring(0, claim.indexOf('/'));
    String idsOfJob = claim.substring(claim.indexOf('/') + 1);
    return transactionalId.startsWith(idsOfJob) && transactionalId.contains("." + job + "-");
  }

  private String lastClaim() {
    return line.claims().get(line.claims().size() - 1);
  }

  /** Reads the committed progress at least to an offset: earlier transactions may be open. */
  private void readWritten(long since) {
    List<TopicPartition> partition = List.of(new TopicPartition(claims.topic(), 0));
    Map<String, String> values = new HashMap<>();
    try (TailReader reader =
        new TailReader(claims.clientProperties(), IsolationLevel.READ_COMMITTED, claims.topic())) {
      reader.startAt(partition);
      Map<TopicPartition, Long> ends = new HashMap<>(reader.ends(partition));
      ends.replaceAll((only, end) -> Math.max(end, since));
      reader.readTo(ends, record -> take(record, values));
    }
    written = state.passed.none();
    writtenKeys = values.keySet();
    values.forEach(
        (key, value) -> {
          try {
            // A dedup job without state may start with known keys and a different number of shards.
            written.addLines(value.lines().toList(), !state.isThere);
          } catch (IllegalArgumentException e) {
            throw claims.notOwned(
                "record %s of topic %s does not belong to this dedup: %s"
                    .formatted(key, claims.topic(), e.getMessage()));
          }
        });
  }

  private void take(ConsumerRecord<byte[], byte[]> record, Map<String, String> values) {
    String key = record.key() == null ? "" : new String(record.key(), UTF_8);
    if (key.startsWith(claims.writtenPrefix())) {
      values.compute(
          key, (same, before) -> record.value() == null ? null : new String(record.value(), UTF_8));
    }
  }

  private void sendClaim(Producer<byte[], byte[]> producer, String value, String after)
      throws InterruptedException {
    send(
        producer,
        OutputClaim.claimKey(claims.output()),
        value.getBytes(UTF_8),
        new RecordHeader(ClaimsTail.AFTER, after.getBytes(UTF_8)));
  }

  private void send(
      Producer<byte[], byte[]> producer, String key, byte @Nullable [] value, Header... headers)
      throws InterruptedException {
    try {
      producer
          .send(
              new ProducerRecord<>(claims.topic(), 0, key.getBytes(UTF_8), value, List.of(headers)))
          .get();
    } catch (ExecutionException e) {
      throw new KafkaException("cannot write to topic " + claims.topic(), e.getCause());
    }
  }

  /**
   * Deletes the progress records of other jobs, which do not apply to a job that starts from
   * scratch. Each task deletes its own record before it writes it; the first task also deletes
   * records that no task writes.
   */
  private void forgetWritten(Producer<byte[], byte[]> producer) throws InterruptedException {
    int tasks = task.getNumberOfParallelSubtasks();
    String own = claims.writtenKey(task.getIndexOfThisSubtask(), tasks);
    Set<String> ofThisJob =
        IntStream.range(0, tasks)
            .mapToObj(index -> claims.writtenKey(index, tasks))
            .collect(Collectors.toSet());
    for (String key : writtenKeys) {
      if (key.equals(own) || (isFirstTask() && !ofThisJob.contains(key))) {
        send(producer, key, null);
      }
    }
    written = state.passed.none();
  }

  private boolean isFirstTask() {
    return task.getIndexOfThisSubtask() == 0;
  }

  @Override
  public void close() {
    tail.close();
  }
}
