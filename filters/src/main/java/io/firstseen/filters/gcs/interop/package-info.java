/**
 * The formats of Golomb-coded sets that other programs read and write, byte for byte. Each is a
 * {@link io.firstseen.filters.gcs.interop.SetCodec}; docs/interop.md describes the formats.
 */
package io.firstseen.filters.gcs.interop;
