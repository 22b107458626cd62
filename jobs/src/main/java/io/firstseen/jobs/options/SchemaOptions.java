package io.firstseen.jobs.options;

import io.firstseen.jobs.shared.UserErrorException;
import io.firstseen.jobs.shared.ValueSchema;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The schemas of values that are not JSON. */
public final class SchemaOptions {

  @Option(
      names = "--schema-registry",
      paramLabel = "URL",
      converter = OptionValues.RegistryUri.class,
      description =
          "With --event-format avro: the schema registry whose ids values begin with (a zero and 4"
              + " bytes). The environment variable FIRSTSEEN_SCHEMA_REGISTRY_AUTH of every"
              + " TaskManager may hold user:password.")
  private @Nullable URI registry;

  @Option(
      names = "--schema",
      paramLabel = "FILE",
      description =
          "With --event-format avro: a file with the schema of all values (.avsc), instead of"
              + " --schema-registry.")
  private @Nullable Path file;

  @Option(
      names = "--schema-header",
      description =
          "With --schema: values begin with the header of the schema registries, which is passed"
              + " over.")
  private boolean header;

  SchemaOptions() {}

  /**
   * Where the schema comes from.
   *
   * @throws UserErrorException if the file cannot be read
   */
  ValueSchema schema() {
    try {
      return new ValueSchema(
          registry,
          file == null ? null : Files.readAllBytes(file),
          registry != null || header,
          null);
    } catch (IOException e) {
      throw UserErrorException.cannot("read the schema", file, e);
    }
  }

  /**
   * Refuses options that contradict each other.
   *
   * @throws UserErrorException with a sentence
   */
  void check(KafkaOptions.EventFormat format) {
    boolean isAvro = format == KafkaOptions.EventFormat.AVRO;
    if (registry != null && !isAvro) {
      throw new UserErrorException("--schema-registry needs --event-format avro");
    }
    if (file != null && !isAvro) {
      throw new UserErrorException("--schema needs --event-format avro");
    }
    if (header && file == null) {
      throw new UserErrorException("--schema-header needs --schema");
    }
    if (isAvro && (registry == null) == (file == null)) {
      throw new UserErrorException(
          "--event-format avro needs either --schema-registry or --schema");
    }
  }
}
