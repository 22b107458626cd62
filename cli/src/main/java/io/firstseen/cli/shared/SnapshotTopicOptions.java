package io.firstseen.cli.shared;

import io.firstseen.consumer.SnapshotClientOptions;
import io.firstseen.filters.snapshot.TrustedKey;
import io.firstseen.jobs.options.KafkaProperties;
import io.firstseen.jobs.options.OptionValues;
import java.net.URI;
import java.util.List;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Options for reading sets from a snapshots topic. */
public class SnapshotTopicOptions {

  @Option(
      names = "--topic",
      paramLabel = "TOPIC",
      defaultValue = SnapshotClientOptions.DEFAULT_TOPIC,
      converter = OptionValues.KafkaName.class,
      description = "Topic of snapshots (default: ${DEFAULT-VALUE}).")
  private String topic;

  @Mixin private KafkaProperties kafka;

  @Mixin private TrustedKeyOptions trusted;

  @Option(
      names = "--blobs",
      paramLabel = "URI",
      description =
          "URI (file:, http: or https:) of the directory of blobs (default: the topic, or "
              + "with --public-key the location in the manifest).")
  private URI blobs;

  /** The options of a client of a set; a user error if one of them is not valid. */
  public SnapshotClientOptions.Builder client(String bootstrapServers, String setName) {
    return Verb.accepted(
        () -> {
          SnapshotClientOptions.Builder options =
              SnapshotClientOptions.builder(bootstrapServers, setName)
                  .topic(topic)
                  .kafkaProperties(kafka.read())
                  .trustedKeys(trusted.keys());
          return blobs == null ? options : options.blobDirectory(blobs);
        });
  }

  public String topic() {
    return topic;
  }

  public List<TrustedKey> trustedKeys() {
    return trusted.keys();
  }

  public boolean hasBlobLocation() {
    return blobs != null;
  }
}
