package io.firstseen.jobs.shared;

import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * Where the schema of values comes from.
 *
 * @param registry the address of the registry that has it; null if there is a file
 * @param file the bytes of the file; null if there is a registry
 * @param hasHeader whether values begin with the header of the schema registries
 * @param message the full name of the message of Protocol Buffers; null for Avro
 */
// Never compared.
@SuppressWarnings("ArrayRecordComponent")
public record ValueSchema(
    @Nullable URI registry, byte @Nullable [] file, boolean hasHeader, @Nullable String message) {}
