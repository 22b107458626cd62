package io.firstseen.cli;

import io.firstseen.consumer.SnapshotClientOptions;
import io.firstseen.jobs.OptionValues;
import io.firstseen.jobs.UserErrorException;
import java.net.URI;
import java.util.LinkedHashMap;
import java.util.Map;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The set on a topic that a verb is about. */
final class PublishedSet {

  @Option(
      names = "--bootstrap-servers",
      paramLabel = "HOST:PORT,...",
      required = true,
      description = "Brokers to ask first.")
  private String bootstrapServers;

  @Option(
      names = "--topic",
      paramLabel = "TOPIC",
      defaultValue = SnapshotClientOptions.DEFAULT_TOPIC,
      converter = OptionValues.KafkaName.class,
      description = "The topic of snapshots (default: ${DEFAULT-VALUE}).")
  private String topic;

  @Option(
      names = "--set",
      paramLabel = "NAME",
      defaultValue = "firstseen",
      converter = OptionValues.SetName.class,
      description = "The name of the set (default: ${DEFAULT-VALUE}).")
  private String setName;

  @Option(
      names = "--kafka-property",
      paramLabel = "NAME=VALUE",
      description =
          "A setting of the Kafka consumer, such as security.protocol=SSL; may be repeated.")
  private Map<String, String> kafkaProperties = new LinkedHashMap<>();

  @Mixin private TrustedKeyOptions trusted;

  @Option(
      names = "--blobs",
      paramLabel = "URI",
      description =
          "The directory of blobs, as file:, http: or https: (default: what the manifest says, or"
              + " the topic).")
  private URI blobs;

  /** The options of a client that answers no queries, and so needs no hash key. */
  SnapshotClientOptions.Builder options() {
    try {
      SnapshotClientOptions.Builder options =
          SnapshotClientOptions.builder(bootstrapServers, setName)
              .topic(topic)
              .kafkaProperties(kafkaProperties)
              .trustedKeys(trusted.keys())
              .followingOnly();
      return blobs == null ? options : options.blobDirectory(blobs);
    } catch (IllegalArgumentException e) {
      throw new UserErrorException(e.getMessage());
    }
  }

  String setName() {
    return setName;
  }
}
