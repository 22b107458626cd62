/**
 * Detects the first occurrence of each key in a stream.
 *
 * <p>The entry point is {@link io.firstseen.operators.dedup.Firstseen#dedup}.
 */
package io.firstseen.operators.dedup;
