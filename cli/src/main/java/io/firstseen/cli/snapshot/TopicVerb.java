package io.firstseen.cli.snapshot;

import io.firstseen.cli.shared.Verb;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** A command that reads a set from a topic. */
abstract class TopicVerb extends Verb {

  @Option(
      names = "--bootstrap-servers",
      paramLabel = "HOST:PORT,...",
      required = true,
      description = "Kafka bootstrap servers.")
  String bootstrapServers;

  @Mixin SetOnTopic set;
}
