package io.firstseen.jobs.shared;

import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * The source of the schema of values.
 *
 * @param registry the address of the schema registry; null if there is a file
 * @param file the content of the schema file; null if there is a registry
 * @param hasHeader whether values start with the header of the schema registries
 * @param message the full name of the Protocol Buffers message; null for Avro
 */
// Never compared.
@SuppressWarnings("ArrayRecordComponent")
public record ValueSchema(
    @Nullable URI registry, byte @Nullable [] file, boolean hasHeader, @Nullable String message) {}
