package io.firstseen.jobs.kafka;

import io.firstseen.serializers.SourceEvent;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.connector.kafka.source.split.KafkaPartitionSplit;
import org.apache.flink.core.io.InputStatus;
import org.apache.kafka.common.KafkaException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The reader of {@link CheckedSource}: its state names the ids of topics. */
// The connector's close may be interrupted.
@SuppressWarnings("try")
class CheckedReader implements SourceReader<SourceEvent, KafkaPartitionSplit> {
  private static final Logger LOG = LoggerFactory.getLogger(CheckedReader.class);

  final SourceReader<SourceEvent, KafkaPartitionSplit> connector;
  final InputTopics topics;

  CheckedReader(SourceReader<SourceEvent, KafkaPartitionSplit> connector, InputTopics topics) {
    this.connector = connector;
    this.topics = topics;
  }

  @Override
  public final void addSplits(List<KafkaPartitionSplit> splits) {
    addChecked(topics.check(splits));
  }

  void addChecked(List<KafkaPartitionSplit> splits) {
    connector.addSplits(splits);
  }

  /**
   * Fails the checkpoint if a topic was deleted or recreated, because the reader may have read the
   * new topic from the offset of the old topic. The job then restarts and fails.
   */
  @Override
  public List<KafkaPartitionSplit> snapshotState(long checkpointId) {
    try {
      topics.requireUnchanged();
    } catch (KafkaException e) {
      LOG.warn("cannot compare the ids of topics now: {}", e.getMessage());
    }
    return connector.snapshotState(checkpointId).stream()
        .<KafkaPartitionSplit>map(
            split -> new TimedSplit(split, TimedSplit.NO_TIME, topics.id(split.getTopic())))
        .toList();
  }

  @Override
  public InputStatus pollNext(ReaderOutput<SourceEvent> output) throws Exception {
    return connector.pollNext(output);
  }

  @Override
  public void start() {
    connector.start();
  }

  @Override
  public CompletableFuture<Void> isAvailable() {
    return connector.isAvailable();
  }

  @Override
  public void notifyNoMoreSplits() {
    connector.notifyNoMoreSplits();
  }

  @Override
  public void handleSourceEvents(org.apache.flink.api.connector.source.SourceEvent event) {
    connector.handleSourceEvents(event);
  }

  @Override
  public void notifyCheckpointComplete(long checkpointId) throws Exception {
    connector.notifyCheckpointComplete(checkpointId);
  }

  @Override
  public void notifyCheckpointAborted(long checkpointId) throws Exception {
    connector.notifyCheckpointAborted(checkpointId);
  }

  @Override
  public void pauseOrResumeSplits(Collection<String> pause, Collection<String> resume) {
    connector.pauseOrResumeSplits(pause, resume);
  }

  @Override
  public void close() throws Exception {
    try (topics) {
      connector.close();
    }
  }
}
