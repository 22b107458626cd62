package io.firstseen.jobs.kafka;

import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;
import org.apache.flink.api.common.JobInfo;
import org.apache.flink.api.common.TaskInfo;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.api.common.operators.ProcessingTimeService;
import org.apache.flink.api.common.serialization.SerializationSchema;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.metrics.groups.SinkWriterMetricGroup;
import org.apache.flink.util.UserCodeClassLoader;

/** The context of a writer that is created after checkpoints of its task. */
final class LaterContext implements WriterInitContext {
  private final WriterInitContext context;
  private final OptionalLong lastCheckpoint;

  /**
   * @param context that of the task's start
   * @param lastCheckpoint the last checkpoint of the task; that from which it started if there was
   *     none since
   */
  LaterContext(WriterInitContext context, OptionalLong lastCheckpoint) {
    this.context = context;
    this.lastCheckpoint = lastCheckpoint;
  }

  @Override
  public OptionalLong getRestoredCheckpointId() {
    return lastCheckpoint;
  }

  @Override
  public UserCodeClassLoader getUserCodeClassLoader() {
    return context.getUserCodeClassLoader();
  }

  @Override
  public MailboxExecutor getMailboxExecutor() {
    return context.getMailboxExecutor();
  }

  @Override
  public ProcessingTimeService getProcessingTimeService() {
    return context.getProcessingTimeService();
  }

  @Override
  public SinkWriterMetricGroup metricGroup() {
    return context.metricGroup();
  }

  @Override
  public SerializationSchema.InitializationContext asSerializationSchemaInitializationContext() {
    return context.asSerializationSchemaInitializationContext();
  }

  @Override
  public boolean isObjectReuseEnabled() {
    return context.isObjectReuseEnabled();
  }

  @Override
  public <T> TypeSerializer<T> createInputSerializer() {
    return context.createInputSerializer();
  }

  @Override
  public <M> Optional<Consumer<M>> metadataConsumer() {
    return context.metadataConsumer();
  }

  @Override
  public JobInfo getJobInfo() {
    return context.getJobInfo();
  }

  @Override
  public TaskInfo getTaskInfo() {
    return context.getTaskInfo();
  }
}
