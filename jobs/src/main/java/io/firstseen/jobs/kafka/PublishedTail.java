package io.firstseen.jobs.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.ManifestCheck;
import io.firstseen.filters.snapshot.ManifestSignature;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.filters.snapshot.SnapshotTopicFormat;
import io.firstseen.filters.snapshot.TrustedKey;
import io.firstseen.operators.UserErrorException;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Properties;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.SimpleCounter;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The committed state of one set on a snapshots topic: the sequence of the newest manifest, and the
 * newest claim. Each read continues where the last one ended.
 *
 * <p>With trusted keys the newest manifest is the one with the highest sequence that one of them
 * signed. Other manifests, and tombstones, are passed over: the first is logged, all are counted.
 */
final class PublishedTail implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(PublishedTail.class);

  private final String topic;
  private final String setName;
  // The partition of manifests and claims.
  private final TopicPartition manifests;
  private final List<TrustedKey> keys;
  private final Counter passedOver;
  private final TailReader reader;
  // Signatures of manifests that were sent and not read yet, by their sequence.
  private final Map<Long, ManifestSignature> sent = new HashMap<>();
  private OptionalLong contradicted = OptionalLong.empty();
  private Manifest newest;
  private String newestClaim;
  // Digests of blobs; null while they are not collected.
  private @Nullable Set<String> blobs;

  /**
   * Starts at the beginning of the topic; reads nothing yet.
   *
   * @param keys the trusted keys; if empty, manifests may be unsigned
   * @param passedOver counts what is passed over
   */
  PublishedTail(
      Properties clientProperties,
      String topic,
      String setName,
      List<TrustedKey> keys,
      Counter passedOver) {
    this(
        new TailReader(clientProperties, IsolationLevel.READ_COMMITTED, topic),
        topic,
        setName,
        keys,
        passedOver);
  }

  PublishedTail(
      TailReader reader, String topic, String setName, List<TrustedKey> keys, Counter passedOver) {
    this.reader = reader;
    this.topic = topic;
    this.setName = setName;
    this.keys = List.copyOf(keys);
    this.passedOver = passedOver;
    this.manifests = new TopicPartition(topic, 0);
    reader.startAt(List.of(manifests));
  }

  /** The record key of a set's claims; it is neither a set name nor a chunk key. */
  static String claimKey(String setName) {
    return setName + "/publisher";
  }

  /**
   * Reads what is published of a set, outside of a running job.
   *
   * @param advice what to do if there is no manifest that a trusted key signed
   * @throws UserErrorException if the topic cannot be read, or it has records of the set and no
   *     manifest that a trusted key signed
   */
  static PublishedSet read(
      Properties clientProperties,
      String topic,
      String setName,
      List<TrustedKey> keys,
      String advice) {
    return TailReader.outsideOfJob(
        clientProperties,
        topic,
        () -> {
          try (PublishedTail tail =
              new PublishedTail(clientProperties, topic, setName, keys, new SimpleCounter())) {
            tail.readToEnd();
            if (!keys.isEmpty() && tail.newest == null && tail.passedOver.getCount() > 0) {
              throw new UserErrorException(
                  "set %s on topic %s has records, but no manifest signed by a trusted key: %s"
                      .formatted(setName, topic, advice));
            }
            return new PublishedSet(
                PublisherLine.of(tail.newestClaim(), tail.newestSequence()),
                Optional.ofNullable(tail.newest));
          }
        });
  }

  /**
   * Reads all records that are committed by now.
   *
   * @throws KafkaException if the topic cannot be read
   */
  void readToEnd() {
    reader.readToEnd(this::take);
  }

  /**
   * Reads until a condition holds, or all that was written before this call is committed or
   * aborted. Transactions that Flink commits when a job is restored may not be visible yet, and
   * open ones of other jobs on the topic hide what was committed after they began.
   *
   * @param written the ends of the partitions, open transactions included
   * @param patience how long to wait for progress
   * @return whether the condition holds, or never will; false if transactions stayed open
   */
  boolean awaitCommitted(
      BooleanSupplier condition, Map<TopicPartition, Long> written, Duration patience) {
    return reader.readUntil(condition, written, patience, this::take);
  }

  /** The partitions that are read. */
  Set<TopicPartition> partitions() {
    return reader.assigned();
  }

  private void take(ConsumerRecord<byte[], byte[]> record) {
    String key = record.key() == null ? "" : new String(record.key(), UTF_8);
    if (record.partition() == manifests.partition() && key.equals(setName)) {
      try {
        if (!keys.isEmpty()) {
          takeSigned(record);
        } else if (record.value() == null) {
          newest = null;
        } else {
          newest = ManifestCheck.read(record.value(), setName, keys);
        }
      } catch (SnapshotException e) {
        passOver(record, e.getMessage());
      }
    } else if (record.partition() == manifests.partition() && key.equals(claimKey(setName))) {
      newestClaim = record.value() == null ? null : new String(record.value(), UTF_8);
    } else if (blobs != null) {
      SnapshotTopicFormat.parseChunkKey(key).ifPresent(chunk -> takeChunk(chunk, record.value()));
    }
  }

  private void takeSigned(ConsumerRecord<byte[], byte[]> record) throws SnapshotException {
    if (record.value() == null) {
      passOver(record, "a tombstone has no signature");
      return;
    }
    Manifest manifest = ManifestCheck.read(record.value(), setName, keys);
    ManifestSignature mine = sent.get(manifest.sequence());
    if (mine != null && mine.equals(manifest.signature())) {
      sent.remove(manifest.sequence());
    } else if (mine != null) {
      contradicted = OptionalLong.of(manifest.sequence());
    }
    if (newest == null || manifest.sequence() > newest.sequence()) {
      newest = manifest;
    }
  }

  private void passOver(ConsumerRecord<byte[], byte[]> record, String reason) {
    if (keys.isEmpty() || passedOver.getCount() == 0) {
      LOG.warn("passed over offset {} of topic {}: {}", record.offset(), topic, reason);
    }
    passedOver.inc();
  }

  /**
   * Records that a signed manifest is being sent, so that another one of the same sequence is
   * noticed.
   */
  void sent(Manifest manifest) {
    if (manifest.signature() != null) {
      sent.put(manifest.sequence(), manifest.signature());
    }
  }

  /**
   * The sequence of a signed manifest that is not the one that was sent; empty if there is none.
   */
  OptionalLong contradicted() {
    return contradicted;
  }

  private void takeChunk(SnapshotTopicFormat.ChunkKey chunk, byte @Nullable [] value) {
    // All chunks of a blob are written or removed in one transaction.
    if (chunk.index() == 0) {
      if (value == null) {
        blobs.remove(chunk.digest());
      } else {
        blobs.add(chunk.digest());
      }
    }
  }

  /** Starts to collect the digests of blobs: reads all partitions, from their beginning. */
  void keepBlobs() {
    blobs = new HashSet<>();
    // This waits for a new topic; what is known of its partitions after that is complete.
    reader.ends(List.of(manifests));
    reader.startAt(reader.partitions());
  }

  /** Digests of the blobs that were read and not removed since {@link #keepBlobs}. */
  @Nullable Set<String> blobs() {
    return blobs;
  }

  /** Stops to collect digests, and to read partitions that hold blobs only. */
  void forgetBlobs() {
    blobs = null;
    reader.keep(List.of(manifests));
  }

  /** The sequence of the newest manifest read; empty if there is none. */
  OptionalLong newestSequence() {
    return newest == null ? OptionalLong.empty() : OptionalLong.of(newest.sequence());
  }

  /** The newest claim of the set; empty if there is none. */
  Optional<String> newestClaim() {
    return Optional.ofNullable(newestClaim);
  }

  @Override
  public void close() {
    reader.close();
  }
}
