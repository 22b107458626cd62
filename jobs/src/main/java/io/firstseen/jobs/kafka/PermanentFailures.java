package io.firstseen.jobs.kafka;

import io.firstseen.operators.UserErrorException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.util.ExceptionUtils;
import org.apache.flink.util.FlinkRuntimeException;
import org.apache.flink.util.function.ThrowingRunnable;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.errors.InvalidTimestampException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.UnsupportedForMessageFormatException;

/** Failures of a Kafka writer that a restart does not fix. */
final class PermanentFailures {
  // The fix for each failure.
  private static final List<Map.Entry<Class<? extends Throwable>, String>> ADVICE =
      List.of(
          Map.entry(
              RecordTooLargeException.class,
              "increase max.message.bytes of the topic to at least 1000000"),
          Map.entry(
              InvalidTimestampException.class,
              "increase message.timestamp.before.max.ms or message.timestamp.after.max.ms of the topic"),
          Map.entry(
              UnsupportedForMessageFormatException.class,
              "use a broker that supports transactions"),
          Map.entry(ConfigException.class, "correct --kafka-property or --kafka-properties"));

  private PermanentFailures() {}

  /**
   * Returns the error for the user; empty if a restart may help.
   *
   * @param topics the topics that the writer writes; the error names them if Kafka does not name
   *     the partition
   */
  static Optional<UserErrorException> of(Throwable failure, Collection<String> topics) {
    if (ExceptionUtils.findThrowable(failure, UserErrorException.class).isPresent()) {
      return Optional.empty();
    }
    for (Map.Entry<Class<? extends Throwable>, String> each : ADVICE) {
      Optional<? extends Throwable> cause = ExceptionUtils.findThrowable(failure, each.getKey());
      if (cause.isPresent()) {
        String where =
            ExceptionUtils.findThrowableWithMessage(failure, "Failed to send data to Kafka")
                // Keep the partition, and remove the offset and the name of the producer.
                .map(sent -> sent.getMessage().replaceFirst("(?s)(@-?\\d+)? with .*", ""))
                .orElseGet(() -> "cannot write to " + String.join(" or ", topics));
        return Optional.of(
            new UserErrorException(
                "%s: %s (%s, and restart the job from its newest checkpoint)"
                    .formatted(where, cause.get().getMessage(), each.getValue())));
      }
    }
    return Optional.empty();
  }

  /** The context of a writer, whose mailbox throws the error for the user. */
  static WriterInitContext reportedIn(WriterInitContext context, Collection<String> topics) {
    MailboxExecutor mailbox = new ReportingMailbox(context.getMailboxExecutor(), topics);
    return (WriterInitContext)
        Proxy.newProxyInstance(
            PermanentFailures.class.getClassLoader(),
            new Class<?>[] {WriterInitContext.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("getMailboxExecutor")) {
                return mailbox;
              }
              try {
                return method.invoke(context, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  /** The producer's thread reports failures of sends through the mailbox. */
  private record ReportingMailbox(MailboxExecutor mailbox, Collection<String> topics)
      implements MailboxExecutor {
    @Override
    public void execute(
        MailOptions options,
        ThrowingRunnable<? extends Exception> command,
        String descriptionFormat,
        Object... arguments) {
      mailbox.execute(
          options,
          () -> {
            try {
              command.run();
            } catch (Exception e) {
              throw of(e, topics).<Exception>map(error -> error).orElse(e);
            }
          },
          descriptionFormat,
          arguments);
    }

    @Override
    public void yield() throws InterruptedException, FlinkRuntimeException {
      mailbox.yield();
    }

    @Override
    public boolean tryYield() throws FlinkRuntimeException {
      return mailbox.tryYield();
    }

    @Override
    public boolean shouldInterrupt() {
      return mailbox.shouldInterrupt();
    }
  }
}
