package io.firstseen.jobs.events;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstseen.jobs.shared.ValueSchema;
import io.firstseen.operators.UserErrorException;
import java.io.Serializable;
import java.time.Clock;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Schema;

/** Where the schemas of Avro values come from. */
interface AvroSchemas extends Serializable {

  /** How long a task waits after the first failure of a registry. */
  long FIRST_PAUSE_MILLIS = 250;

  /**
   * The schema of a value.
   *
   * @param id the id in the value's header; 0 if values have none
   * @throws MalformedEventException if there is no such schema, or it cannot be used
   */
  Schema of(int id) throws MalformedEventException;

  /**
   * Reads a schema.
   *
   * @throws AvroRuntimeException if it is none
   */
  static Schema parse(String json) {
    Schema.Parser parser = new Schema.Parser();
    parser.setValidateDefaults(false);
    try {
      return parser.parse(json);
    } catch (AvroRuntimeException e) {
      throw e;
    } catch (NullPointerException e) {
      // As of 1.12.2.
      throw new AvroRuntimeException("it names a type that it does not have", e);
    } catch (RuntimeException e) {
      // Also as of 1.12.2, for example at the order of a field that is not known.
      throw new AvroRuntimeException(e.getMessage() == null ? e.toString() : e.getMessage(), e);
    }
  }

  /**
   * The schemas of values.
   *
   * @param clock the clock, which must be serializable
   * @throws UserErrorException if that of a file cannot be used
   */
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

  /** One schema for all values. */
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
