package io.firstseen.events;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstseen.operators.UserErrorException;
import java.io.Serializable;
import java.time.Clock;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Schema;

/** The source of the schemas of Avro values. */
interface AvroSchemas extends Serializable {

  /** The time that a task waits after the first failure of a registry. */
  long FIRST_PAUSE_MILLIS = 250;

  /** The schema of a value, by the id in its header, or 0 if values have no header. */
  Schema of(int id) throws MalformedEventException;

  /** Reads a schema; throws an {@link AvroRuntimeException} for any other text. */
  static Schema parse(String json) {
    Schema.Parser parser = new Schema.Parser();
    parser.setValidateDefaults(false);
    try {
      return parser.parse(json);
    } catch (AvroRuntimeException e) {
      throw e;
    } catch (NullPointerException e) {
      // As of 1.12.2.
      throw new AvroRuntimeException("it refers to an undefined type", e);
    } catch (RuntimeException e) {
      // Also as of 1.12.2, for example for an unknown sort order of a field.
      throw new AvroRuntimeException(e.getMessage() == null ? e.toString() : e.getMessage(), e);
    }
  }

  static AvroSchemas from(ValueSchema schema, Clock clock) {
    if (schema.registry() != null) {
      return new SchemaRegistry(
          schema.registry(), FIRST_PAUSE_MILLIS, SchemaRegistry.AUTH_VARIABLE, clock);
    }
    Single single = new Single(new String(schema.file(), UTF_8));
    try {
      single.of(0);
    } catch (AvroRuntimeException e) {
      throw new UserErrorException("--schema is not an Avro schema: " + e.getMessage());
    }
    return single;
  }

  final class Single implements AvroSchemas {
    private static final long serialVersionUID = 1;

    private final String json;
    private transient Schema schema;

    Single(String json) {
      this.json = json;
    }

    @Override
    public Schema of(int id) {
      if (schema == null) {
        schema = parse(json);
      }
      return schema;
    }
  }
}
