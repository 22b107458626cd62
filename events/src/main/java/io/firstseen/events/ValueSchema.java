package io.firstseen.events;

import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * The source of the schema of values.
 *
 * @param registry the address of the schema registry; null without one
 * @param file the content of the schema file; null without one
 * @param hasHeader whether values start with the header of the schema registries
 * @param message the full name of the Protocol Buffers message; null for Avro
 */
// Only compared with NONE.
@SuppressWarnings("ArrayRecordComponent")
public record ValueSchema(
    @Nullable URI registry, byte @Nullable [] file, boolean hasHeader, @Nullable String message) {

  /** Values without a schema, in JSON. */
  public static final ValueSchema NONE = new ValueSchema(null, null, false, null);
}
