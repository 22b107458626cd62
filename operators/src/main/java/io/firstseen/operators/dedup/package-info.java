/**
 * Tells a stream which keys it sees for the first time.
 *
 * <p>{@link io.firstseen.operators.dedup.Firstseen#dedup} is the way in.
 */
package io.firstseen.operators.dedup;
