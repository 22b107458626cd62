/**
 * Finds out which keys a stream sees for the first time.
 *
 * <p>The entry point is {@link io.firstseen.operators.dedup.Firstseen#dedup}.
 */
package io.firstseen.operators.dedup;
