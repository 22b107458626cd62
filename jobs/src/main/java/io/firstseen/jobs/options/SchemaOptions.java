package io.firstseen.jobs.options;

import io.firstseen.jobs.shared.ValueSchema;
import io.firstseen.operators.UserErrorException;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The schemas of values that are not JSON. */
public final class SchemaOptions {

  @Option(
      names = "--schema-registry",
      paramLabel = "URL",
      converter = OptionValues.RegistryUri.class,
      description =
          "With --event-format avro: the schema registry. Each value begins with a zero and the 4"
              + " bytes of the id of its schema there. The environment variable FIRSTSEEN_SCHEMA_REGISTRY_AUTH of every"
              + " TaskManager may hold user:password.")
  @Bound(Bound.By.NOTHING)
  private @Nullable URI registry;

  @Option(
      names = "--schema",
      paramLabel = "FILE",
      description =
          "A file with the schema of all values. With --event-format avro: an .avsc, instead of"
              + " --schema-registry; with --event-format protobuf: a descriptor set (protoc"
              + " --descriptor_set_out --include_imports).")
  // The schema may evolve.
  @Bound(Bound.By.NOTHING)
  private @Nullable Path file;

  @Option(
      names = "--message",
      paramLabel = "NAME",
      description =
          "With --event-format protobuf: the full name of the message, such as shop.Order.")
  @Bound(Bound.By.IDENTITY)
  private @Nullable String message;

  @Option(
      names = "--schema-header",
      description =
          "With --schema: values begin with the header of the schema registries, which is skipped;"
              + " with protobuf its message indexes must be those of --message.")
  @Bound(Bound.By.IDENTITY)
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
          message);
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
    boolean isProtobuf = format == KafkaOptions.EventFormat.PROTOBUF;
    String got = ", got " + format.name().toLowerCase(Locale.ROOT);
    refuse(registry != null && !isAvro, "--schema-registry needs --event-format avro" + got);
    refuse(
        file != null && !isAvro && !isProtobuf,
        "--schema needs --event-format avro or protobuf" + got);
    refuse(message != null && !isProtobuf, "--message needs --event-format protobuf" + got);
    refuse(
        header && file == null,
        "--schema-header needs --schema, got " + (registry == null ? "none" : "--schema-registry"));
    refuse(
        isAvro && (registry == null) == (file == null),
        "--event-format avro needs either --schema-registry or --schema, got "
            + (file == null ? "neither" : "both"));
    String one = file == null ? "--message alone" : "--schema alone";
    refuse(
        isProtobuf && (file == null || message == null),
        "--event-format protobuf needs --schema and --message, got "
            + (file == null && message == null ? "neither" : one));
  }

  private static void refuse(boolean wrong, String sentence) {
    if (wrong) {
      throw new UserErrorException(sentence);
    }
  }
}
