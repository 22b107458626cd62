package io.firstseen.jobs.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.ManifestCheck;
import io.firstseen.filters.snapshot.ManifestSignature;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.filters.snapshot.SnapshotTopicFormat;
import io.firstseen.filters.snapshot.TrustedKey;
import io.firstseen.jobs.kafka.Continued.PublishedSet;
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
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The committed state of one set on a snapshots topic: the sequence of the newest manifest, and the
 * newest claim. Each read continues where the previous read ended.
 *
 * <p>With trusted keys, the newest manifest is the manifest with the highest sequence that a
 * trusted key signed. Other manifests and tombstones are skipped: the first is logged, and all are
 * counted.
 */
final class PublishedTail implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(PublishedTail.class);

  private final String setName;
  // The partition of manifests and claims.
  private final TopicPartition manifests;
  private final List<TrustedKey> keys;
  private final Counter passedOver;
  private final TailReader reader;
  // Signatures of manifests that were sent but not read yet, by sequence.
  private final Map<Long, ManifestSignature> sent = new HashMap<>();
  // The sequence of a signed manifest that differs from the one that was sent.
  OptionalLong contradicted = OptionalLong.empty();
  private Manifest newest;
  private String newestClaim;
  // Digests of the blobs that were read and not deleted; null if they are not collected.
  @Nullable Set<String> blobs;

  /** Positions the reader at the start of the topic; without keys, manifests may be unsigned. */
  PublishedTail(
      TailReader reader, String topic, String setName, List<TrustedKey> keys, Counter passedOver) {
    this.reader = reader;
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
   * Reads the published state of a set outside of a running job.
   *
   * @param advice the fix if no manifest was signed by a trusted key
   * @throws UserErrorException if the topic cannot be read, or if it has records of the set but no
   *     manifest signed by a trusted key
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
              new PublishedTail(
                  new TailReader(clientProperties, IsolationLevel.READ_COMMITTED, topic),
                  topic,
                  setName,
                  keys,
                  new SimpleCounter())) {
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

  boolean signedOnly() {
    return !keys.isEmpty();
  }

  void readToEnd() {
    reader.readToEnd(this::take);
  }

  /**
   * Reads until a condition holds, or until all records written before this call are committed or
   * aborted. Transactions that Flink commits when it restores a job may not be visible yet, and
   * open transactions of other jobs hide records that were committed after they started.
   *
   * @param written the ends of the partitions, open transactions included
   * @return whether the condition holds or will never hold; false if transactions stayed open
   */
  boolean awaitCommitted(
      BooleanSupplier condition, Map<TopicPartition, Long> written, Duration timeout) {
    return reader.readUntil(condition, written, timeout, this::take);
  }

  Set<TopicPartition> partitions() {
    return reader.assigned();
  }

  private void take(ConsumerRecord<byte[], byte[]> record) {
    String key = record.key() == null ? "" : new String(record.key(), UTF_8);
    if (record.partition() == manifests.partition() && key.equals(setName)) {
      try {
        takeManifest(record);
      } catch (SnapshotException e) {
        skip(record, e.getMessage());
      }
    } else if (record.partition() == manifests.partition() && key.equals(claimKey(setName))) {
      newestClaim = record.value() == null ? null : new String(record.value(), UTF_8);
    } else if (blobs != null) {
      SnapshotTopicFormat.parseChunkKey(key).ifPresent(chunk -> takeChunk(chunk, record.value()));
    }
  }

  private void takeManifest(ConsumerRecord<byte[], byte[]> record) throws SnapshotException {
    if (record.value() == null) {
      if (signedOnly()) {
        skip(record, "a tombstone has no signature");
      } else {
        newest = null;
      }
      return;
    }
    Manifest manifest = ManifestCheck.read(record.value(), setName, keys);
    ManifestSignature mine = sent.get(manifest.sequence());
    if (mine != null && mine.equals(manifest.signature())) {
      sent.remove(manifest.sequence());
    } else if (mine != null) {
      contradicted = OptionalLong.of(manifest.sequence());
    }
    if (!signedOnly() || newest == null || manifest.sequence() > newest.sequence()) {
      newest = manifest;
    }
  }

  private void skip(ConsumerRecord<byte[], byte[]> record, String reason) {
    if (keys.isEmpty() || passedOver.getCount() == 0) {
      LOG.warn("skipped offset {} of topic {}: {}", record.offset(), record.topic(), reason);
    }
    passedOver.inc();
  }

  /** Remembers a signed manifest, to detect a different manifest with its sequence. */
  void sent(Manifest manifest) {
    if (manifest.signature() != null) {
      sent.put(manifest.sequence(), manifest.signature());
    }
  }

  private void takeChunk(SnapshotTopicFormat.ChunkKey chunk, byte @Nullable [] value) {
    // All chunks of a blob are written or deleted in one transaction.
    if (chunk.index() == 0) {
      if (value == null) {
        blobs.remove(chunk.digest());
      } else {
        blobs.add(chunk.digest());
      }
    }
  }

  /** Starts to collect the digests of blobs: reads all partitions from their start. */
  void keepBlobs() {
    blobs = new HashSet<>();
    // This call waits for a new topic; its partitions are completely known afterwards.
    reader.ends(List.of(manifests));
    reader.startAt(reader.partitions());
  }

  /** Stops collecting digests and reading partitions that contain only blobs. */
  void forgetBlobs() {
    blobs = null;
    reader.keep(List.of(manifests));
  }

  OptionalLong newestSequence() {
    return newest == null ? OptionalLong.empty() : OptionalLong.of(newest.sequence());
  }

  Optional<String> newestClaim() {
    return Optional.ofNullable(newestClaim);
  }

  @Override
  public void close() {
    reader.close();
  }
}
