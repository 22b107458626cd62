package io.firstseen.jobs.options;

import static io.firstseen.jobs.options.OptionValues.reject;

import io.firstseen.events.ValueSchema;
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
          "Schema registry of --event-format avro. Each value starts with a zero byte and the 4"
              + " bytes of its schema id. The environment variable FIRSTSEEN_SCHEMA_REGISTRY_AUTH"
              + " of every TaskManager can contain the credentials, user:password.")
  @Bound(Bound.By.NOTHING)
  private @Nullable URI registry;

  @Option(
      names = "--schema",
      paramLabel = "FILE",
      description =
          "File with the schema of all values: an .avsc file with --event-format avro, instead "
              + "of --schema-registry; a descriptor set (protoc --descriptor_set_out "
              + "--include_imports) with --event-format protobuf.")
  // The schema may evolve.
  @Bound(Bound.By.NOTHING)
  private @Nullable Path file;

  @Option(
      names = "--message",
      paramLabel = "NAME",
      description = "Full name of the message, such as shop.Order. Needs --event-format protobuf.")
  @Bound(Bound.By.IDENTITY)
  private @Nullable String message;

  @Option(
      names = "--schema-header",
      description =
          "Skip the header of the schema registry at the start of each value. With protobuf, the "
              + "message indexes in the header must match --message. Needs --schema.")
  @Bound(Bound.By.IDENTITY)
  private boolean header;

  SchemaOptions() {}

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

  void check(KafkaOptions.EventFormat format) {
    boolean isAvro = format == KafkaOptions.EventFormat.AVRO;
    boolean isProtobuf = format == KafkaOptions.EventFormat.PROTOBUF;
    String got = ", got " + format.name().toLowerCase(Locale.ROOT);
    reject(registry != null && !isAvro, "--schema-registry needs --event-format avro" + got);
    reject(
        file != null && !isAvro && !isProtobuf,
        "--schema needs --event-format avro or protobuf" + got);
    reject(message != null && !isProtobuf, "--message needs --event-format protobuf" + got);
    reject(
        header && file == null,
        "--schema-header needs --schema, got " + (registry == null ? "none" : "--schema-registry"));
    reject(
        isAvro && (registry == null) == (file == null),
        "--event-format avro needs either --schema-registry or --schema, got "
            + (file == null ? "neither" : "both"));
    String one = file == null ? "--message alone" : "--schema alone";
    reject(
        isProtobuf && (file == null || message == null),
        "--event-format protobuf needs --schema and --message, got "
            + (file == null && message == null ? "neither" : one));
  }
}
